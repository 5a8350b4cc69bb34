package guard

import (
	"cmp"
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
	texts "github.com/content-automation/api/pkg/base/text"
)

var (
	figureText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(figure) })
	// between matches what stands between the two numbers of a range.
	between = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:\s?-\s?|\s(?:to|bis|a|à|до|hasta|et|und|and|y|e|и|or|oder|ou|o|или)\s)$`)
	})
	// wordText matches a word, and firstWord one that begins a text.
	wordText  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(word) })
	firstWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + word) })
	// nextText matches the word after a number.
	nextText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\+?[ \n-]?((?:°|%|‰|(?:[\p{Latin}]+|[\p{L}\p{M}]+)` +
			`(?:[²³2]|/[\p{L}]+|\.\p{L}+)?)°?[CFcf]?\b?)`)
	})
	// laterText matches the words after that.
	laterText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\.?(?:[ \n](?:d')?([\p{L}\p{M}]+|%)| ?(\p{Sc}))`)
	})
)

// word matches a word. An apostrophe is a letter in Ukrainian.
const word = `[\p{L}\p{M}]+(?:'[яєюїЯЄЮЇ]\p{L}*)?`

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
	defer s.blank()
	context := newContext(s.words, strings.ReplaceAll(s.maskedText, "\x00", " "))
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
			if a.unit == "fahrenheit" {
				keys = append(keys, about(fmt.Sprintf("temperature %.6g", (v-32)/1.8)))
				continue
			}
			key := fmt.Sprintf("%s %.6g", a.unit, v*a.factor)
			keys = append(keys, s.inContext(context, a, key)...)
			if slices.Contains(imperial, a.factor) && physical[a.unit] {
				keys = append(keys, about(key))
			}
			if word := s.text[a.to:a.end]; kilos().MatchString(word) {
				keys = append(keys, fmt.Sprintf("length %.6g", v*a.factor))
			}
		}
		if len(keys) > 0 {
			text := s.maskedText[a.from:a.end]
			s.take(a.from, a.to, a.kind, keys)
			s.claims[len(s.claims)-1].text = strings.Join(strings.Fields(text), " ")
		}
	}
}

