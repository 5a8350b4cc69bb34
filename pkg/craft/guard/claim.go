package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/money"
)

type kind int

// The kinds, in the order in which they are taken out of a text.
const (
	aMail kind = iota
	aURL
	anAccount
	aCode
	aDate
	aTime
	aPrice
	aPercentage
	aQuantity
	aPhone
	aYear
)

// String names the kind.
func (k kind) String() string {
	return [...]string{"e-mail address", "address", "account", "promotional code", "date", "time", "price",
		"percentage", "quantity", "telephone number", "year"}[k]
}

// claim is a claim in a text, from an offset to another. Its keys are the canonical forms of what it may mean.
type claim struct {
	kind     kind
	text     string
	keys     []string
	from, to int
}

// scan takes claims out of a text.
type scan struct {
	text  string // in normal form; claims that were found are blank
	shown string // the same with the claims
	found []claim
	tags  []string
	// language is that of the text, and answer reports that it is an answer: in answers, some words are a manner of
	// speech.
	language string
	words    *lexicon
	answer   bool
}

// scanned returns the claims of a text.
func scanned(text, language string, answer bool) []claim { return scanOf(text, language, answer).found }

func scanOf(text, language string, answer bool) *scan {
	words := lexiconOf(language)
	text = normal(text)
	var tags []string
	for _, t := range platform.WrittenTags(text) {
		tags = append(tags, text[t.Start:t.End])
	}
	text = inDigits(text, answer, words)
	if strings.Contains(text, " dot ") {
		text = spelledDomain().ReplaceAllString(text, "$1.$2")
	}
	text = hiddenPoint().ReplaceAllString(text, "$1.$2")
	s := &scan{text: text, shown: text, language: language, words: words, tags: tags, answer: answer}
	if strings.Contains(text, "@") || strings.ContainsAny(text, "([") {
		s.each(mailText(), aMail, func(m []string) []string {
			return []string{strings.NewReplacer(" ", "", "(at)", "@", "[at]", "@").Replace(strings.ToLower(m[0]))}
		})
	}
	for _, l := range platform.Links(s.text) {
		s.take(l.Start, l.End, aURL, []string{addressOf(s.text[l.Start:l.End])})
	}
	if strings.Contains(text, "@") {
		s.each(handleText(), anAccount, func(m []string) []string { return []string{strings.ToLower(m[0][1:])} })
	}
	for _, t := range platform.WrittenTags(s.text) {
		s.take(t.Start, t.End, -1, nil)
	}
	s.codes()
	s.spokenTimes()
	s.halves()
	if !strings.ContainsAny(text, "0123456789") {
		return s
	}
	s.dates()
	s.times()
	s.prices()
	s.quantities()
	s.each(phoneText(), aPhone, func(m []string) []string {
		if digits, ok := phoneOf(m[0]); ok {
			return []string{digits}
		}
		return nil
	})
	s.each(yearText(), aYear, func(m []string) []string { return m })
	return s
}

// each takes the matches of an expression for which keys returns any out of the text. Those of no kind are only taken
// out.
func (s *scan) each(expression *regexp.Regexp, k kind, keys func(m []string) []string) {
	for from := 0; ; {
		at := expression.FindStringSubmatchIndex(s.text[from:])
		if at == nil {
			return
		}
		var m []string
		for i := 0; i < len(at); i += 2 {
			group := ""
			if at[i] >= 0 {
				group = s.text[from+at[i] : from+at[i+1]]
			}
			m = append(m, group)
		}
		if found := keys(m); len(found) > 0 {
			s.take(from+at[0], from+at[1], k, found)
			from += at[1]
			continue
		}
		_, size := utf8.DecodeRuneInString(s.text[from+at[0]:])
		from += max(at[0]+size, 1)
		for from < len(s.text) && expression != shortDate() && inWord(s.text, from) {
			_, size := utf8.DecodeRuneInString(s.text[from:])
			from += size
		}
	}
}

