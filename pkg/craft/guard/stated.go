package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

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
			`até|` +
			`hasta(?:\sel)?|fino\sal|do|до|по|tot|t/m|đến|ถึง|से|तक|إلى|حتى|עד|〜|～|~|から|부터|至|到)(?:\s\p{L}+)?|` +
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

// spansOf returns the dates of a sentence with their places.
func spansOf(sentence string) (all []span) {
	take := func(from, to int, dates []date) {
		dates = slices.DeleteFunc(dates, func(d date) bool { return d.day == 0 })
		overlaps := slices.ContainsFunc(all, func(s span) bool { return from < s.to && s.from < to })
		if len(dates) > 0 && !overlaps {
			all = append(all, span{from, to, dates})
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
		if m := before().FindStringSubmatchIndex(sentence[:s.from]); m != nil && s.dates[0].day > 0 {
			link := sentence[m[4]:m[5]]
			if n := atoi(sentence[m[2]:m[3]]); n > 0 && n < s.dates[0].day &&
				(joins().MatchString(" "+link+" ") || until().MatchString(" "+link+" ")) {
				take(m[2], m[3], valid(s.dates[0].year, s.dates[0].month, n))
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