// kilos matches the short word that stands for kilograms and for kilometres.
var kilos = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s?(?:キロ|킬로)(?:[^\p{Katakana}그미]|$)`)
})

// imperial are the factors of the units that are converted with a rounding: pounds, ounces, inches, feet, miles,
// gallons and miles an hour.
var imperial = []float64{453.592, 28.3495, .0254, .3048, 1609, 3.78, 1.609}

// about returns the key of a quantity that stands for those near it.
func about(key string) string { return "about " + key }

// stated is a quantity of an input. If it is near, it stands for those near it, too.
type stated struct {
	value float64
	near  bool
}

// measured returns what a key of a quantity measures, and its value.
func measured(key string) (of string, s stated, ok bool) {
	plain, near := strings.CutPrefix(key, "about ")
	at := strings.LastIndexByte(plain, ' ')
	v, err := strconv.ParseFloat(plain[at+1:], 64)
	return plain[:max(at, 0)], stated{v, near}, at > 0 && err == nil
}

// state notes a quantity of an input.
func (k *knownFacts) state(key string) {
	if of, s, ok := measured(key); ok {
		k.quantities[of] = append(k.quantities[of], s)
	}
}

// rounding is the part by which a conversion between systems of units may differ from the quantity of an input, and
// roundedDegrees the degrees.
const (
	rounding       = .02
	roundedDegrees = 1.5
)

// converts reports whether a quantity of an answer is one of the inputs in another system of units: one of both keys
// stands for those near it.
func (k *knownFacts) converts(key string) bool {
	of, s, ok := measured(key)
	return ok && slices.ContainsFunc(k.quantities[of], func(other stated) bool {
		d := math.Abs(s.value - other.value)
		return (s.near || other.near) && (of == "temperature" && d <= roundedDegrees || of != "temperature" &&
			d <= rounding*math.Abs(other.value))
	})
}

// farWords is the number of words after a number within which those that are counted may follow.
const farWords = 5

// audience are the words for people whose number says how popular something is, as in "10,000 customers".
var audience = []string{"customers", "users", "followers", "students", "members"}

// year is the length of a year in seconds.
const year = 31557600

// inContext returns the keys of a quantity in its sentence: of a warranty, of a part of all people, or of anything
// else, such as a reduction of a price.
func (s *scan) inContext(context *context, a amount, key string) []string {
	if a.unit != "time" && a.kind != aPercentage {
		return []string{key}
	}
	special := ""
	switch {
	case a.unit == "time" && (s.answer && s.words.warrants(s.maskedText, a) || !s.answer &&
		context.has(a.from, "warranty")):
		special = "warranty " + key
	case a.kind == aPercentage && context.has(a.from, "share") && !context.deal(a.from):
		special = "share " + key
	case a.kind == aPercentage && !s.answer && !context.deal(a.from) && !context.englishDeal(a.from):
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

// nearWarranty is the longest text between a period and the word for the warranty, in bytes.
const nearWarranty = 36

// warrants reports whether a period of an answer is that of a warranty: the word for it is near in the same clause.
func (l *lexicon) warrants(text string, a amount) bool {
	const ends = ",;.!?\n，；、،。"
	before, after := texts.Before(text, a.from, nearWarranty), texts.After(text, a.end, nearWarranty)
	if i := strings.LastIndexAny(before, ends); i >= 0 {
		before = before[i:]
	}
	if i := strings.IndexAny(after, ends); i >= 0 {
		after = after[:i]
	}
	after, _, _ = strings.Cut(after, "\x00")
	if i := strings.LastIndexAny(before, "0123456789"); i >= 0 && l.has(l.fold(before[:i]), "warranty") {
		before = before[i:] // it is that of another period
	}
	if i := strings.LastIndexAny(before, "0123456789"); i >= 0 {
		before = before[i:]
		if l.has(l.fold(before), "warranty") && !l.has(l.fold(after), "warranty") {
			return false
		}
	}
	return l.has(l.fold(before), "warranty") || l.has(l.fold(text[a.from:a.end]+after), "warranty")
}

// deal reports whether a sentence speaks of a lower price.
func (l *lexicon) deal(sentence string) bool {
	for _, p := range l.patterns["deal"] {
		for _, one := range p[0].phrases {
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

// reach is the length of the text after a number in which its unit is looked for, in bytes.
const reach = 400

// ahead returns the text after an offset.
func ahead(text string, at int) string { return texts.After(text, at, reach) }

// amount reads the unit after a number.
func (s *scan) amount(from, to int) amount {
	a := amount{from: from, to: to, values: valuesOf(s.text[from:to]), factor: 1, end: to}
	rest, at := ahead(s.text, to), to
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
		ok = ok && (lower != "ay" || listed(s.words.base) != "tl") // the month of Turkish is no word of Filipino
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
	return table[bool]{true: "euro* dollar* dólar* доллар* рубл* руб евро pound* pfund* libra* franc* franken " +
		"złot* eur usd gbp € $ £ ₽ ₴ zł"}.index()
})

func currency(word string) bool { return isIn(currencies(), word) }

// fewInWords is the number below which a quantity in words is a manner of speech, such as two minutes.
const fewInWords = 20

// inDigits writes the numbers in words before a unit, a percentage, a month or money in digits. Small quantities of an
// answer stay: they are a manner of speech, unless a warranty is for them.
func inDigits(text string, answer bool, l *lexicon) string {
	text = l.eastern(text, answer)
	text = spelledParts(text, answer, l)
	var b strings.Builder
	from := 0
	context := newContext(l, text)
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
		if l.counts(text, context, all, i, n, v, answer) {
			b.WriteString(text[from:all[i][0]] + strconv.FormatFloat(v, 'f', -1, 64))
			from = all[i+n-1][1]
		}
		i += n - 1
	}
	text = l.cents(b.String() + text[from:])
	if l.base == "tr" {
		text = percentBefore().ReplaceAllString(text, "$1$2%")
	}
	return text
}

var (
	// halfText matches a half before a unit.
	halfText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:half an?|halbe[rsn]?|demi|medi[oa]|mezz[oa]|mei[oa]|halve|halv|pół|` +
			`yarım|आधा|आधी|nửa|` +
			`ครึ่ง|半|نصف)([ -]?)([\p{L}\p{M}]+)`)
	})
	// quarterText matches the numbers of Hindi that add or take a part of what follows.
	quarterText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(सवा|डेढ़|डेढ़|ढाई)( (?:लाख|करोड़|करोड़|हज़ार|हज़ार|हजार))`)
	})
	// turkishPercent matches a percentage in words, which may have an ending.
	turkishPercent = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)yüzde (\p{L}+)(?: (\p{L}+))?`)
	})
	// thousandDong matches a price in thousands of dong, such as 90k.
	thousandDong = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(\d{2,})k(\s?(?:/|một|mỗi|cho|thôi|nhé|nha|là|đã|cả|[.,!?\n)]|$))`)
	})
	// dashPrice matches a whole price of Swedish, such as 199:-
	dashPrice = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d):-`) })
	// smallCoins matches the hundredths of a price that have their own word.
	smallCoins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\d+) (euros?|reais|real|dollars?|dólares|pesos|pounds|soles|рубл\p{L}*|` +
			`гривн\p{L}*|złot\p{L}*|zł|lei|korun\p{L}*|франк\p{L}*|francs?|franken) (?:and |e |y |et |und |и |i |` +
			`și )?(\d{1,2}) ?(?:cent\p{L}*|cént\p{L}*|копе\p{L}*|копі\p{L}*|gros\p{L}*|pence|rappen|bani|haléř\p{L}*)`)
	})
)

// spelledParts writes halves of units, prices in two parts and numbers with their endings in the usual way.
func spelledParts(text string, answer bool, l *lexicon) string {
	if !answer {
		text = halfText().ReplaceAllStringFunc(text, func(m string) string {
			n := halfText().FindStringSubmatch(m)
			if unit, ok := unitOf(n[2]); ok && physical[unit.of] {
				return "0.5 " + n[2]
			}
			return m
		})
	}
	switch l.base {
	case "hi":
		text = quarterText().ReplaceAllStringFunc(text, func(m string) string {
			n := quarterText().FindStringSubmatch(m)
			v := map[string]string{"सवा": "1.25", "ढाई": "2.5"}[n[1]]
			return cmp.Or(v, "1.5") + n[2]
		})
	case "tr":
		text = turkishPercent().ReplaceAllStringFunc(text, func(m string) string {
			n := turkishPercent().FindStringSubmatch(m)
			for i := len(n) - 1; i > 0; i-- {
				if stem, ok := l.numberStem(n[i]); ok {
					return strings.Replace(m, n[i], stem, 1)
				}
			}
			return m
		})
	case "vi":
		text = thousandDong().ReplaceAllString(text, "${1}.000 ₫$2")
	}
	if strings.Contains(text, ":-") {
		text = dashPrice().ReplaceAllString(text, "$1 kr")
	}
	return smallCoins().ReplaceAllString(text, "$1.$3 $2")
}

// numberStem returns a number in words without the endings after it, as in ellisi.
func (l *lexicon) numberStem(word string) (stem string, ok bool) {
	const longest = 200
	for n := min(len(word)-1, longest); n > 0; n-- {
		if _, ok := l.value(word[:n]); ok && agglutinated(l.fold(word[n:])) {
			return word[:n], true
		}
	}
	return "", false
}

// afterDigits reports whether a text ends with a number in digits.
func afterDigits(text string) bool {
	text = strings.TrimRight(text, " ")
	return text != "" && text[len(text)-1] >= '0' && text[len(text)-1] <= '9'
}

// counts reports whether the n number words at word i state a quantity, and are not a manner of speech.
func (l *lexicon) counts(text string, context *context, all [][]int, i, n int, v float64, answer bool) bool {
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
	if n == 1 && articles[word(i)] && !context.has(all[i][0], "warranty") {
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
	if gap == "" && !part && !unit && answer {
		return v >= fewInWords && !isIdiom(v) && utf8.RuneCountInString(next) >= leastNoun && !common()[l.base][next] &&
			!l.join[next]
	}
	if gap != "" || !part && !unit {
		return false
	}
	return part || !answer || v >= least || context.has(all[i][0], "warranty")
}

// isTurkishSpoon reports whether a word is tl in a language whose word for a spoon it is.
func (l *lexicon) isTurkishSpoon(word string) bool { return word == "tl" && l.base != "tr" }

// articles are the words for one that are articles as well.
var articles = map[string]bool{"a": true, "one": true, "ein": true, "eine": true, "einen": true, "einem": true,
	"einer": true, "un": true, "una": true, "une": true, "uno": true, "um": true, "uma": true, "bir": true, "एक": true}

// monthParticles may stand between a day and its month.
var monthParticles = []string{"of", "de", "من", "del", "di"}

// context tells what the sentences of a text have. It looks once for each kind in each sentence.
type context struct {
	words     *lexicon
	sentences []string
	ends      []int
	found     map[look]bool
}

// look is what a sentence is searched for, by the number of the sentence.
type look struct {
	sentence int
	name     string
}

func newContext(l *lexicon, text string) *context {
	c := &context{words: l, sentences: sentences(text), found: map[look]bool{}}
	end := 0
	for _, s := range c.sentences {
		end += len(s)
		c.ends = append(c.ends, end)
	}
	return c
}

// look reports whether the sentence at an offset, which is folded, has something of the given name.
func (c *context) look(at int, name string, has func(sentence string) bool) bool {
	n, _ := slices.BinarySearch(c.ends, at+1)
	key := look{n, name}
	found, ok := c.found[key]
	if !ok {
		found = has(c.words.fold(c.sentences[n]))
		c.found[key] = found
	}
	return found
}

// has reports whether the sentence at an offset has a pattern of a kind.
func (c *context) has(at int, kind string) bool {
	return c.look(at, kind, func(s string) bool { return c.words.has(s, kind) })
}

// deal and englishDeal report whether the sentence at an offset speaks of a lower price.
func (c *context) deal(at int) bool { return c.look(at, "a deal", c.words.deal) }

func (c *context) englishDeal(at int) bool {
	return c.look(at, "an English deal", lexiconOf("en").deal)
}

// measure is a unit: what it measures, and how many of the base unit it is.
type measure struct {
	of     string
	factor float64
}

// units are the words for units and for what is counted, in all languages: an input may be in another language than the
// answer. A unit has the dimension that it measures, and how many of the base unit of the dimension it is.
var units = sync.OnceValue(func() lookup[measure] {
	all := table[measure]{}
	for _, row := range rowsOf("units") {
		all[measure{row[0], valueOf(row[1])}] += " " + row[2]
	}
	return all.index()
})

// rowsOf returns the rows of a table of words.
func rowsOf(name string) (rows [][]string) {
	raw, err := wordLists.ReadFile("words/" + name + ".tsv")
	if err != nil {
		panic(err) // it is a part of the program
	}
	for line := range strings.Lines(string(raw)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// textsIn returns the texts of a table by their names.
func textsIn(name string) map[string]string {
	all := map[string]string{}
	for _, row := range rowsOf(name) {
		all[row[0]] = row[1]
	}
	return all
}

// valueOf returns the number of a table of words.
func valueOf(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err) // it is a part of the program
	}
	return v
}

// valuesIn returns the values of the words of a table.
func valuesIn(name string) lookup[float64] {
	all := table[float64]{}
	for _, row := range rowsOf(name) {
		all[valueOf(row[0])] = row[1]
	}
	return all.index()
}

// percents are the words for a part of a hundred.
var percents = sync.OnceValue(func() lookup[bool] {
	return table[bool]{true: "percent per-cent pct prozent* procent* porcentaje* pourcent percento процент* проц" +
		" відсот* بالمئة بالمائة אחוז אחוזים प्रतिशत फ़ीसदी फीसदी パーセント* 퍼센트* 프로 เปอร์เซ็นต์"}.index()
})

// counted are the dimensions of what is counted, whose noun may follow an adjective.
func (m measure) counted() bool { return m.factor == 1 && !physical[m.of] }

var physical = map[string]bool{"mass": true, "length": true, "area": true, "volume": true, "time": true, "speed": true,
	"temperature": true,
	"fahrenheit":  true, "data": true, "power": true, "energy": true, "nutrition": true, "screen": true,
	"tension": true, "charge": true, "sound": true}

// fewPeople is the number of people below which their number is a manner of speech.
const fewPeople = 10

// unitOf returns the unit that a word names. Single letters name units in their usual case only.
func unitOf(word string) (m measure, ok bool) {
	switch word {
	case "G", "M", "H", "K", "P":
		return m, false
	}
	return units().of(strings.Trim(strings.ToLower(word), ".-"))
}

// figure matches a number in digits, with or without separators of thousands and decimals, also in the groups of India.
const figure = `\d{1,2}(?:,\d\d){1,8},\d{3}|\d{1,3}(?:[., ']\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?`

// valuesOf returns the values that a number in digits may have: a separator may be of thousands or of decimals.
func valuesOf(text string) (all []float64) {
	add := func(s string) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			all = append(all, v)
		}
	}
	bare := strings.NewReplacer(" ", "", "'", "", ",", "", ".", "")
	last := strings.LastIndexAny(text, ".,")
	if last < 0 {
		add(bare.Replace(text))
		return all
	}
	head, tail := text[:last], text[last+1:]
	if len(tail) == 3 && len(head) <= 3 || strings.Count(text, text[last:last+1]) > 1 {
		add(bare.Replace(text))
	}
	if strings.Count(text, text[last:last+1]) == 1 {
		add(bare.Replace(head) + "." + tail)
	}
	if len(tail) == 3 && strings.ContainsAny(head, " '.,") {
		add(bare.Replace(text))
	}
	return all
}

