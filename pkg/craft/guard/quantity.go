package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var (
	figureText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(figure) })
	// between matches what stands between the two numbers of a range.
	between = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:\s?-\s?|\s(?:to|bis|a|à|до|hasta|et|und|and|y|e|и|or|oder|ou|o|или)\s)$`)
	})
	wordText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{L}+(?:-\p{L}+)*`) })
	// nextText matches the word after a number.
	nextText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\+?[ \n-]?((?:°|%|‰|[\p{L}\p{M}]+(?:[²³2]|/[\p{L}]+|\.\p{L}+)?)°?[CFcf]?\b?)`)
	})
	// laterText matches the words after that.
	laterText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.?(?:[ \n](?:d')?([\p{L}\p{M}]+|%)| ?(\p{Sc}))`) })
)

// amount is a number with what follows it.
type amount struct {
	from, to int
	values   []float64
	kind     kind
	unit     string
	factor   float64
	end      int // of the unit
	ok       bool
}

// quantities takes the percentages and the quantities with a unit out of the text.
func (s *scan) quantities() {
	var all []amount
	for _, at := range figureText().FindAllStringIndex(s.text, -1) {
		if before, _ := utf8.DecodeLastRuneInString(s.text[:at[0]]); unicode.IsLetter(before) || before == '#' {
			continue // a part of a name such as X5
		}
		all = append(all, s.amount(at[0], at[1]))
	}
	for i := len(all) - 2; i >= 0; i-- {
		a, next := &all[i], all[i+1]
		if !a.ok && next.ok && between().MatchString(s.text[a.to:next.from]) {
			a.kind, a.unit, a.factor, a.end, a.ok = next.kind, next.unit, next.factor, next.end, true
		}
	}
	for _, a := range all {
		if !a.ok {
			continue
		}
		var keys []string
		for _, v := range a.values {
			if s.answer && a.unit == "people" && v < fewPeople {
				continue
			}
			if a.kind == aPrice {
				keys = append(keys, priceKeys(v*a.factor, a.unit)...)
				continue
			}
			keys = append(keys, fmt.Sprintf("%s %.6g", a.unit, v*a.factor))
		}
		if len(keys) > 0 {
			text := s.shown[a.from:a.end]
			s.take(a.from, a.to, a.kind, keys)
			s.found[len(s.found)-1].text = strings.Join(strings.Fields(text), " ")
		}
	}
}

// amount reads the unit after a number.
func (s *scan) amount(from, to int) amount {
	a := amount{from: from, to: to, values: valuesOf(s.text[from:to]), factor: 1, end: to}
	rest, at := s.text[to:], to
	word := func(expression *regexp.Regexp) string {
		m := expression.FindStringSubmatchIndex(rest)
		if m == nil {
			return ""
		}
		end := m[len(m)-1]
		if end < 0 {
			end = m[3]
		}
		found := strings.TrimSpace(rest[max(m[2], m[len(m)-2]):end])
		at, rest = at+end, rest[end:]
		return found
	}
	first := word(nextText())
	lower := strings.ToLower(first)
	if times, ok := magnitudes().of(lower); ok && !isUnitAlone(first, rest) {
		a.factor = times
		first = word(laterText())
		if lower = strings.ToLower(first); slices.Contains([]string{"de", "of", "di", "d"}, lower) {
			first = word(laterText())
			lower = strings.ToLower(first)
		}
		if currency(lower) {
			a.kind, a.unit, a.end, a.ok = aPrice, first, at, true
			return a
		}
	}
	end := at
	switch second := strings.ToLower(word(laterText())); {
	case first == "":
	case first == "%" || first == "‰", isIn(percents(), lower):
		a.kind, a.unit, a.end, a.ok = aPercentage, "%", end, true
	case slices.Contains([]string{"por", "per", "pour", "pro"}, lower) && (strings.HasPrefix(second, "cent") ||
		strings.HasPrefix(second, "cient")):
		a.kind, a.unit, a.end, a.ok = aPercentage, "%", at, true
	default:
		m, ok := unitOf(first)
		if m2, counts := unitOf(second); !ok && counts && m2.counted() {
			m, ok, end = m2, true, at
		}
		if ok {
			a.kind, a.unit, a.end, a.ok, a.factor = aQuantity, m.of, end, true, a.factor*m.factor
		}
	}
	return a
}

// isUnitAlone reports whether m or k after a number is a unit, not a magnitude: nothing is counted after it.
func isUnitAlone(word, rest string) bool {
	if word != "m" && word != "M" && word != "k" && word != "mil" {
		return false
	}
	m := laterText().FindStringSubmatch(rest)
	if m == nil {
		return true
	}
	_, counted := unitOf(m[1])
	return !counted && !currency(strings.ToLower(m[1])) && word == "m"
}

func isIn(l lookup[bool], word string) bool {
	_, ok := l.of(word)
	return ok
}

// currencies are words for money after a magnitude, which package money does not read.
var currencies = sync.OnceValue(func() lookup[bool] {
	return table[bool]{true: "euro* dollar* dólar* доллар* рубл* руб евро pound* pfund* libra* franc* franken złot* eur" +
		" usd gbp € $ £ ₽ ₴ zł"}.index()
})

func currency(word string) bool { return isIn(currencies(), word) }

// fewInWords is the number below which a quantity in words is a manner of speech, such as two minutes.
const fewInWords = 20

// inDigits writes the numbers in words before a unit, a percentage or money in digits. Small quantities of an answer
// stay: they are a manner of speech.
func inDigits(text string, answer bool) string {
	var b strings.Builder
	from := 0
	all := wordText().FindAllStringIndex(text, -1)
	for i, at := range all[:max(len(all)-1, 0)] {
		v, ok := numerals().of(strings.ToLower(text[at[0]:at[1]]))
		if !ok || i > 0 && from == all[i-1][1] { // or the second part of a number
			continue
		}
		next := strings.ToLower(text[all[i+1][0]:all[i+1][1]])
		least := float64(fewInWords)
		if times, big := magnitudes().of(next); big && i+2 < len(all) {
			next = strings.ToLower(text[all[i+2][0]:all[i+2][1]])
			least /= times
		}
		_, unit := unitOf(next)
		part := isIn(percents(), next) || currency(next) || slices.Contains([]string{"por", "per", "pour"}, next) &&
			strings.Contains(strings.ToLower(text[all[i+1][1]:min(len(text), all[i+1][1]+6)]), "c")
		if gap := text[at[1]:all[i+1][0]]; strings.Trim(gap, " -") != "" || !part && (!unit || answer && v < least) {
			continue
		}
		b.WriteString(text[from:at[0]] + fmt.Sprintf("%g", v))
		from = at[1]
	}
	return b.String() + text[from:]
}
