package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	texts "github.com/content-automation/api/pkg/base/text"
)

// months are the names of months, with their cases and abbreviations.
var months = sync.OnceValue(func() lookup[float64] { return valuesIn("months") })

// date is a day of a year. A year, month or day that is not stated is 0.
type date struct{ year, month, day int }

func (d date) key() string { return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day) }

// same reports whether two dates agree in all that both state.
func (d date) same(o date) bool {
	return d.month == o.month && (d.day == o.day || d.day == 0) && (d.year == o.year || d.year == 0 || o.year == 0) &&
		d.month != 0
}

var (
	isoDate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d{4})-(\d\d)-(\d\d)\b`) })
	cjkDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(\d{4})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일号號]`)
	})
	vietnameseDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(\d{1,2})\s(?:tháng|tháng)\s(\d{1,2})(?:(?:\snăm\s|/|,\s)(\d{4}))?\b`)
	})
	fullDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^\d.])(\d{1,2})([./-])\s?(\d{1,2})([./-])\s?(\d{4}|\d{2})\b`)
	})
	shortDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])(?:(?:bis|am|ab|vom|zum|ngày|vào|den|dne|dňa|pe|dana|на|` +
			`la|el|στις|до|с|со|от|по|on|until|from|by|le|au|` +
			`du|el|del|al|hasta|desde|dal|fino|até|do|od)\s+(?:zum\s+)?(\d{1,2})[./](\d{1,2})\b\.?|` +
			`(\d{1,2})\.(\d{1,2})\.(?:[^\d]|$))`)
	})
	dayMonth = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(\d{1,2})(?:\.|st|nd|rd|th|er|º|-?го|-?е)?\s?(?:of\s|de\s|d'|من\s|ב)?\s?` +
			`([\p{L}\p{M}]{3,12})\.?` +
			`(?:,?\s(?:de\s|del\s|of\s)?(\d{4})\b)?`)
	})
	monthDay = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([\p{L}\p{M}]{3,12})\.?\s(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s(\d{4})\b)?`)
	})
	monthYear = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([\p{L}\p{M}]{3,12})\.?\s(?:de\s|del\s|of\s)?(\d{4})\b`)
	})
	clock = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(\d{1,2})(?:[:.](\d\d))?\s?(a\.?m\b\.?|p\.?m\b\.?|uhr\b)|` +
			`\b(\d{1,2}):(\d\d)\b|\b(\d{1,2})(?:\s?h\s?(\d\d)\b|\.(\d\d)\s?h\b)`)
	})
	yearText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:18|19|20)\d\d\b`) })
)

