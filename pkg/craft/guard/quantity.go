package guard

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/money"
)

var (
	figureText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(figure) })
	// between matches what stands between the two numbers of a range.
	between = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:\s?-\s?|\s(?:to|bis|a|à|до|hasta|et|und|and|y|e|и|or|oder|ou|o|или)\s)$`)
	})
	// wordText matches a word. An apostrophe is a letter in Ukrainian.
	wordText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\p{L}\p{M}]+(?:'[яєюїЯЄЮЇ]\p{L}*)?`)
	})
	// nextText matches the word after a number.
	nextText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\+?[ \n-]?((?:°|%|‰|[\p{L}\p{M}]+(?:[²³2]|/[\p{L}]+|\.\p{L}+)?)°?[CFcf]?\b?)`)
	})
	// laterText matches the words after that.
	laterText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\.?(?:[ \n](?:d')?([\p{L}\p{M}]+|%)| ?(\p{Sc}))`)
	})
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
		before, _ := utf8.DecodeLastRuneInString(s.text[:at[0]])
		if before == '#' || unicode.In(before, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
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
			// A year of the calendar has the sign for years after it: 2026年.
			if a.unit == "time" && a.factor == year && v >= 1800 && v <= 2100 {
				continue
			}
			keys = append(keys, s.inContext(a, fmt.Sprintf("%s %.6g", a.unit, v*a.factor))...)
		}
		if len(keys) > 0 {
			text := s.shown[a.from:a.end]
			s.take(a.from, a.to, a.kind, keys)
			s.found[len(s.found)-1].text = strings.Join(strings.Fields(text), " ")
		}
	}
}

// farWords is the number of words after a number within which those that are counted may follow.
const farWords = 5

// audience are the words for people whose number says how popular something is, as in "10,000 customers".
var audience = []string{"customers", "users", "followers", "students", "members"}

// year is the length of a year in seconds.
const year = 31557600

// inContext returns the keys of a quantity in its sentence: of a warranty, of a part of all people, or of anything
// else, such as a reduction of a price.
func (s *scan) inContext(a amount, key string) []string {
	if a.unit != "time" && a.kind != aPercentage {
		return []string{key}
	}
	sentence := s.words.fold(strings.ReplaceAll(sentenceAt(s.shown, a.from), "\x00", " "))
	special := ""
	switch {
	case a.unit == "time" && s.words.has(sentence, "warranty"):
		special = "warranty " + key
	case a.kind == aPercentage && s.words.has(sentence, "share") && !s.words.deal(sentence):
		special = "share " + key
	case a.kind == aPercentage && !s.answer && !s.words.deal(sentence) && !lexiconOf("en").deal(sentence):
		return []string{key, "share " + key} // an input may say it in another language
	}
	switch {
	case special == "":
		return []string{key}
	case s.answer:
		return []string{special}
	}
	return []string{key, special}
}

// deal reports whether a sentence speaks of a lower price.
func (l *lexicon) deal(sentence string) bool {
	for _, p := range l.patterns["deal"] {
		for _, one := range p[0] {
			if isIn(percents(), one.text) {
				continue
			}
			if _, _, ok := l.find(sentence, one); ok {
				return true
			}
		}
	}
	return false
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
		for range farWords - 2 {
			if next := word(laterText()); !ok && next != "" {
				if m2, counts := unitOf(next); counts && slices.Contains(audience, m2.of) {
					m, ok, end = m2, true, at
				}
			}
		}
		if pounds := first == "pounds" && s.words.base == "en" && second != "of"; !ok && pounds {
			a.kind, a.unit, a.end, a.ok = aPrice, "GBP", end, true
			return a
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
	return table[bool]{true: "euro* dollar* dólar* доллар* рубл* руб евро pound* pfund* libra* franc* franken złot* " +
		"eur usd gbp € $ £ ₽ ₴ zł"}.index()
})

func currency(word string) bool { return isIn(currencies(), word) }

// fewInWords is the number below which a quantity in words is a manner of speech, such as two minutes.
const fewInWords = 20