// magnitudes multiply the number before them. Those that end with * are the beginnings of words.
var magnitudes = sync.OnceValue(func() lookup[float64] { return valuesIn("magnitudes") })

// numerals are numbers in words that may stand before a unit.
var numerals = sync.OnceValue(func() lookup[float64] { return valuesIn("numerals") })

// table has the words for values, divided by spaces. A word with * matches all words that begin with it.
type table[V comparable] map[V]string

// lookup finds the value of a word.
type lookup[V comparable] struct {
	whole, begins              map[string]V
	longestWhole, longestBegin int
}

func (t table[V]) index() lookup[V] {
	l := lookup[V]{whole: map[string]V{}, begins: map[string]V{}}
	for v, words := range t {
		for word := range strings.FieldsSeq(words) {
			if head, ok := strings.CutSuffix(word, "*"); ok {
				l.begins[head] = v
				l.longestBegin = max(l.longestBegin, len(head))
				continue
			}
			l.whole[word] = v
			l.longestWhole = max(l.longestWhole, len(word))
		}
	}
	return l
}

// of returns the value of a word in lower case, and reports whether it has one.
func (l lookup[V]) of(word string) (v V, ok bool) {
	if v, ok = l.whole[word]; ok {
		return v, true
	}
	for n := min(len(word), l.longestBegin); n > 0; n-- {
		if v, ok = l.begins[word[:n]]; ok {
			return v, true
		}
	}
	return v, false
}