// monthOf returns the month that a word names. In Hebrew, the word for in is written before it.
func monthOf(word string) (month int, ok bool) {
	word = strings.ToLower(word)
	v, ok := months().of(word)
	if !ok {
		v, ok = months().of(strings.TrimPrefix(word, "ב"))
	}
	return int(v), ok
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// valid returns a date in a list, or nil if there is no such date, such as 30 February. A year of two digits is of this
// century.
func valid(year, month, day int) []date {
	if year > 0 && year < 100 {
		year += 2000
	}
	if year > 2400 {
		year -= buddhist
	}
	if month < 1 || month > 12 || day < 0 || day > 31 {
		return nil
	}
	return []date{{year, month, day}}
}

// otherMonths writes months of two words and abbreviations with points in the usual way: the Levantine names of Arabic
// and the short ones of Thai.
var otherMonths = strings.NewReplacer("كانون الأول", "ديسمبر", "كانون الاول", "ديسمبر", "كانون الثاني", "يناير",
	"تشرين الأول", "أكتوبر", "تشرين الاول", "أكتوبر", "تشرين الثاني", "نوفمبر", "شباط", "فبراير", "آذار", "مارس",
	"نيسان", "أبريل", "أيار", "مايو", "حزيران", "يونيو", "تموز", "يوليو", " آب", " أغسطس", "أيلول", "سبتمبر",
	"ม.ค.", "มกราคม", "ก.พ.", "กุมภาพันธ์", "มี.ค.", "มีนาคม", "เม.ย.", "เมษายน", "พ.ค.", "พฤษภาคม",
	"มิ.ย.", "มิถุนายน", "ก.ค.", "กรกฎาคม", "ส.ค.", "สิงหาคม", "ก.ย.", "กันยายน", "ต.ค.", "ตุลาคม",
	"พ.ย.", "พฤศจิกายน", "ธ.ค.", "ธันวาคม")

// buddhist is the number of years by which the calendar of Thailand is ahead.
const buddhist = 543

// dates takes the dates out of a text.
func (s *scan) dates() {
	if strings.Count(s.text, "-") > 1 {
		s.each(isoDate(), aDate, func(m []string) []string { return keys(valid(atoi(m[1]), atoi(m[2]), atoi(m[3]))) })
	}
	if strings.Contains(s.text, "tháng") {
		s.each(vietnameseDate(), aDate, func(m []string) []string {
			return keys(valid(atoi(m[3]), atoi(m[2]), atoi(m[1])))
		})
	}
	if strings.ContainsAny(s.text, "月월") {
		s.each(cjkDate(), aDate, func(m []string) []string { return keys(valid(atoi(m[1]), atoi(m[2]), atoi(m[3]))) })
	}
	s.each(fullDate(), aDate, func(m []string) []string {
		if m[2] != m[4] {
			return nil
		}
		a, b, year := atoi(m[1]), atoi(m[3]), atoi(m[5])
		if m[2] == "." {
			return keys(valid(year, b, a))
		}
		return keys(append(valid(year, b, a), valid(year, a, b)...))
	})
	s.each(dayMonth(), aDate, func(m []string) []string {
		month, ok := monthOf(m[2])
		if !ok {
			return nil
		}
		return keys(valid(atoi(m[3]), month, max(atoi(m[1]), 1)))
	})
	s.each(monthDay(), aDate, func(m []string) []string {
		month, ok := monthOf(m[1])
		if !ok {
			return nil
		}
		return keys(valid(atoi(m[3]), month, max(atoi(m[2]), 1)))
	})
	s.each(monthYear(), aDate, func(m []string) []string {
		month, ok := monthOf(m[1])
		if !ok {
			return nil
		}
		return keys(valid(atoi(m[2]), month, 0))
	})
	s.each(shortDate(), aDate, func(m []string) []string {
		a, b := atoi(m[1]+m[3]), atoi(m[2]+m[4])
		if strings.Contains(m[0], "/") {
			return keys(append(valid(0, b, a), valid(0, a, b)...))
		}
		return keys(valid(0, b, a))
	})
}

// times takes the times of day out of a text.
func (s *scan) times() {
	s.hourRanges()
	s.each(clock(), aTime, func(m []string) []string {
		hour, minute := atoi(m[1]+m[4]+m[6]), atoi(m[2]+m[5]+m[7]+m[8])
		switch half := strings.ToLower(m[3]); {
		case strings.HasPrefix(half, "p") && hour < 12:
			hour += 12
		case strings.HasPrefix(half, "a") && hour == 12:
			hour = 0
		}
		if hour > 24 || minute > 59 {
			return nil
		}
		return clockKeys(hour, minute, m[3] != "")
	})
	s.each(namedClock(), aTime, func(m []string) []string {
		hour, minute := atoi(m[1]+m[3]+m[6]), atoi(m[2]+m[4]+m[7])
		if m[5] != "" {
			minute = 30
		}
		if hour > 24 || minute > 59 || m[3] != "" && s.words.base != "vi" {
			return nil
		}
		return clockKeys(hour, minute, false)
	})
	for i, c := range s.claims {
		if c.kind == aTime && len(c.keys) == 2 && strings.HasPrefix(c.keys[1], "half ") {
			s.claims[i].keys = s.halfOfDay(c)
		}
	}
	if strings.ContainsAny(s.text, "時时点點시") || strings.Contains(s.text, "बजे") {
		s.easternTimes()
	}
}

// hourRanges finds ranges of hours, such as 9 to 18. Points of minutes, as also in telephone numbers, become colons. In
// an answer, hours without minutes may be anything.
func (s *scan) hourRanges() {
	opens := !s.answer && s.words.has(s.words.fold(s.maskedText), "open")
	s.text = hourRange().ReplaceAllStringFunc(s.text, func(m string) string {
		n := hourRange().FindStringSubmatch(m)
		if n[6] != "" || max(atoi(n[1]), atoi(n[3])) > 24 || max(atoi(n[2]), atoi(n[4])) > 59 {
			return m
		}
		if opens || !s.answer && n[5] != "" {
			key := func(i int) string { return fmt.Sprintf("%02d:%02d", atoi(n[i])%24, atoi(n[i+1])) }
			s.claims = append(s.claims, claim{kind: aTime, text: m, keys: []string{key(1), key(3)}})
		}
		if n[2] == "" || n[4] == "" {
			return m
		}
		return strings.ReplaceAll(m, ".", ":")
	})
}

// clockKeys returns the keys of a time of day in digits. Before noon, it may be in the other half of the day, unless
// its half is known.
func clockKeys(hour, minute int, known bool) []string {
	key := fmt.Sprintf("%02d:%02d", hour%24, minute)
	if !known && hour >= 1 && hour < 12 {
		return []string{key, "half " + key}
	}
	return []string{key}
}

var (
	// namedClock matches a time whose point is no colon, after a word for a time, and the hours of Vietnamese.
	namedClock = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:kl|klo|klokken|klockan|saat|ore|alle|pukul)\.?\s` +
			`(\d{1,2})\.(\d\d)\b|` +
			`(?:^|[^\d.,])(\d{1,2})\s?(?:giờ|h)(?:\s?(\d\d)\b(?:\sphút)?|\s(rưỡi))?\s(?:sáng|trưa|chiều|tối)` +
			`|(?:^|[^\d.,])(\d{1,2})(?::(\d\d))?\s(?:утра|вечера|ранку|вечора|rano|wieczorem|` +
			`(?:de la |da |di |del |du )(?:mañana|tarde|noche|manhã|noite|mattin[ao]|pomeriggio|sera|matin|soir)|` +
			`صباح\p{L}*|مساء\p{L}*|בבוקר|בערב)`)
	})
	// hourRange matches a range of hours, with the word for them and money after it.
	hourRange = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{Sc}\d.,:/-])(\d{1,2})(?:[:.](\d\d))?\s?(?:-|` +
			`\s(?:bis|to|tot|till|til|do|до|a|à|alle|às|sampai)\s)\s?(\d{1,2})(?:[:.](\d\d)\b|\b)` +
			`(\s?(?:uhr|uur|hodin)\b)?(\s?(?:\p{Sc}|eur|tl|kr|zł|lei|usd))?`)
	})
	// afternoon and morning match the words for the half of the day beside a time.
	afternoon = sync.OnceValue(func() *regexp.Regexp { return anyWord("afternoon") })
	morning   = sync.OnceValue(func() *regexp.Regexp { return anyWord("morning") })
)

