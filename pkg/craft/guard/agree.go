package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// The longest text in which the weekday of a date is named, in bytes, and the number of letters between the two.
const (
	nearDate     = 48
	dateLetters  = 8
	bracketedDay = "日月火水木金土"
	koreanDay    = "일월화수목금토"
)

// untilText matches a word between a weekday and a date that are the two ends of a period.
var untilText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:to|till|until|through|bis|zum|jusqu|au|hasta|al|fino|até|ao|do|` +
		`до|` +
		`по|kadar|حتى|إلى|עד|तक|ถึง|đến|or|oder|and|und|и|і|и|y|et|e|i|ve)(?:[^\p{L}]|$)|まで|から|까지|부터|到|至|-|–`)
})

// bracketText matches the weekday of Japanese and Korean in brackets after a date.
var bracketDay = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s?\(([` + bracketedDay + koreanDay + `])(?:曜日?|요일)?[)・]`)
})

// disagree returns a date of an answer with the day of the week that is named beside it, if it is another one in each
// year that may be meant.
func (k *knownFacts) disagree(s *scan) (part string, ok bool) {
	for _, c := range s.claims {
		if c.kind != aDate {
			continue
		}
		day, from, to := s.dayBeside(c)
		if day < 0 || slices.ContainsFunc(c.keys, func(key string) bool { return k.fallsOn(parseDate(key), day) }) {
			continue
		}
		if d := parseDate(c.keys[0]); d.day == 0 {
			continue
		}
		return strings.Trim(strings.Join(strings.Fields(s.maskedText[from:to]), " "), " .,;:!?()"), true
	}
	return "", false
}

// dayBeside returns the day of the week that a text names beside a date, and where both are, or -1.
func (s *scan) dayBeside(c claim) (day, from, to int) {
	before := s.maskedText[max(0, c.from-nearDate):c.from]
	after := s.maskedText[c.to:min(len(s.maskedText), c.to+nearDate)]
	before, after = strings.ToValidUTF8(before, ""), strings.ToValidUTF8(after, "")
	if i := strings.LastIndexAny(before, ".!?\n।。"); i >= 0 {
		before = strings.ToValidUTF8(before[i+1:], "")
	}
	if i := strings.IndexAny(after, ".!?\n।。"); i >= 0 {
		after = after[:i]
	}
	if m := bracketDay().FindStringSubmatch(after); m != nil {
		day := max(strings.Index(bracketedDay, m[1]), strings.Index(koreanDay, m[1])) / len("日")
		return day, c.from, c.to + len(m[0])
	}
	folded := s.words.fold(before)
	if days := s.words.weekdays(folded, true); len(days) > 0 {
		d := days[len(days)-1]
		if beside(folded[d.to:]) {
			return d.day, c.from - min(c.from, len(folded)-d.from), c.to
		}
	}
	folded = s.words.fold(after)
	if days := s.words.weekdays(folded, true); len(days) > 0 && beside(folded[:days[0].from]) {
		return days[0].day, c.from, min(len(s.maskedText), c.to+days[0].to)
	}
	return -1, 0, 0
}

// beside reports whether little is between a weekday and a date, and they are not the ends of a period.
func beside(gap string) bool {
	letters := 0
	for _, r := range gap {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters <= dateLetters && !strings.ContainsAny(gap, "0123456789\x00") && !untilText().MatchString(gap)
}

// fallsOn reports whether a date falls on a day of the week in a year that may be meant: its own, that of the same date
// of an input, or this year and the next.
func (k *knownFacts) fallsOn(d date, day int) bool {
	years := []int{}
	if d.year > 0 {
		years = append(years, d.year)
	}
	if d.year > 2400 { // of the Buddhist calendar
		years = []int{d.year - 543}
	}
	if len(years) == 0 {
		for _, o := range k.dates {
			if o.year > 0 && o.month == d.month && o.day == d.day {
				years = append(years, o.year)
			}
		}
	}
	if len(years) == 0 {
		years = []int{k.now.Year(), k.now.Year() + 1}
	}
	return slices.ContainsFunc(years, func(year int) bool {
		if year > 2400 {
			year -= 543
		}
		return int(time.Date(year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday()) == day
	})
}