// inWord reports whether an offset is inside of a word or number.
func inWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return isWord(before) && isWord(after)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// take notes a claim, and blanks its place in the text.
func (s *scan) take(from, to int, k kind, keys []string) {
	if k >= 0 {
		s.found = append(s.found, claim{k, strings.Trim(s.shown[from:to], " .,;:!?…()\n"), keys, from, to})
	}
	s.text = s.text[:from] + strings.Repeat("\x00", to-from) + s.text[to:]
}

// prices takes the prices out of the text.
func (s *scan) prices() {
	for _, p := range money.In(s.text) {
		if p.Sign == "tl" && !strings.HasPrefix(s.language, "tr") { // a spoon in German
			continue
		}
		var keys []string
		if m := nextText().FindStringSubmatch(s.text[p.To:]); m != nil {
			if times, ok := magnitudes().of(strings.ToLower(m[1])); ok {
				for _, v := range valuesOf(p.Text) {
					keys = append(keys, priceKeys(v*times, p.Sign)...)
				}
			}
		}
		if len(keys) == 0 {
			for _, m := range p.Means() {
				keys = append(keys, priceKey(m))
			}
		}
		s.take(p.From, p.To, aPrice, keys)
		// The sign shows what the number is.
		at := s.found[len(s.found)-1].text
		switch first, _ := utf8.DecodeRuneInString(p.Sign); {
		case p.Before && unicode.IsLetter(first):
			at = strings.ToUpper(p.Sign) + " " + at
		case p.Before:
			at = p.Sign + at
		default:
			at = strings.TrimSpace(at + " " + p.Sign)
		}
		s.found[len(s.found)-1].text = at
	}
}

// pound is the weight of a pound in grams.
const pound = 453.592

// halves finds half prices in words.
func (s *scan) halves() {
	for _, sentence := range sentences(s.shown) {
		if part, ok := s.words.match(s.words.fold(sentence), "half"); ok {
			s.found = append(s.found, claim{kind: aPercentage, text: part, keys: []string{"% 50"}})
		}
	}
}

// priceKeys returns the keys of an amount in a currency that a word or sign names.
func priceKeys(value float64, sign string) (all []string) {
	for _, stated := range money.In(fmt.Sprintf("%.2f %s", value, sign)) {
		for _, m := range stated.Means() {
			all = append(all, priceKey(m))
		}
	}
	return all
}

func priceKey(p money.Price) string { return fmt.Sprintf("%s %d", p.Currency, p.Amount) }