// times are the words about times by their list, in all languages, as parts of expressions.
var times = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range rowsOf("times") {
		name, words := row[0], row[1]
		for word := range strings.SplitSeq(words, "|") {
			head, begins := strings.CutSuffix(word, "*")
			word = regexp.QuoteMeta(head)
			if begins {
				word += `\p{L}*`
			}
			all[name] = append(all[name], word)
		}
	}
	return all
})

// anyOf is the part of an expression that matches any word of a list.
func anyOf(list string) string { return "(?:" + strings.Join(times()[list], "|") + ")" }

// anyWord matches a whole word of a list. In scripts without spaces, and in Korean, other letters may be beside it.
func anyWord(list string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}])` + anyOf(list) + `(?:[^\p{L}\p{M}]|$)|` + anyOf(list+" within"))
}

// nearHalf is the longest text between a time and the word for the half of the day, in bytes.
const nearHalf = 26

// halfOfDay returns the keys of a time before noon with the half of the day that is named beside it. A time of an input
// without one may be in both halves.
func (s *scan) halfOfDay(c claim) []string {
	before, after := texts.Before(s.numberText, c.from, nearHalf), texts.After(s.numberText, c.to, nearHalf)
	if i := strings.LastIndexAny(before, "0123456789,;\n"); i >= 0 {
		before = before[i+1:]
	}
	if i := strings.IndexAny(after, "0123456789,;\n"); i >= 0 {
		after = after[:i]
	}
	late, early := c.keys[1], c.keys[0]
	// The word of another time may be before this one: 9:00 in the morning to 6:00 in the evening.
	for _, near := range []string{s.numberText[c.from:c.to], after, before} {
		switch near += " "; {
		case morning().MatchString(near):
			return []string{early}
		case afternoon().MatchString(near):
			return []string{fmt.Sprintf("%02d%s", atoi(early[:2])+12, early[2:]), late}
		}
	}
	if s.answer {
		return []string{early}
	}
	return c.keys
}

func keys(dates []date) (all []string) {
	for _, d := range dates {
		all = append(all, d.key())
	}
	return all
}

func parseDate(key string) (d date) {
	d.year, d.month, d.day = atoi(key[:4]), atoi(key[5:7]), atoi(key[8:])
	return d
}

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
	open := sync.OnceValue(func() bool { return s.words.has(s.words.fold(s.maskedText), "open") })
	s.each(easternClock(), aTime, func(m []string) []string {
		hour, minute := atoi(m[2]), atoi(m[5])
		if hour > 24 || minute > 59 || m[6] != "" {
			return nil
		}
		if s.answer && m[1] == "" && m[4] == "" && !open() {
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

// hourText matches the word or number for an hour, and the beginning of a word that is too long for one.
var hourText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\d{1,2}|[\p{L}\p{M}']{1,40})`)
})