// value returns the value of one number word, which may be written with its prefix or joined of several.
func (l *lexicon) value(word string) (v float64, ok bool) {
	word = l.fold(word)
	if v, ok = l.numbers.of(word); ok {
		return v, true
	}
	if p := prefixes[l.base]; p != "" {
		r, size := utf8.DecodeRuneInString(word)
		if strings.ContainsRune(p, r) && len(word) >= 3*size {
			return l.numbers.of(word[size:])
		}
	}
	if l.joined {
		return l.compound(word)
	}
	return 0, false
}

// compound returns the value of a number that is one word, such as neunundachtzig.
func (l *lexicon) compound(word string) (float64, bool) {
	var sum numberSum
	for rest := word; rest != ""; {
		found := 0
		for n := min(len(rest), l.numbers.longestWhole); n > 1 && found == 0; n-- {
			tried := sum
			if v, ok := l.numbers.whole[rest[:n]]; ok && tried.add(v, l.base) {
				found, sum = n, tried
			}
		}
		if found == 0 {
			after, ok := strings.CutPrefix(rest, "und")
			if !ok || l.base != "de" || rest == word {
				return 0, false
			}
			rest, sum.joined = after, true
			continue
		}
		rest = rest[found:]
	}
	return sum.total + sum.current, sum.parts > 0
}