// inDigits writes the numbers in words before a unit, a percentage, a month or money in digits. Small quantities of an
// answer stay: they are a manner of speech, unless a warranty is for them.
func inDigits(text string, answer bool, l *lexicon) string {
	text = l.eastern(text, answer)
	var b strings.Builder
	from := 0
	all := wordText().FindAllStringIndex(text, -1)
	for i := 0; i < len(all)-1; i++ {
		v, n := l.number(text, all, i, !answer)
		if n == 0 || i+n >= len(all) {
			continue
		}
		// The second part of a word is no number of its own, and a magnitude has its number before it.
		if i > 0 && text[all[i-1][1]:all[i][0]] == "-" && n == 1 || v >= 1000 && afterDigits(text[:all[i][0]]) {
			continue
		}
		if l.counts(text, all, i, n, v, answer) {
			b.WriteString(text[from:all[i][0]] + strconv.FormatFloat(v, 'f', -1, 64))
			from = all[i+n-1][1]
		}
		i += n - 1
	}
	text = b.String() + text[from:]
	if l.base == "tr" {
		text = percentBefore().ReplaceAllString(text, "$1%")
	}
	return text
}

// afterDigits reports whether a text ends with a number in digits.
func afterDigits(text string) bool {
	text = strings.TrimRight(text, " ")
	return text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}

// counts reports whether the n number words at word i state a quantity, and are not a manner of speech.
func (l *lexicon) counts(text string, all [][]int, i, n int, v float64, answer bool) bool {
	word := func(k int) string {
		if k >= len(all) {
			return ""
		}
		return strings.ToLower(text[all[k][0]:all[k][1]])
	}
	next, gap := word(i+n), strings.Trim(text[all[i+n-1][1]:all[i+n][0]], " -")
	if month, of := next, slices.Contains(monthParticles, next); v <= 31 && v == math.Trunc(v) && gap == "" {
		if of {
			month = word(i + n + 1)
		}
		_, ok := monthOf(month)
		if first := word(i); ok && (of || len(month) > 3) && !articles[first] && (of || l.base != "en") {
			return true
		}
	}
	if n == 1 && articles[word(i)] && !l.has(l.fold(sentenceAt(text, all[i][0])), "warranty") {
		return false
	}
	least := float64(fewInWords)
	if times, big := magnitudes().of(next); big && i+n+1 < len(all) {
		next = word(i + n + 1)
		least /= times
	}
	_, unit := unitOf(next)
	for k := i + n + 1; !unit && v >= least && k < min(len(all), i+n+farWords); k++ {
		if strings.Trim(text[all[k-1][1]:all[k][0]], " ") != "" {
			break
		}
		m, ok := unitOf(word(k))
		unit = ok && (slices.Contains(audience, m.of) || m.counted() && k == i+n+1)
	}
	if i > 0 && word(i-1) == "yüzde" {
		return true
	}
	money := currency(next) || next != "" && gap == "" && v > 1 && len(money.In("5 "+next)) > 0 &&
		!l.isTurkishSpoon(next)
	part := isIn(percents(), next) || money || slices.Contains([]string{"por", "per", "pour"}, next) &&
		strings.Contains(strings.ToLower(text[all[i+n][1]:min(len(text), all[i+n][1]+6)]), "c")
	if gap != "" || !part && !unit {
		return false
	}
	return part || !answer || v >= least || l.has(l.fold(sentenceAt(text, all[i][0])), "warranty")
}

// isTurkishSpoon reports whether a word is tl in a language whose word for a spoon it is.
func (l *lexicon) isTurkishSpoon(word string) bool { return word == "tl" && l.base != "tr" }

// articles are the words for one that are articles as well.
var articles = map[string]bool{"a": true, "one": true, "ein": true, "eine": true, "einen": true, "einem": true,
	"einer": true, "un": true, "una": true, "une": true, "uno": true, "um": true, "uma": true, "bir": true, "एक": true}

// monthParticles may stand between a day and its month.
var monthParticles = []string{"of", "de", "من", "del", "di"}

// sentenceAt returns the sentence at an offset of a text.
func sentenceAt(text string, at int) string {
	end := 0
	for _, s := range sentences(text) {
		if end += len(s); end > at {
			return s
		}
	}
	return text
}