// spokenTimes finds times of day in words, such as half past seven. In an answer, they count where people are asked to
// come: otherwise they tell a story.
func (s *scan) spokenTimes() {
	for _, sentence := range sentences(s.maskedText) {
		folded := s.words.fold(sentence)
		if s.answer && !s.words.has(folded, "open") {
			continue
		}
		for _, c := range s.words.clocks {
			if text, keys := s.words.spoken(folded, c); len(keys) > 0 {
				s.claims = append(s.claims, claim{kind: aTime, text: text, keys: keys})
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
			from = wordAt(sentence, from)
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

// longestHour is the length from which a word is none for an hour, in bytes.
const longestHour = 200

// wordAt returns where the word that ends at an offset begins.
func wordAt(text string, end int) int {
	least := max(0, end-longestHour)
	return least + 1 + strings.LastIndexFunc(text[least:end], func(r rune) bool {
		return !isLetter(r) && !unicode.IsDigit(r)
	})
}

// StatedDay is a day that a text names, with what it says of it.
type StatedDay struct {
	// Year is 0 if the text names none.
	Year, Month, Day int
	// At is the time of day, such as 10:00, or empty.
	At string
	// Ends reports that it is the last day of some days, and Begins that it is the first.
	Begins, Ends bool
	// Sentence is the sentence that names it.
	Sentence string
}

// span is a date with its place in a sentence.
type span struct {
	from, to int
	dates    []date
}

var (
	// before matches a day before another one of the same month, such as 24 and in "24 and 25 December".
	before = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d{1,2})(?:\.|st|nd|rd|th|er|º)?\s?([^\d.!?;]{1,12}?|[.,]?\s?[–—-]\s?)\s?$`)
	})
	// after matches the last day of some days of a month in scripts that name the month first.
	after = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s?([〜～~–—-]|から|부터|至|到|、|和|と)\s?(\d{1,2})\s?[日일号號]`)
	})
	// until matches what stands between the first and the last day of some days.
	until = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[\s,.]*(?:(?:to|until|till|through|bis(?:\szum)?|au|jusqu['’]au|al|a|à|ao|` +
			`até|hasta(?:\sel)?|fino\sal|do|до|по|tot|t/m|đến|ถึง|से|तक|إلى|حتى|עד|〜|～|~|から|부터|至|到)(?:\s\p{L}+)?|` +
			`[–—-])[\s,.]*$`)
	})
	joins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[\s,]*(?:and|und|et|y|e|i|oraz|и|та|й|ve|en|og|och|&|,|و|और|และ|và)[\s,]*$`)
	})
)

// DaysIn returns the days that a text names, in the order in which it names them. A day that can be read in two ways,
// such as 3/4, is there twice.
func DaysIn(text, language string) (all []StatedDay) {
	for _, sentence := range Sentences(text) {
		spans := spansOf(sentence)
		for i, s := range spans {
			begins, ends := false, false
			if i > 0 {
				ends = until().MatchString(sentence[spans[i-1].to:s.from])
			}
			if i+1 < len(spans) {
				begins = until().MatchString(sentence[s.to:spans[i+1].from])
			}
			last := len(sentence)
			if i+1 < len(spans) {
				last = spans[i+1].from
			}
			at := timeIn(sentence[s.to:last], language)
			if at == "" && i == 0 {
				at = timeIn(sentence[:s.from], language)
			}
			for _, d := range s.dates {
				all = append(all, StatedDay{Year: d.year, Month: d.month, Day: d.day, At: at, Begins: begins,
					Ends: ends, Sentence: sentence})
			}
		}
	}
	return all
}

// timeIn returns the first time of day of a text.
func timeIn(text, language string) string {
	for _, c := range claimsOf(text, language, false) {
		if c.kind == aTime && len(c.keys) > 0 {
			return c.keys[0]
		}
	}
	return ""
}

// longestLink is the length of the longest text that before matches, in bytes.
const longestLink = 64

// spansOf returns the dates of a sentence with their places.
func spansOf(sentence string) (all []span) {
	taken := make([]bool, len(sentence))
	take := func(from, to int, dates []date) {
		dates = slices.DeleteFunc(dates, func(d date) bool { return d.day == 0 })
		if len(dates) > 0 && !slices.Contains(taken[from:to], true) {
			all = append(all, span{from, to, dates})
			for i := from; i < to; i++ {
				taken[i] = true
			}
		}
	}
	each := func(expression *regexp.Regexp, dates func(m []string) []date) {
		for _, at := range expression.FindAllStringSubmatchIndex(sentence, -1) {
			m := make([]string, len(at)/2)
			for i := range m {
				if at[2*i] >= 0 {
					m[i] = sentence[at[2*i]:at[2*i+1]]
				}
			}
			take(at[0], at[1], dates(m))
		}
	}
	each(isoDate(), func(m []string) []date { return valid(atoi(m[1]), atoi(m[2]), atoi(m[3])) })
	each(cjkDate(), func(m []string) []date { return valid(atoi(m[1]), atoi(m[2]), atoi(m[3])) })
	each(fullDate(), func(m []string) []date {
		if m[2] == "." || m[2] != m[4] {
			return valid(atoi(m[5]), atoi(m[3]), atoi(m[1]))
		}
		return append(valid(atoi(m[5]), atoi(m[3]), atoi(m[1])), valid(atoi(m[5]), atoi(m[1]), atoi(m[3]))...)
	})
	named := func(day, month, year string) []date {
		number, ok := monthOf(month)
		if !ok {
			return nil
		}
		return valid(atoi(year), number, atoi(day))
	}
	each(dayMonth(), func(m []string) []date { return named(m[1], m[2], m[3]) })
	each(monthDay(), func(m []string) []date { return named(m[2], m[1], m[3]) })
	each(thangDate(), func(m []string) []date { return valid(atoi(m[3]), atoi(m[2]), atoi(m[1])) })
	each(shortDate(), func(m []string) []date {
		a, b := atoi(m[1]+m[3]), atoi(m[2]+m[4])
		if strings.Contains(m[0], "/") {
			return append(valid(0, b, a), valid(0, a, b)...)
		}
		return valid(0, b, a)
	})
	for _, s := range slices.Clone(all) {
		least := max(0, s.from-longestLink)
		if m := before().FindStringSubmatchIndex(sentence[least:s.from]); m != nil && s.dates[0].day > 0 {
			link := sentence[least+m[4] : least+m[5]]
			if n := atoi(sentence[least+m[2] : least+m[3]]); n > 0 && n < s.dates[0].day &&
				(joins().MatchString(" "+link+" ") || until().MatchString(" "+link+" ")) {
				take(least+m[2], least+m[3], valid(s.dates[0].year, s.dates[0].month, n))
			}
		}
		if m := after().FindStringSubmatchIndex(sentence[s.to:]); m != nil {
			take(s.to+m[4], s.to+m[1], valid(s.dates[0].year, s.dates[0].month, atoi(sentence[s.to+m[4]:s.to+m[5]])))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.from - b.from })
	return all
}

// thangDate matches a date in Vietnamese, such as 12 tháng 12.
var thangDate = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\d{1,2})\s?tháng\s?(\d{1,2})(?:\s?(?:năm|/)\s?(\d{4}))?\b`)
})

// Sentences divides a text at the ends of sentences and lines. The point of an ordinal or of an abbreviation before a
// number ends none.
func Sentences(text string) (all []string) {
	var b strings.Builder
	end := func() {
		if s := strings.Trim(b.String(), " \t.;"); s != "" {
			all = append(all, s)
		}
		b.Reset()
	}
	last := ' '
	for i, r := range text {
		switch {
		case strings.ContainsRune("\n!?。！？；;", r):
			end()
		case r == '.' && unicode.IsLetter(last) && endsSentence(text[i+1:]):
			end()
		default:
			b.WriteRune(r)
		}
		last = r
	}
	end()
	return all
}

// endsSentence reports whether a point before a text ends a sentence.
func endsSentence(rest string) bool {
	trimmed := strings.TrimLeft(rest, " \t\"»”)")
	if trimmed == "" {
		return true
	}
	first, _ := utf8.DecodeRuneInString(trimmed)
	return len(trimmed) < len(rest) && !unicode.IsDigit(first) && !unicode.IsLower(first)
}