// numberSum adds the parts of a number.
type numberSum struct {
	total, current float64
	parts          int
	joined         bool
	least          float64 // the least magnitude of the total
}

// add adds a part, and reports false if it begins another number.
func (s *numberSum) add(v float64, base string) bool {
	low := float64(int(s.current) % 100)
	switch {
	case v >= 1000 && math.Mod(v, 1000) == 0:
		if v == 2000 && s.current > 0 { // the dual has the form of an accusative
			v = 1000
		}
		if s.least > 0 && v >= s.least {
			return false
		}
		s.least = v
		s.total, s.current = s.total+max(s.current, 1)*v, 0
	case v == 0 && s.parts > 0 && base == "vi":
	case v == 100 && s.current > 0 && s.current < 10:
		s.current *= v
	case v == 10 && low > 0 && low < 10 && base == "vi":
		s.current += 9 * low
	case v == 10 && low > 0 && low < 10 && (base == "he" || base == "ar"):
		s.current += v
	case base == "fr" && v == 20 && low == 4:
		s.current += 76
	case base == "fr" && (low == 60 || low == 80) && v < 20:
		s.current += v
	case low == 0 && s.current != 0 && v < 100 || s.current == 0 && (s.parts == 0 || s.total > 0):
		s.current += v
	case low >= 20 && int(low)%10 == 0 && v > 0 && v < 10,
		(base == "tr" || base == "fr") && low == 10 && v > 0 && v < 10,
		base == "vi" && low == 10 && v > 0 && v < 10:
		s.current += v
	case s.joined && low > 0 && low < 10 && v >= 20 && v < 100:
		s.current += v
	default:
		return false
	}
	s.parts, s.joined = s.parts+1, false
	return true
}

