package guard

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// easternClock matches a time of day whose sign is after the hour, with the part of the day.
var easternClock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(午前|上午|早上|早晨|凌晨|朝|오전|아침|सुबह|午後|下午|晚上|傍晚|夜里|夜|오후|저녁|밤|शाम|रात|दोपहर)?\s?` +
		`(\d{1,2})\s?(時|时|点|點|시|बजे)(?:\s?(半|반)|\s?(\d{1,2})\s?(?:分|분))?(間|间)?`)
})

// later are the parts of the day after noon.
const later = "午後 下午 晚上 傍晚 夜里 夜 오후 저녁 밤 शाम रात दोपहर"

// easternTimes takes the times of day out of a text in Chinese, Japanese, Korean or Hindi. In an answer, the sign may
// count something else: there must be a part of the day, or people must be asked to come.
func (s *scan) easternTimes() {
	s.each(easternClock(), aTime, func(m []string) []string {
		hour, minute := atoi(m[2]), atoi(m[5])
		if hour > 24 || minute > 59 || m[6] != "" {
			return nil
		}
		if s.answer && m[1] == "" && m[4] == "" && !s.words.has(s.words.fold(s.shown), "open") {
			return nil
		}
		if m[4] != "" {
			minute = 30
		}
		switch {
		case m[1] == "":
			return halves(hour, minute, hour > 12)
		case strings.Contains(later, m[1]) && hour < 12:
			hour += 12
		}
		return halves(hour, minute, true)
	})
}

// halves returns the keys of a time of day, which may be in both halves of the day unless it is known.
func halves(hour, minute int, known bool) []string {
	all := []string{fmt.Sprintf("%02d:%02d", hour%24, minute)}
	if !known {
		all = append(all, fmt.Sprintf("%02d:%02d", (hour+12)%24, minute))
	}
	return all
}

// hourText matches the word or number for an hour.
var hourText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\d{1,2}|[\p{L}\p{M}']+)`) })

// spokenTimes finds times of day in words, such as half past seven. In an answer, they count where people are asked to
// come: otherwise they tell a story.
func (s *scan) spokenTimes() {
	for _, sentence := range sentences(s.shown) {
		folded := s.words.fold(sentence)
		if s.answer && !s.words.has(folded, "open") {
			continue
		}
		for _, c := range s.words.clocks {
			if text, keys := s.words.spoken(folded, c); len(keys) > 0 {
				s.found = append(s.found, claim{kind: aTime, text: text, keys: keys})
				break
			}
		}
	}
}

// spoken returns the time of day that a sentence has in one form, and its text.
func (l *lexicon) spoken(sentence string, c clockForm) (text string, keys []string) {
	words := hourText()
	for at := 0; at < len(sentence); {
		from := at
		if c.before != "" {
			i := strings.Index(sentence[at:], c.before)
			if i < 0 {
				return "", nil
			}
			from = at + i + len(c.before)
			at = from
		} else {
			i := strings.Index(sentence[at:], c.after)
			if i <= 0 {
				return "", nil
			}
			from, at = at+i, at+i+len(c.after)
			from = strings.LastIndexFunc(sentence[:from], func(r rune) bool {
				return !isLetter(r) && !unicode.IsDigit(r)
			}) + 1
		}
		word := words.FindString(sentence[from:])
		hour, ok := l.value(word)
		if word != "" && word[0] <= '9' {
			hour, ok = float64(atoi(word)), true
		}
		if end := from + len(word); !ok || hour > 24 || !strings.HasPrefix(sentence[end:], c.after) {
			continue
		}
		minutes := (int(hour)*60 + c.minutes + 24*60) % (24 * 60)
		return strings.TrimSpace(c.before + word + c.after), halves(minutes/60, minutes%60, hour > 12)
	}
	return "", nil
}