var (
	codeWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:code|coupon|voucher|gutschein\p{L}*|rabattcode|código|cupón|cupom|codice|` +
			`промокод\p{L}*|код\p{L}*|купон\p{L}*|kod\p{L}*)(?:\s(?i:promo|sconto))?\s?[:=-]?\s?` +
			`(?:["'«“„»]\s?([\p{L}\d_-]{3,20})\s?["'»”“«]|([\p{Lu}\d][\p{Lu}\d_-]{2,19})(?:[^\p{L}\d]|$))`)
	})
	codeText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[A-Z]{3,12}\d{2,4}\b`) })
)

// codes takes the promotional codes out of the text: what follows a word such as code, and capital letters that end
// with a number.
func (s *scan) codes() {
	s.each(codeWord(), aCode, func(m []string) []string {
		if code := m[1] + m[2]; strings.ContainsFunc(code, unicode.IsLetter) || len(code) > 3 {
			return []string{strings.ToLower(code)}
		}
		return nil
	})
	for i, c := range s.found {
		if c.kind == aCode {
			s.found[i].text = strings.ToUpper(c.keys[0])
		}
	}
	s.each(codeText(), aCode, func(m []string) []string { return []string{strings.ToLower(m[0])} })
}

// known is what the inputs support: words are those of the caller's own inputs, and said those of all inputs.
type known struct {
	keys  map[kind]map[string]bool
	urls  []string
	dates []date
	words map[string]bool
	said  map[string]bool
	days  [7]bool // the days of the week that the inputs name
	now   time.Time
	twice bool // a date is in two of the inputs
}

// newKnown reads the inputs. They may be in any language.
func newKnown(r Rules) *known {
	k := &known{keys: map[kind]map[string]bool{}, words: map[string]bool{}, said: map[string]bool{}, now: r.Now}
	for _, p := range r.Prices {
		k.add(claim{kind: aPrice, keys: []string{priceKey(p)}})
	}
	for _, text := range r.Facts {
		k.read(text, r.Language, anything)
	}
	for _, text := range r.Quoted {
		k.read(text, r.Language, anything&^contacts)
	}
	for _, text := range r.Unpriced {
		k.read(text, r.Language, anything&^prices)
	}
	if !r.Now.IsZero() {
		for n := range 2 {
			k.add(claim{kind: aYear, keys: []string{fmt.Sprint(r.Now.Year() + n)}})
		}
	}
	return k
}

// taken is what the claims of an input may be.
type taken int

const (
	prices taken = 1 << iota
	contacts
	anything = prices | contacts
)

// ways are the claims by which readers reach somebody or get something. Strangers must not state them.
var ways = []kind{aMail, aURL, anAccount, aCode, aPhone}

func (k *known) read(text, language string, what taken) {
	before := len(k.dates)
	for _, c := range scanned(text, language, false) {
		if (c.kind == aPrice && what&prices == 0) || what&contacts == 0 && slices.Contains(ways, c.kind) {
			continue
		}
		if c.kind == aDate && slices.Contains(k.dates[:before], parseDate(c.keys[0])) {
			k.twice = true
		}
		k.add(c)
	}
	k.week(lexiconOf(language), normal(text))
	if base := lexiconOf(language).base; base != "en" {
		k.week(lexiconOf("en"), normal(text))
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(normal(text)), func(r rune) bool {
		return !isWord(r) && r != '_' && r != '-'
	}) {
		for _, part := range append(strings.Split(word, "-"), word) {
			k.said[part] = true
			k.words[part] = k.words[part] || what&contacts != 0
		}
	}
}

func (k *known) add(c claim) {
	if k.keys[c.kind] == nil {
		k.keys[c.kind] = map[string]bool{}
	}
	for _, key := range c.keys {
		k.keys[c.kind][key] = true
		switch c.kind {
		case aURL:
			k.urls = append(k.urls, key)
		case aDate:
			k.dates = append(k.dates, parseDate(key))
		}
	}
}

// supports reports whether one of the inputs has a claim.
func (k *known) supports(c claim) bool {
	return slices.ContainsFunc(c.keys, func(key string) bool {
		if k.keys[c.kind][key] {
			return true
		}
		switch c.kind {
		case aURL:
			return covers(k.urls, key)
		case aCode:
			return k.words[key]
		case anAccount:
			return slices.ContainsFunc(k.urls,
				func(u string) bool { return strings.HasSuffix(u, "/"+key) || strings.HasSuffix(u, "/@"+key) })
		case aYear:
			return k.said[key] || slices.ContainsFunc(k.dates, func(d date) bool { return fmt.Sprint(d.year) == key })
		case aPrice: // the word pound also stands for a weight
			pence, ok := strings.CutPrefix(key, "GBP ")
			return ok && k.keys[aQuantity][fmt.Sprintf("mass %.6g", float64(atoi(pence))/100*pound)]
		case aTime: // 16:00 is 16 h
			hour, _ := strings.CutSuffix(key, ":00")
			return k.keys[aQuantity][fmt.Sprintf("time %.6g", float64(atoi(hour)*3600))] && hour != key
		case aQuantity: // and 16 h may be 16:00
			seconds, ok := strings.CutPrefix(key, "time ")
			v, err := strconv.ParseFloat(seconds, 64)
			return ok && err == nil && k.keys[aTime][fmt.Sprintf("%02d:00", int(v/3600))] && int(v)%3600 == 0
		case aDate:
			d := parseDate(key)
			return slices.ContainsFunc(k.dates, func(o date) bool { return d.same(o) })
		case aPhone:
			for other := range k.keys[aPhone] {
				if samePhones(other, key) {
					return true
				}
			}
		}
		return false
	})
}