// number returns the value of the number words that begin at word i of a text, and how many words they are. The words
// of inputs may be foreign.
func (l *lexicon) number(text string, words [][]int, i int, foreign bool) (v float64, n int) {
	var sum numberSum
	for k := i; k < len(words); k++ {
		word := l.fold(text[words[k][0]:words[k][1]])
		if k > i {
			if gap := text[words[k-1][1]:words[k][0]]; gap != " " && gap != "-" {
				return sum.total + sum.current, n
			}
			if l.join[word] && k+1 < len(words) {
				sum.joined = true
				continue
			}
			sum.joined = sum.joined || l.base == "ar" && strings.HasPrefix(word, "و")
		}
		part, ok := l.value(word)
		if !ok && (foreign || len(l.numbers.whole) == 0) {
			part, ok = numerals().of(word)
		}
		if !ok || !sum.add(part, l.base) {
			break
		}
		n = k - i + 1
	}
	return sum.total + sum.current, n
}

// hanDigits are the numbers of Chinese and Japanese.
const hanDigits = "〇零一二三四五六七八九十百千万两兩"

// hanValue returns the value of a number in Chinese or Japanese characters.
func hanValue(text string) float64 {
	return eastValue(text, "〇一二三四五六七八九", "十百千万")
}

// koreanValue returns the value of a Sino-Korean number.
func koreanValue(text string) float64 {
	return eastValue(text, "영일이삼사오육칠팔구", "십백천만")
}

func eastValue(text, digits, powers string) (total float64) {
	section, one := 0.0, 0.0
	for _, r := range strings.NewReplacer("零", "〇", "两", "二", "兩", "二", " ", "").Replace(text) {
		if i := strings.IndexRune(digits, r); i >= 0 {
			one = one*10 + float64(i/len("一"))
			continue
		}
		switch p := strings.IndexRune(powers, r) / len("一"); p {
		case 3:
			total, section, one = total+max(section+one, 1)*10000, 0, 0
		default:
			section, one = section+max(one, 1)*[]float64{10, 100, 1000}[p], 0
		}
	}
	return total + section + one
}

var (
	hanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([` + hanDigits + `]+)(\s?(?:%|パーセント|円|元|块|塊|月|日|号|時|点半|点钟|点|割|成|折|年|个月|か月|ヶ月|` +
			`人以上|人|名以上|名|位|多位|多名|万|小时|時間|分钟|歳|公斤|千克|克|家|店|組|世帯|件|社|台|户|组|` +
			`公里|千米|厘米|毫米|米|毫升|升|公分|公顷|吨|キロ|メートル|リットル|グラム|個|个|匹|本|枚|席|间|张|張|页|頁|种|種))`)
	})
	koreanNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:[영일이삼사오육칠팔구십백천]*만 )?[영일이삼사오육칠팔구십백천만]+)(\s?(?:퍼센트|프로|원|년|개월|명|킬로))`)
	})
	koreanDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([일이삼사오육칠팔구십유시]+)월\s?([일이삼사오육칠팔구십]+)일`)
	})
	koreanHour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(한|두|세|네|다섯|여섯|일곱|여덟|아홉|열한|열두|열)\s?시(\s?반|에|부터|까지)`)
	})
	// hanHour matches an hour that is not a few points: the part of the day is before it.
	hanHour = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`((?:上午|下午|早上|晚上|夜里|凌晨|中午|傍晚|早晨)\s?)([` + hanDigits + `]+)([点點])`)
	})
	percentOf = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`百分之(\d+(?:\.\d+)?|[` + hanDigits + `]+)`)
	})
	tenths = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+(?:\.\d+)?)\s?(割引き?|割|成|折)`) })
	// percentBefore is the form of Turkish, whose number follows.
	percentBefore = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|[^\d\s]\s|[^\d\s])(?:yüzde\s|%\s?)(\d+(?:[.,]\d+)?)`)
	})
)

// idiomatic are the units and counters of Chinese and Japanese that small and round numbers stand before in a manner of
// speech, as in one cup and a hundred reasons.
var idiomatic = strings.Fields("年 名 位 家 店 組 世帯 件 社 台 户 组 分钟 小时 時間 人以上 人 公里 千米 厘米 毫米 米 毫升 升 公分 公顷 吨 キロ メートル " +
	"リットル グラム 個 个 匹 本 枚 席 间 张 張 页 頁 种 種")

// eastern writes the numbers of a text in Chinese, Japanese or Korean in digits, where they are dates, times, amounts
// or parts of a hundred. Others, such as a hundred reasons, are a manner of speech.
func (l *lexicon) eastern(text string, answer bool) string {
	if strings.ContainsAny(text, "万萬만") {
		text = wholeTenThousands(text)
	}
	switch l.base {
	case "th":
		return thai(text)
	case "ja", "zh":
		text = percentOf().ReplaceAllStringFunc(text, func(m string) string {
			n := strings.TrimPrefix(m, "百分之")
			if n[0] > '9' {
				n = fmt.Sprintf("%g", hanValue(n))
			}
			return n + "%"
		})
		text = hanHour().ReplaceAllStringFunc(text, func(m string) string {
			n := hanHour().FindStringSubmatch(m)
			return fmt.Sprintf("%s%g%s", n[1], hanValue(n[2]), n[3])
		})
		counted := l.has(text, "warranty") || strings.Contains(text, "客")
		text = hanNumber().ReplaceAllStringFunc(text, func(m string) string {
			n := hanNumber().FindStringSubmatch(m)
			v, unit := hanValue(n[1]), strings.TrimSpace(n[2])
			idiom := slices.Contains(idiomatic, unit) && !counted
			if idiom && utf8.RuneCountInString(n[1]) > 1 && v >= fewInWords && !isIdiom(v) {
				idiom = unit == "年" || unit == "分钟" || unit == "小时" || unit == "時間"
			}
			if answer && idiom || unit == "成" && v >= 10 || unit == "折" && v >= 100 {
				return m
			}
			if unit == "折" && v > 10 {
				v /= 10
			}
			return fmt.Sprintf("%g", v) + strings.NewReplacer("块", "元", "塊", "元").Replace(n[2])
		})
		return tenths().ReplaceAllStringFunc(text, func(m string) string {
			n := tenths().FindStringSubmatch(m)
			v := valuesOf(n[1])[0]
			if n[2] == "折" {
				v = 10 - v
			}
			if v <= 0 || v >= 10 {
				return m
			}
			return fmt.Sprintf("%g%%", 10*v) + strings.TrimPrefix(strings.TrimPrefix(n[2], "割"), "成")
		})
	case "ko":
		text = koreanDate().ReplaceAllStringFunc(text, func(m string) string {
			d := koreanDate().FindStringSubmatch(m)
			month := strings.NewReplacer("유", "육", "시", "십").Replace(d[1])
			return fmt.Sprintf("%g월 %g일", koreanValue(month), koreanValue(d[2]))
		})
		text = koreanHour().ReplaceAllStringFunc(text, func(m string) string {
			n := slices.Index(strings.Fields("- 한 두 세 네 다섯 여섯 일곱 여덟 아홉 열 열한 열두"),
				koreanHour().FindStringSubmatch(m)[1])
			return fmt.Sprintf("%d시%s", n, koreanHour().FindStringSubmatch(m)[2])
		})
		warranty := l.has(text, "warranty")
		return koreanNumber().ReplaceAllStringFunc(text, func(m string) string {
			n := koreanNumber().FindStringSubmatch(m)
			if strings.TrimSpace(n[2]) == "원" && !strings.ContainsAny(n[1], "십백천만") {
				return m // as in the word for a garden
			}
			if v := koreanValue(n[1]); !answer || v >= fewInWords || strings.ContainsAny(n[2], "퍼프원") || warranty {
				return fmt.Sprintf("%g", v) + n[2]
			}
			return m
		})
	}
	return text
}

// thaiDigits and thaiPowers are the parts of numbers in Thai. 20 begins with ยี่, and a last 1 is เอ็ด.
var (
	thaiDigits = map[string]float64{"หนึ่ง": 1, "เอ็ด": 1, "สอง": 2, "ยี่": 2, "สาม": 3, "สี่": 4, "ห้า": 5, "หก": 6,
		"เจ็ด": 7, "แปด": 8, "เก้า": 9}
	thaiPowers = map[string]float64{"สิบ": 10, "ร้อย": 100, "พัน": 1e3, "หมื่น": 1e4, "แสน": 1e5, "ล้าน": 1e6}

	thaiPart = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`หนึ่ง|เอ็ด|สอง|ยี่|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ|ร้อย|พัน|หมื่น|แสน|ล้าน`)
	})
	// thaiNumber matches a number of a digit and a power at least. Single words also stand for something else.
	thaiNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:(?:หนึ่ง|สอง|ยี่|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า)?(?:สิบ|ร้อย|พัน|หมื่น|แสน|` +
			`ล้าน)(?:หนึ่ง|เอ็ด|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า)?){1,7}`)
	})
	// tenThousands matches a number in digits before the sign for ten thousand.
	tenThousands = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+(?:[.,]\d+)?)\s?(?:万|萬|만)\s?(?:(\d{1,4})([천千])?)?`)
	})
)

// thaiValue returns the value of a number in Thai.
func thaiValue(text string) (total float64) {
	digit := 0.0
	million := 0.0
	for _, part := range thaiPart().FindAllString(text, -1) {
		if v, ok := thaiDigits[part]; ok {
			digit = v
			continue
		}
		power := thaiPowers[part]
		if power == 1e6 {
			million, total, digit = (total+max(digit, 0))*power, 0, 0
			million = cmp.Or(million, power)
			continue
		}
		total, digit = total+max(digit, 1)*power, 0
	}
	return million + total + digit
}

// thai writes the numbers of a text in Thai in digits.
func thai(text string) string {
	return thaiNumber().ReplaceAllStringFunc(text, func(m string) string {
		if len(thaiPart().FindAllString(m, -1)) < 2 {
			return m
		}
		return fmt.Sprintf("%.0f", thaiValue(m))
	})
}

// wholeTenThousands writes 1.2万 as 12000.
func wholeTenThousands(text string) string {
	return tenThousands().ReplaceAllStringFunc(text, func(m string) string {
		n := tenThousands().FindStringSubmatch(m)
		more := float64(atoi(n[2]))
		if n[3] != "" {
			more *= 1000
		}
		after := ""
		if strings.HasSuffix(m, " ") {
			after = " "
		}
		return fmt.Sprintf("%.0f%s", valuesOf(n[1])[0]*10000+more, after)
	})
}

// leastNoun is the shortest word that a number counts, in characters, if it is no word for a unit.
const leastNoun = 3

// isIdiom reports whether a number is also a manner of speech, as in a hundred reasons and around 360 degrees.
func isIdiom(v float64) bool {
	return slices.Contains([]float64{24, 99, 100, 101, 360, 365, 1000, 1001, 1e6}, v)
}

// counts takes the numbers of what has no unit out of an answer: those of two digits or more before a word.
func (s *scan) counts() {
	defer s.blank()
	for _, at := range figureText().FindAllStringIndex(s.text, -1) {
		before, _ := utf8.DecodeLastRuneInString(s.text[:at[0]])
		if strings.ContainsRune("#.-/:", before) || unicode.IsLetter(before) && !s.words.spaceless() {
			continue
		}
		rest := ahead(s.text, at[1])
		word := strings.TrimLeft(rest, " ")
		next := firstWord().FindString(word)
		glued := !s.words.spaceless() && s.words.base != "ko" // such as 80s
		if next == "" || word == rest && glued ||
			utf8.RuneCountInString(next) < leastNoun && glued ||
			common()[s.words.base][strings.ToLower(next)] {
			continue
		}
		var keys []string
		for _, v := range valuesOf(s.text[at[0]:at[1]]) {
			if times, ok := magnitudes().of(strings.ToLower(next)); ok {
				v *= times
			}
			// The idioms of 24, 360 and 365 have a unit.
			if v < fewInWords || isIdiom(v) && !slices.Contains([]float64{24, 360, 365}, v) {
				keys = nil
				break
			}
			keys = append(keys, fmt.Sprintf("count %.6g", v))
		}
		if len(keys) > 0 {
			end := at[1] + len(rest) - len(word) + len(next)
			s.take(at[0], at[1], aQuantity, keys)
			s.claims[len(s.claims)-1].text = strings.Trim(s.maskedText[at[0]:end], " ")
		}
	}
}

var (
	halfMillion = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:half a million|medio millón de|medio millón|un demi-million d[e']|` +
			`demi-million|mezzo milione di|meio milhão de|pół miliona|полмиллиона|півмільйона|eine halbe million|` +
			`yarım milyon|نصف مليون|חצי מיליון|nửa triệu|ครึ่งล้าน)`)
	})
	// centsText matches the whole part of a price and the word for its hundredths, as in sette euro e cinquanta.
	centsText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+) ([Ee]uros?) (?:e |et |y |und |con )?(\p{L}+(?:-\p{L}+)?)`)
	})
)

// halfMillions writes half a million in digits.
func (l *lexicon) halfMillions(text string) string {
	return halfMillion().ReplaceAllString(text, "500000")
}

// cents writes a price whose hundredths are a word in digits.
func (l *lexicon) cents(text string) string {
	return centsText().ReplaceAllStringFunc(text, func(m string) string {
		n := centsText().FindStringSubmatch(m)
		v := 0.0
		for part := range strings.SplitSeq(n[3], "-") {
			one, ok := l.value(part)
			if !ok {
				return m
			}
			v += one
		}
		if v < 2 || v > 99 {
			return m
		}
		return fmt.Sprintf("%s.%02.0f %s", n[1], v, n[2])
	})
}
