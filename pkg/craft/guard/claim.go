package guard

import (
	"fmt"
	"maps"
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
	texts "github.com/content-automation/api/pkg/base/text"
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
	text       string   // in normal form; claims that were found are blank
	maskedText string   // the same with the claims
	numberText string   // the same, before any claim was taken
	taken      []extent // of the claims that are not blank yet
	claims     []claim
	tags       []string
	// language is that of the text, and answer reports that it is an answer: in answers, some words are a manner of
	// speech.
	language string
	tongue   string // the language of an input, if it is known
	words    *lexicon
	answer   bool
}

func claimsOf(text, language string, answer bool) []claim {
	return scanOf(text, language, answer).claims
}

// hebrewUnits writes abbreviations of units without the mark in them.
var hebrewUnits = strings.NewReplacer(`ק"ג`, "קג", "ק״ג", "קג", `ק"מ`, "קמ", "ק״מ", "קמ", `מ"ל`, "מל",
	"מ״ל", "מל", `ס"מ`, "סמ", "ס״מ", "סמ", `מ"מ`, "ממ", "מ״מ", "ממ", `מ"ג`, "מג", "מ״ג", "מג", "ק''ג", "קג", "ק''מ",
	"קמ")

// scans are those of the last inputs by text and language: each text of an item is checked against the same ones.
var scans = struct {
	sync.Mutex
	of map[[2]string]*scan
}{of: map[[2]string]*scan{}}

// The bounds of scans: a few megabytes.
const maxScans, maxScanned = 256, 4096

// scanOfInput returns the scan of an input, which must not be changed.
func scanOfInput(text, language string) *scan {
	key := [2]string{text, language}
	scans.Lock()
	s := scans.of[key]
	scans.Unlock()
	if s != nil {
		return s
	}
	s = scanOf(text, language, false)
	s.tongue = tongue(text)
	if len(text) > maxScanned {
		return s
	}
	scans.Lock()
	defer scans.Unlock()
	if len(scans.of) >= maxScans {
		clear(scans.of)
	}
	scans.of[key] = s
	return s
}

func scanOf(text, language string, answer bool) *scan {
	words := lexiconOf(language)
	text = words.halfMillions(normal(text))
	if words.base == "he" || strings.ContainsAny(text, "קמסג") {
		text = hebrewUnits.Replace(text)
	}
	var tags []string
	for _, t := range platform.WrittenTags(text) {
		tags = append(tags, text[t.Start:t.End])
	}
	text = inDigits(text, answer, words)
	if strings.Contains(text, " dot ") {
		text = spelledDomain().ReplaceAllString(text, "$1.$2")
	}
	text = hiddenPoint().ReplaceAllString(text, "$1.$2")
	if words.base == "ar" || words.base == "th" {
		text = otherMonths.Replace(text)
	}
	s := &scan{text: text, maskedText: text, numberText: text, language: language, words: words, tags: tags,
		answer: answer}
	if strings.Contains(text, "@") || strings.ContainsAny(text, "([") {
		s.each(mailText(), aMail, func(m []string) []string {
			return []string{strings.NewReplacer(" ", "", "(at)", "@", "[at]", "@").Replace(strings.ToLower(m[0]))}
		})
	}
	for _, l := range platform.Links(s.text) {
		s.take(l.Start, l.End, aURL, []string{addressOf(s.text[l.Start:l.End])})
	}
	s.blank()
	if strings.Contains(text, "@") {
		s.each(handleText(), anAccount, func(m []string) []string { return []string{strings.ToLower(m[0][1:])} })
	}
	for _, t := range platform.WrittenTags(s.text) {
		s.take(t.Start, t.End, -1, nil)
	}
	s.blank()
	s.codes()
	s.spokenTimes()
	s.halves()
	s.fractions()
	s.decades()
	s.jubilees()
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
	if answer {
		s.counts()
	}
	return s
}

// each takes the matches of an expression for which keys returns any out of the text. Those of no kind are only taken
// out.
func (s *scan) each(expression *regexp.Regexp, k kind, keys func(m []string) []string) {
	defer s.blank()
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

// extent is a part of a text, from an offset to another.
type extent struct{ from, to int }

// take notes a claim, whose place in the text is blank after the next call of blank.
func (s *scan) take(from, to int, k kind, keys []string) {
	if k >= 0 {
		s.claims = append(s.claims, claim{k, strings.Trim(s.maskedText[from:to], " .,;:!?…()\n"), keys, from, to})
	}
	s.taken = append(s.taken, extent{from, to})
}

// blank blanks the places that were taken.
func (s *scan) blank() {
	if len(s.taken) == 0 {
		return
	}
	text := []byte(s.text)
	for _, p := range s.taken {
		clear(text[p.from:p.to])
	}
	s.text, s.taken = string(text), nil
}

// prices takes the prices out of the text.
func (s *scan) prices() {
	defer s.blank()
	for _, p := range money.In(s.text) {
		if p.Sign == "tl" && !strings.HasPrefix(s.language, "tr") { // a spoon in German
			continue
		}
		var keys []string
		if m := nextText().FindStringSubmatch(ahead(s.text, p.To)); m != nil {
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
		at := s.claims[len(s.claims)-1].text
		switch first, _ := utf8.DecodeRuneInString(p.Sign); {
		case p.Before && unicode.IsLetter(first):
			at = strings.ToUpper(p.Sign) + " " + at
		case p.Before:
			at = p.Sign + at
		default:
			at = strings.TrimSpace(at + " " + p.Sign)
		}
		s.claims[len(s.claims)-1].text = at
	}
}

// pound is the weight of a pound in grams.
const pound = 453.592

// halves finds half prices in words.
func (s *scan) halves() {
	for _, sentence := range sentences(s.maskedText) {
		if part, ok := s.words.match(s.words.fold(sentence), "half"); ok {
			s.claims = append(s.claims, claim{kind: aPercentage, text: part, keys: []string{"% 50"}})
		}
	}
}

// fractions finds parts of all people in words, such as two thirds of our customers and three out of four.
func (s *scan) fractions() {
	for _, sentence := range sentences(s.numberText) {
		folded := s.words.fold(sentence)
		people := s.words.has(folded, "share")
		for _, f := range s.words.fractions {
			if from, to, ok := s.words.find(folded, f.phrase); ok && (!s.answer || people) {
				s.share(folded[from:to], f.percent)
			}
		}
		deal := sync.OnceValue(func() bool {
			return s.words.deal(folded) || s.words.has(folded, "half") || lexiconOf("en").deal(folded)
		})
		for _, at := range partText().FindAllStringSubmatchIndex(folded, -1) {
			part, err := strconv.ParseFloat(folded[at[2]:at[3]], 64)
			if err == nil && (deal() || priceNext().MatchString(ahead(folded, at[1]))) {
				s.claims = append(s.claims, claim{kind: aPercentage, text: folded[at[2]:at[3]],
					keys: []string{fmt.Sprintf("%% %.0f", 100*part)}})
			}
		}
		for _, m := range outOf().FindAllStringSubmatch(folded, -1) {
			n, ok := s.words.figure(m[1])
			of, also := s.words.figure(m[4])
			counted := slices.ContainsFunc([]string{m[2], m[5]}, func(word string) bool {
				unit, ok := unitOf(word)
				return ok && (slices.Contains(audience, unit.of) || unit.of == "people" || unit.of == "experts")
			})
			if ok && also && n < of && of >= 3 && of <= 100 && (!s.answer || people || counted) {
				s.share(strings.TrimSpace(m[0]), 100*n/of)
			}
		}
	}
}

// partText matches a part of one before a word, such as 0.5 in 0.5 price, and priceNext the word for a price.
var (
	partText  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(0\.\d{1,2})\s`) })
	priceNext = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:price|preis|prix|precio|prezzo|preço|ceny|цены|ціни|fiyat)`)
	})
)

// outOf matches a number out of another one in Latin and Cyrillic letters.
var outOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([\p{L}\d]+) (?:([\p{L}]+) )?(out of|in|von|sur|de cada|su|em cada|na|из|з|із|av|` +
		`van de|van|z|ud af) ` +
		`([\p{L}\d]+)(?: ([\p{L}]+))?`)
})

// figure returns the value of a number in digits or in one word.
func (l *lexicon) figure(word string) (float64, bool) {
	if n := atoi(word); n > 0 {
		return float64(n), true
	}
	return l.value(word)
}

// share adds a part of all people. An input that has it has the percentage, too.
func (s *scan) share(text string, percent float64) {
	keys := []string{fmt.Sprintf("share %% %.0f", percent)}
	if !s.answer {
		keys = append(keys, fmt.Sprintf("%% %.0f", percent))
	}
	s.claims = append(s.claims, claim{kind: aPercentage, text: text, keys: keys})
}

var (
	// decadeText matches a decade after a word such as since. Without one, it may be that of a song.
	decadeText = sync.OnceValue(func() *regexp.Regexp {
		const decade = `((?:18|19|20)?\d0)`
		return regexp.MustCompile(`(?i)` +
			anyOf("since") + `\s(?:\p{L}+\s){0,3}'?` + decade + `(?:'?s\b|er\b|ern\b|-?tal|-?х|-?ih|erne\b)|` +
			anyOf("since years") + `\s(?:\p{L}+\s){0,2}` + anyOf("years") + `\s'?` + decade + `(?:[^\d\p{L}]|$)|` +
			decade + `(?:年代|년대)` + anyOf("since within"))
	})
	// jubileeText matches the number of years that a business celebrates.
	jubileeText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:our|unser\p{L}*|notre|nuestr\p{L}|nostr\p{L}|noss\p{L}|nasz\p{L}*|` +
			`наш\p{L}*|ons|vår\p{L}*|` +
			`vores)\s(\d{1,3})(?:st|nd|rd|th|\.|º|ª|°|e|ème|er|-?\p{Cyrillic}{1,3})?\s?-?(?:\p{L}+\s)?` +
			`(?:anniversar\p{L}*|aniversári\p{L}*|aniversari\p{L}*|jubil\p{L}*|bestehen|rocznic\p{L}*|` +
			`-?leci\p{L}*|юбиле\p{L}*|` +
			`годовщин\p{L}*|річниц\p{L}*|ювіле\p{L}*)|(?:創業|創立|成立|创立|开业|창립|개업|오픈)\s?(\d{1,3})(?:周年|주년)`)
	})
)

// decades finds the decades since which something has been so.
func (s *scan) decades() {
	for _, m := range decadeText().FindAllStringSubmatch(s.numberText, -1) {
		s.claims = append(s.claims, claim{kind: aYear, text: strings.TrimSpace(m[0]),
			keys: []string{fmt.Sprintf("decade %d", atoi(m[1]+m[2]+m[3]))}})
	}
}

// jubilees finds the years that a business celebrates.
func (s *scan) jubilees() {
	if !s.answer {
		return
	}
	for _, m := range jubileeText().FindAllStringSubmatch(s.numberText, -1) {
		s.claims = append(s.claims, claim{kind: aYear, text: m[0],
			keys: []string{fmt.Sprintf("age %d", atoi(m[1]+m[2]))}})
	}
}

// dated reports whether a year or a number of the inputs supports a decade, or the age of what began in a year.
func (k *knownFacts) dated(of string, n int) bool {
	if k.values[fmt.Sprint(n)] || k.keys[aYear][fmt.Sprintf("%s %d", of, n)] {
		return true
	}
	for year := range k.years {
		switch {
		case of == "age" && (k.now.Year()-year == n || k.now.Year()+1-year == n),
			of == "decade" && (year/10*10 == n || n < 100 && year%100/10*10 == n):
			return true
		}
	}
	return false
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
	for i, c := range s.claims {
		if c.kind == aCode {
			s.claims[i].text = strings.ToUpper(c.keys[0])
		}
	}
	s.each(codeText(), aCode, func(m []string) []string { return []string{strings.ToLower(m[0])} })
}

// knownFacts is what the inputs support: words are those of the caller's own inputs, and said those of all inputs.
type knownFacts struct {
	keys map[kind]map[string]bool
	// addresses are those that the addresses of the inputs support, and accounts the last parts of their paths. Phones
	// are listed by their last digits, quantities by what they measure, and dates once.
	addresses  map[string]bool
	accounts   map[string]bool
	phones     map[string][]string
	quantities map[string][]stated
	years      map[int]bool
	dates      []date
	words      map[string]bool
	statements map[string]bool
	days       [7]bool // the days of the week that the inputs name
	values     map[string]bool
	events     [7]bool // the days of the week of dates that are not the end of a period
	now        time.Time
	twice      bool // a date is in two of the inputs
}

// newKnownFacts reads the inputs. They may be in any language.
func newKnownFacts(r Rules) *knownFacts {
	k := &knownFacts{keys: map[kind]map[string]bool{}, addresses: map[string]bool{}, accounts: map[string]bool{},
		phones: map[string][]string{}, quantities: map[string][]stated{}, years: map[int]bool{},
		words: map[string]bool{}, statements: map[string]bool{}, values: map[string]bool{}, now: r.Now}
	for _, p := range r.Prices {
		k.add(claim{kind: aPrice, keys: []string{priceKey(p)}})
	}
	for _, text := range r.Facts {
		k.read(text, r.Language, anything)
	}
	for _, text := range r.QuotedInputs {
		k.read(text, r.Language, anything&^contacts)
	}
	for _, text := range r.UnpricedInputs {
		k.read(text, r.Language, anything&^prices)
	}
	if !r.Now.IsZero() {
		for n := range 2 {
			k.add(claim{kind: aYear, keys: []string{fmt.Sprint(r.Now.Year() + n)}})
		}
	}
	return k
}

// claimSet is what the claims of an input may be.
type claimSet int

const (
	prices claimSet = 1 << iota
	contacts
	anything = prices | contacts
)

// ways are the claims by which readers reach somebody or get something. Strangers must not state them.
var ways = []kind{aMail, aURL, anAccount, aCode, aPhone}

func (k *knownFacts) read(text, language string, what claimSet) {
	before := len(k.dates)
	scanned := scanOfInput(text, language)
	found := slices.Clone(scanned.claims)
	k.count(scanned)
	read, own := []string{lexiconOf(language).base}, scanned.tongue
	for _, other := range []string{own, "en"} {
		if other == "" || slices.Contains(read, other) {
			continue
		}
		read = append(read, other)
		scanned := scanOfInput(text, other)
		if own != "" && other != own {
			found = append(found, withoutShares(scanned.claims)...)
		} else {
			found = append(found, scanned.claims...)
		}
		k.count(scanned)
	}
	for _, c := range found {
		if (c.kind == aPrice && what&prices == 0) || what&contacts == 0 && slices.Contains(ways, c.kind) {
			continue
		}
		if c.kind == aDate && slices.Contains(k.dates[:before], parseDate(c.keys[0])) {
			k.twice = true
		}
		k.add(c)
	}
	for _, other := range read {
		k.week(lexiconOf(other), normal(text), true)
	}
	k.shortDays(read, normal(text))
	for _, other := range latin {
		if len(text) <= shortInput {
			k.week(lexiconOf(other), normal(text), false)
		}
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(normal(text)), func(r rune) bool {
		return !isWord(r) && r != '_' && r != '-'
	}) {
		for _, part := range append(strings.Split(word, "-"), word) {
			k.statements[part] = true
			if year := atoi(strings.TrimRight(part, "sern-")); year >= 1000 && year <= 2999 {
				k.years[year] = true
			}
			k.words[part] = k.words[part] || what&contacts != 0
		}
	}
}

// withoutShares leaves out what only the words of the language of a text tell: a part of all people, not of a price.
func withoutShares(claims []claim) []claim {
	claims = slices.Clone(claims)
	for i, c := range claims {
		claims[i].keys = slices.DeleteFunc(slices.Clone(c.keys), func(key string) bool {
			return strings.HasPrefix(key, "share ")
		})
	}
	return claims
}

// shortInput is the length in bytes up to which an input may have too few words for its language to be told.
const shortInput = 200

// nearUntil is the longest text between a date and the word that makes it the end of a period, in bytes.
const nearUntil = 12

// count notes the numbers of an input, whatever they count: what is counted has other words in another language.
func (k *knownFacts) count(s *scan) {
	for _, c := range s.claims {
		before := texts.Before(s.maskedText, c.from, nearUntil)
		if c.kind == aDate && !untilText().MatchString(before) {
			k.happens(parseDate(c.keys[0]))
		}
	}
	for _, at := range figureText().FindAllStringIndex(s.numberText, -1) {
		for _, v := range valuesOf(s.numberText[at[0]:at[1]]) {
			k.values[fmt.Sprintf("%.6g", v)] = true
			if m := nextText().FindStringSubmatch(ahead(s.numberText, at[1])); m != nil {
				if times, ok := magnitudes().of(strings.ToLower(m[1])); ok {
					k.values[fmt.Sprintf("%.6g", v*times)] = true
				}
			}
		}
	}
}

func (k *knownFacts) add(c claim) {
	if k.keys[c.kind] == nil {
		k.keys[c.kind] = map[string]bool{}
	}
	for _, key := range c.keys {
		if k.keys[c.kind][key] {
			continue
		}
		k.keys[c.kind][key] = true
		switch c.kind {
		case aURL:
			for _, address := range covered(key) {
				k.addresses[address] = true
			}
			if _, path, ok := strings.Cut(key, "/"); ok {
				k.accounts[strings.TrimPrefix(path[strings.LastIndexByte(path, '/')+1:], "@")] = true
			}
		case aDate:
			k.dates = append(k.dates, parseDate(key))
		case aPhone:
			if last, ok := lastDigits(key); ok {
				k.phones[last] = append(k.phones[last], key)
			}
		case aQuantity:
			k.state(key)
		}
	}
}

// supports reports whether one of the inputs has a claim.
func (k *knownFacts) supports(c claim) bool {
	return slices.ContainsFunc(c.keys, func(key string) bool {
		if k.keys[c.kind][key] {
			return true
		}
		switch c.kind {
		case aURL:
			return k.addresses[key]
		case aCode:
			return k.words[key]
		case anAccount:
			return k.accounts[key]
		case aYear:
			if of, number, ok := strings.Cut(key, " "); ok {
				return k.dated(of, atoi(number))
			}
			year := atoi(key)
			return k.statements[key] || slices.ContainsFunc(k.dates, func(d date) bool { return d.year == year })
		case aPrice: // the word pound also stands for a weight
			pence, ok := strings.CutPrefix(key, "GBP ")
			return ok && k.keys[aQuantity][fmt.Sprintf("mass %.6g", float64(atoi(pence))/100*pound)]
		case aTime: // 16:00 is 16 h
			hour, _ := strings.CutSuffix(key, ":00")
			return k.keys[aQuantity][fmt.Sprintf("time %.6g", float64(atoi(hour)*3600))] && hour != key
		case aQuantity: // and 16 h may be 16:00
			if k.converts(key) {
				return true
			}
			if of, v, _ := strings.Cut(key, " "); !physical[of] && of != "warranty" && k.values[v] {
				return true
			}
			seconds, ok := strings.CutPrefix(key, "time ")
			v, err := strconv.ParseFloat(seconds, 64)
			return ok && err == nil && k.keys[aTime][fmt.Sprintf("%02d:00", int(v/3600))] && int(v)%3600 == 0
		case aDate:
			d := parseDate(key)
			return slices.ContainsFunc(k.dates, func(o date) bool { return d.same(o) })
		case aPhone:
			last, ok := lastDigits(key)
			return ok && slices.ContainsFunc(k.phones[last], func(other string) bool { return samePhones(other, key) })
		}
		return false
	})
}

// assertions are the kinds of assertions that an input must make as well, with their names for callers. What an input
// says is compared by kind: a text may say in other words what is true.
var assertions = []struct {
	kind, name string
	// denies reports that the phrases deny something, as in no side effects: a word such as not after them is a part.
	denies bool
	// within reports that a word such as not between the phrases denies the sentence, too.
	within bool
	// offers reports that the sentence offers something: words such as not, and a question, do not deny it.
	offers bool
}{
	{kind: "health", name: "health claim", within: true}, {kind: "cure", name: "promise of a cure"},
	{kind: "effects", name: "promise of no side effects", denies: true},
	{kind: "safe", name: "promise of safety", within: true},
	{kind: "profit", name: "promise of a profit", within: true},
	{kind: "norisk", name: "promise without a risk", denies: true},
	{kind: "certified", name: "certificate"},
	{kind: "study", name: "study", within: true}, {kind: "super", name: "superlative"},
	{kind: "compare", name: "comparison"},
	{kind: "promise", name: "promise", offers: true}, {kind: "scarce", name: "scarcity", offers: true},
	{kind: "deadline", name: "deadline", offers: true},
}

// denied reports whether a sentence denies the part of it between two offsets, as in "no cream cures": a word such as
// not is in its clause. If the part denies something itself, only the words before it count.
func (l *lexicon) denied(sentence string, from, to int, denies bool) bool {
	const ends = ",;:–—،؛、，；。"
	before, after := sentence[:from], sentence[to:]
	if i := strings.LastIndexAny(before, ends); i >= 0 {
		before = before[i:]
	}
	if i := strings.IndexAny(after, ends); i >= 0 {
		after = after[:i]
	}
	if denies && strings.Contains(firstDenied, l.base) && strings.Trim(before, " ,;:\"«“") == "" {
		return l.has(after, "not") // as in "without a risk there is no return"
	}
	return l.has(before, "not") || !denies && l.has(after, "not")
}

// firstDenied are the languages in which a word such as not denies what begins the sentence. In others it may be the
// second of two that deny together, or the end of the phrase.
const firstDenied = "de en fr es it pt"

// shortQuestion is the longest question that states nothing, in characters.
const shortQuestion = 45

// asks reports whether a sentence is a question that states nothing: it is short, or the next sentence denies it.
func (l *lexicon) asks(sentence, next string) bool {
	trimmed := strings.TrimSpace(sentence)
	last := lastRune(trimmed)
	return (last == '?' || last == '؟') &&
		(utf8.RuneCountInString(trimmed) <= shortQuestion || l.has(l.fold(next), "not"))
}

// inputs are the texts that the answer may draw on, divided into sentences, for the comparison of assertions. They are
// folded when an answer first needs them.
type inputs struct {
	own, english *lexicon
	facts        []string
	foldedTexts  []string
	english1     []string
	asserted     map[string]bool // by the kinds that were looked for
	// awards are the significant parts of the sentences that speak of an award, and foreignAward reports that a
	// sentence in another language does.
	awards       []map[string]bool
	foreignAward bool
}

func (r Rules) inputs() *inputs {
	return &inputs{own: lexiconOf(r.Language), english: lexiconOf("en"), asserted: map[string]bool{},
		facts: slices.Concat(r.Facts, r.QuotedInputs, r.UnpricedInputs)}
}

func (in *inputs) fold() {
	if in.foldedTexts != nil {
		return
	}
	in.foldedTexts = []string{""}
	for _, fact := range in.facts {
		for _, s := range sentences(normal(fact)) {
			in.foldedTexts = append(in.foldedTexts, in.own.fold(s))
			in.english1 = append(in.english1, strings.ToLower(s))
		}
	}
}

// assert reports whether an input makes an assertion of a kind.
func (in *inputs) assert(kind string) bool {
	asserted, ok := in.asserted[kind]
	if !ok {
		asserted = in.lookFor(kind)
		in.asserted[kind] = asserted
	}
	return asserted
}

func (in *inputs) lookFor(kind string) bool {
	in.fold()
	says := func(l *lexicon, text string) bool {
		return l.has(text, kind) || kind == "promise" && l.has(text, "promised")
	}
	return slices.ContainsFunc(in.foldedTexts, func(s string) bool { return says(in.own, s) }) ||
		slices.ContainsFunc(in.english1, func(s string) bool {
			if says(in.english, s) {
				return true
			}
			other := tongue(s)
			return other != "" && other != in.own.base && says(lexiconOf(other), lexiconOf(other).fold(s))
		})
}

func (in *inputs) mention(text string) bool {
	in.fold()
	return slices.ContainsFunc(in.foldedTexts, func(s string) bool { return strings.Contains(s, text) })
}

// assertions returns the assertions of an answer that no input makes.
func (r Rules) assertions(answer []Field, known *knownFacts) (found []Finding) {
	in := r.inputs()
	add := func(f Field, what, text string) {
		found = append(found, Finding{Code: Unsupported, Path: f.Path, Kind: what, Text: strings.TrimSpace(text)})
	}
	for _, f := range answer {
		if f.Tag {
			continue
		}
		text := normal(f.Text)
		all := sentences(text)
		for i, sentence := range all {
			folded := in.own.fold(sentence)
			for _, a := range assertions {
				from, to, ok := in.own.place(folded, a.kind)
				next := strings.Join(all[i+1:min(i+2, len(all))], "")
				if !ok || !a.offers && (in.own.asks(sentence, next) || in.own.denied(folded, from, to, a.denies) ||
					a.within && in.own.has(folded[from:to], "not")) ||
					in.assert(a.kind) || a.kind == "deadline" && known.endsOn(r.Now) {
					continue
				}
				add(f, a.name, folded[from:to])
			}
			if from, to, ok := in.own.place(folded, "award"); ok && !in.own.asks(sentence, "") &&
				!in.own.denied(folded, from, to, false) && !in.awarded(folded) {
				add(f, "award", folded[from:to])
			}
			if part, ok := known.weekday(in.own, folded); ok {
				add(f, "weekday", part)
			}
		}
		if part, ok := in.quote(text, known); ok {
			add(f, "quotation", part)
		}
	}
	return found
}

// significant returns the parts of a sentence by which it is compared with another: the beginnings of its longer words,
// and pairs of characters of scripts without spaces.
func (l *lexicon) significant(sentence string) map[string]bool {
	all := map[string]bool{}
	generic := func(word string) bool {
		for _, p := range l.patterns["award"] {
			for _, group := range p {
				for _, one := range group.phrases {
					if one.text == word || one.tail && strings.HasPrefix(word, one.text) {
						return true
					}
				}
			}
		}
		return false
	}
	for word := range strings.FieldsFuncSeq(sentence, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) }) {
		runes := []rune(word)
		if unicode.In(runes[0], unicode.Han, unicode.Katakana, unicode.Hangul) {
			for i := range len(runes) - 1 {
				if unicode.In(runes[i], unicode.Han, unicode.Katakana, unicode.Hangul) {
					all[string(runes[i:i+2])] = true
				}
			}
			continue
		}
		if len(runes) >= 4 && !generic(word) {
			all[string(runes[:min(len(runes), 5)])] = true
		}
	}
	return all
}

// awarded reports whether an input names the award of a sentence: a sentence of the inputs speaks of an award, and has
// some of the significant parts of the sentence. In another language it has none.
func (in *inputs) awarded(sentence string) bool {
	in.readAwards()
	wanted := in.own.significant(sentence)
	return in.foreignAward || slices.ContainsFunc(in.awards, func(has map[string]bool) bool {
		return len(wanted) == 0 || shared(has, wanted)
	})
}

// readAwards finds the sentences that speak of an award, once.
func (in *inputs) readAwards() {
	if in.awards != nil {
		return
	}
	in.fold()
	in.awards = []map[string]bool{}
	for _, s := range in.foldedTexts {
		if in.own.speaksOf(s, "award") {
			in.awards = append(in.awards, in.own.significant(s))
		}
	}
	in.foreignAward = slices.ContainsFunc(in.english1, func(s string) bool {
		return slices.ContainsFunc([]string{tongue(s), "en"}, func(other string) bool {
			l := lexiconOf(other)
			return other != "" && l.base != in.own.base && l.speaksOf(l.fold(s), "award")
		})
	})
}

// speaksOf reports whether a sentence of an input has a word of a kind: one of the first group of its patterns.
func (l *lexicon) speaksOf(sentence, kind string) bool {
	return slices.ContainsFunc(l.patterns[kind], func(p pattern) bool {
		return slices.ContainsFunc(p, func(g group) bool {
			return slices.ContainsFunc(g.phrases, func(one phrase) bool {
				_, _, ok := l.find(sentence, one)
				return ok && utf8.RuneCountInString(one.text) >= leastStem
			})
		})
	})
}

// shared reports whether a sentence has two of the parts that are wanted, or one of a few.
func shared(has, wanted map[string]bool) bool {
	n, least := 0, 2
	for part := range has {
		if wanted[part] {
			n++
		}
	}
	if len(wanted) < 4 {
		least = 1
	}
	return n >= least
}

var (
	// quoted matches a quotation with the marks of any of the languages.
	quoted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`["“„«「『][^"“”„«»「」『』]{4,200}["”“»」』]`)
	})
	// personText matches the names of a person: capital letters begin two words or more.
	personText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\p{Lu}[\p{L}'-]+(?: (?:de |von |van |da |di )?\p{Lu}[\p{L}'-]+)+`)
	})
)

// The lengths of text before and after a quotation in which its author is named, in bytes.
const (
	beforeQuote = 60
	afterQuote  = 110
)

// quote returns a quotation whose author no input names. Proverbs and grandmothers have no name.
func (in *inputs) quote(text string, known *knownFacts) (part string, ok bool) {
	l := in.own
	if len(l.patterns["say"]) == 0 {
		return "", false
	}
	for _, at := range quoted().FindAllStringIndex(text, -1) {
		before := texts.Before(text, at[0], beforeQuote)
		if i := strings.LastIndexAny(before, ".!?\n"); i >= 0 {
			before = before[i+1:]
		}
		after := texts.After(text, at[1], afterQuote)
		if i := strings.IndexAny(after, ".!?\n"); i >= 0 {
			after = after[:i]
		}
		for _, window := range []string{after, before} {
			folded := l.fold(window)
			if !l.has(folded, "say") {
				continue
			}
			title, titled := l.match(folded, "title")
			names := personText().FindString(window)
			quotation := text[at[0]:at[1]]
			switch {
			case l.has(folded, "customer") && !asked(quotation) && !in.mention(l.fold(inner(quotation))) &&
				(names == "" || !known.named(names)):
				return strings.TrimSpace(quotation), true
			case names != "" && !known.named(names):
				return names, true
			case names == "" && titled && !in.mention(title):
				return strings.TrimSpace(window), true
			}
		}
	}
	return "", false
}

// inner returns a quotation without its marks and the sign at its end.
func inner(quotation string) string {
	return strings.Trim(quotation, "\"“”„«»「」『』 .,!…。")
}

// asked reports whether a quotation is a question.
func asked(quotation string) bool {
	last := lastRune(inner(quotation))
	return last == '?' || last == '؟'
}

// named reports whether half of the words of a name are in the inputs.
func (k *knownFacts) named(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !isWord(r) })
	n := 0
	for _, word := range words {
		if k.statements[word] || k.statements[strings.TrimSuffix(word, "s")] {
			n++
		}
	}
	return 2*n >= len(words)
}

var (
	bracesText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{[^{}]{0,60}\}\}|\$\{[^{}]{1,60}\}|%[A-Z]{2,}_?[A-Z]+%`)
	})
	bracketText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[\[<【]([^\[\]<>【】\n]{2,48})[\]>】]`)
	})
)

// The part of a text in which a model presents its answer, and the number of words of a placeholder.
const (
	prefaceAt      = 80
	prefaceTo      = 70
	maxPlaceholder = 5
)

// leaks returns the parts of an answer that are not for readers: placeholders, what a model says about itself or its
// answer, and instructions. They are never right, unless an input has them.
func (r Rules) leaks(answer []Field) (found []Finding) {
	in := r.inputs()
	for _, f := range answer {
		text := normal(f.Text)
		folded := in.own.fold(text)
		part := bracesText().FindString(text)
		if part == "" {
			part = in.placeholder(text)
		}
		for _, l := range []*lexicon{in.own, in.english} {
			if part == "" {
				part = l.leak(folded)
			}
		}
		if part != "" && !in.mention(in.own.fold(part)) {
			found = append(found, Finding{Code: Unfinished, Path: f.Path, Text: part})
		}
	}
	return found
}

// leak returns a part of a text in which a model speaks of itself, or presents its answer.
func (l *lexicon) leak(folded string) string {
	if part, ok := l.match(folded, "leak"); ok {
		return part
	}
	for _, p := range l.patterns["preface"] {
		for _, one := range p[0].phrases {
			from, to, ok := l.find(folded, one)
			if !ok || from > prefaceAt {
				continue
			}
			rest := folded[from:min(len(folded), to+prefaceTo)]
			i := strings.IndexByte(rest, ':')
			if i >= 0 && !strings.ContainsAny(rest[len(one.text):max(i, len(one.text))], ".?") {
				return folded[from:to]
			}
		}
	}
	return ""
}

// placeholder returns a part in brackets that somebody was to fill in.
func (in *inputs) placeholder(text string) string {
	for _, m := range bracketText().FindAllStringSubmatch(text, -1) {
		inner := in.own.fold(m[1])
		if len(strings.Fields(inner)) > maxPlaceholder || strings.Contains(inner, "bio") {
			continue
		}
		for _, l := range []*lexicon{in.own, in.english} {
			if l.has(inner, "placeholder") {
				return m[0]
			}
		}
	}
	return ""
}

// weekdays returns the days of the week that a sentence names, with the places of their names. Inputs may write them
// short, where a word of the same form may stand for something else.
func (l *lexicon) weekdays(sentence string, short bool) (days []dayAt) {
	for day := range 7 {
		for _, kind := range []string{"day", "briefday"} {
			if kind == "briefday" && (!short || len(days) > 0 && days[len(days)-1].day == day) {
				continue
			}
			for _, p := range l.patterns[fmt.Sprint(kind, day)] {
				for _, one := range p[0].phrases {
					if from, to, ok := l.find(sentence, one); ok {
						days = append(days, dayAt{day, from, to})
					}
				}
			}
		}
	}
	slices.SortFunc(days, func(a, b dayAt) int { return a.from - b.from })
	return days
}

// dayAt is a day of the week, from Sunday, and its place in a sentence.
type dayAt struct{ day, from, to int }

// rangeWords are the words and signs between days that are not the two ends of a range.
var rangeWords = []string{",", "、", "・", "and", "und", " y ", " et ", " e ", " и ", " і ", " та ", " i ", " ve ", " و",
	" ו", "और", "和", "와 ", "과 "}

// longestRange is the longest text between the two days of a range, in bytes.
const longestRange = 24

// week adds the days of an input, which may be written short. Monday to Friday are five days.
func (k *knownFacts) week(l *lexicon, text string, short bool) {
	for _, s := range sentences(text) {
		days := l.weekdays(l.fold(s), short)
		for i, d := range days {
			if l.closedOn(l.fold(s), d) {
				continue
			}
			k.days[d.day] = true
			if i+1 == len(days) || days[i+1].from < d.to {
				continue
			}
			between := l.fold(s)[d.to:days[i+1].from]
			if len(between) > longestRange || slices.ContainsFunc(rangeWords, func(w string) bool {
				return strings.Contains(between, w)
			}) {
				continue
			}
			for day := d.day; day != days[i+1].day; day = (day + 1) % 7 {
				k.days[day] = true
			}
		}
	}
}

// shortWeek has the short names of the days of the week in a language, from Sunday, and matches a range and a day of
// opening hours such as Mo-Fr 9-18, Sa 10-14.
type shortWeek struct {
	days        map[string]int
	ranges, day *regexp.Regexp
}

const rangeSigns = "-–—~～〜至到"

var shortWeeks = sync.OnceValue(func() map[string]shortWeek {
	all := map[string]shortWeek{}
	for _, row := range rowsOf("days") {
		days := map[string]int{}
		for i, names := range row[1:] {
			for name := range strings.SplitSeq(names, "|") {
				days[name] = (i + 1) % 7
			}
		}
		names := slices.Sorted(maps.Keys(days))
		slices.Reverse(names) // the longer one of two with the same beginning is first
		day := `(?:^|[^\p{L}])(` + strings.Join(names, "|") + `)\.?`
		all[row[0]] = shortWeek{days, regexp.MustCompile(day + `\s?[` + rangeSigns + `]\s?(` +
			strings.Join(names, "|") + `)(?:[^\p{L}]|$)`), regexp.MustCompile(day + `:?\s?\d`)}
	}
	return all
})

// shortDays adds the days of opening hours with a range of days. An input in some languages may say that it is closed.
func (k *knownFacts) shortDays(languages []string, text string) {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(",;\n，；、،", r) })
	parts = slices.DeleteFunc(parts, func(part string) bool {
		return len(part) > 2*nearDate || !strings.ContainsAny(part, rangeSigns) ||
			slices.ContainsFunc(languages, func(code string) bool {
				return lexiconOf(code).has(lexiconOf(code).fold(part), "closed")
			})
	})
	parts = parts[:min(len(parts), 14)] // as many as two weeks have days
	for _, week := range shortWeeks() {
		used := slices.ContainsFunc(parts, week.ranges.MatchString)
		for i := 0; used && i < len(parts); i++ {
			if m := week.ranges.FindStringSubmatch(parts[i]); m != nil {
				for n := range (week.days[m[2]]-week.days[m[1]]+7)%7 + 1 {
					k.days[(week.days[m[1]]+n)%7] = true
				}
			} else if m := week.day.FindStringSubmatch(parts[i]); m != nil {
				k.days[week.days[m[1]]] = true
			}
		}
	}
}

// weekday returns the day of the week on which a sentence asks people to come, if no input names it: neither itself nor
// by a date.
func (k *knownFacts) weekday(l *lexicon, sentence string) (part string, ok bool) {
	for _, d := range l.weekdays(sentence, false) {
		part := partOf(sentence, d.from, ";；")
		if !l.has(part, "open") || l.has(part, "closed") {
			continue
		}
		if !k.days[d.day] && !k.events[d.day] {
			return sentence[d.from:d.to], true
		}
	}
	return "", false
}

// partOf returns the part of a sentence at an offset, between signs that divide it.
func partOf(sentence string, at int, signs string) string {
	before, after := sentence[:at], sentence[at:]
	if i := strings.LastIndexAny(before, signs); i >= 0 {
		before = strings.TrimLeft(before[i:], signs)
	}
	if i := strings.IndexAny(after, signs); i >= 0 {
		after = after[:i]
	}
	return before + after
}

// closedOn reports whether a sentence of an input says that nothing is open on one of its days.
func (l *lexicon) closedOn(sentence string, d dayAt) bool {
	return l.has(partOf(sentence, d.from, ",;，；、،"), "closed")
}

// happens notes the days of the week on which a date may fall.
func (k *knownFacts) happens(d date) {
	years := []int{d.year}
	if d.year == 0 {
		years = []int{k.now.Year(), k.now.Year() + 1}
	}
	for _, y := range years {
		if d.day > 0 {
			k.events[int(time.Date(y, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Weekday())] = true
		}
	}
}

// endsOn reports whether the inputs have the day of a time, or one date twice: the end of an offer is the day of
// publication then.
func (k *knownFacts) endsOn(now time.Time) bool {
	return k.twice || slices.ContainsFunc(k.dates, func(d date) bool {
		return d.day == now.Day() && d.month == int(now.Month())
	})
}

// nearPrice is the longest text between a price and the word before it, in bytes.
const nearPrice = 14

// nearSecond is the longest text between a former price and the price of now, if that has no word of its own, in bytes.
const nearSecond = 10

// endOf returns the end of a price with its currency.
func (s *scan) endOf(c claim) int {
	if end := c.from + len(c.text); end <= len(s.maskedText) && strings.EqualFold(s.maskedText[c.from:end], c.text) {
		return end
	}
	return c.to
}

// follows reports whether a text begins with a word of a kind, in a language whose words follow.
func (l *lexicon) follows(text, kind string) bool {
	text = strings.TrimLeft(text, " ")
	return strings.Contains("tr hi ja ko", l.base) && slices.ContainsFunc(l.patterns[kind], func(p pattern) bool {
		return slices.ContainsFunc(p[0].phrases, func(one phrase) bool { return strings.HasPrefix(text, one.text) })
	})
}

// swappedPrices returns two prices of which the earlier one is said to be the present one: it was 103, and is now 129.
func (s *scan) swappedPrices() (part string, ok bool) {
	var was, now *claim
	for i, c := range s.claims {
		if c.kind != aPrice || len(c.keys) == 0 {
			continue
		}
		before := texts.Before(s.maskedText, c.from, 2*nearPrice)
		if at := strings.LastIndexAny(before, ".!?\n"); at >= 0 {
			before = before[at+1:]
		}
		before = s.words.fold(before)
		switch after := s.words.fold(texts.After(s.maskedText, s.endOf(c), nearPrice)); {
		case s.words.follows(after, "old"), was == nil && s.words.near(before, "old"):
			was = &s.claims[i]
		case s.words.near(before, "new"):
			now = &s.claims[i]
		}
	}
	for i, c := range s.claims {
		if was != nil && now == nil && c.kind == aPrice && len(c.keys) > 0 && c.from > was.from &&
			c.from-s.endOf(*was) <= nearSecond {
			now = &s.claims[i] // it has no word of its own in 通常1,290円が1,032円
		}
	}
	if was == nil || now == nil {
		return "", false
	}
	a, currencyA := priceOf(was.keys[0])
	b, currencyB := priceOf(now.keys[0])
	if currencyA != currencyB || a >= b || len(was.keys) > 1 && len(now.keys) != len(was.keys) {
		return "", false
	}
	return was.text + " and " + now.text, true
}

// near reports whether a text ends with a phrase of a kind, and little after it.
func (l *lexicon) near(text, kind string) bool {
	for _, p := range l.patterns[kind] {
		for _, one := range p[0].phrases {
			if i := strings.LastIndex(text, one.text); i >= 0 && len(text)-i-len(one.text) <= nearPrice/2 &&
				l.begins(text, i) && l.ends(text, i+len(one.text)) {
				return true
			}
		}
	}
	return false
}

func priceOf(key string) (amount int64, currency string) {
	_, _ = fmt.Sscanf(key, "%s %d", &currency, &amount)
	return amount, currency
}

// hashtag returns a reduction that a hashtag states and no input has, such as #sale70.
func (k *knownFacts) hashtag(l *lexicon, tag string) (part string, ok bool) {
	text := l.eastern(l.fold(normal(strings.TrimPrefix(tag, "#"))), true)
	plain := strings.ReplaceAll(text, "_", "")
	for _, p := range l.patterns["half"] {
		for _, one := range p[0].phrases {
			if strings.Contains(plain, strings.ReplaceAll(one.text, " ", "")) {
				return tag, !k.keys[aPercentage]["% 50"]
			}
		}
	}
	for _, at := range figureText().FindAllStringIndex(plain, -1) {
		v := valuesOf(plain[at[0]:at[1]])
		if len(v) == 0 || v[0] >= 100 || v[0] < 1 || k.keys[aPercentage][fmt.Sprintf("%% %.6g", v[0])] {
			continue
		}
		before, after := plain[:at[0]], plain[at[1]:]
		if strings.HasPrefix(after, "%") || slices.ContainsFunc(l.dealWords(), func(w string) bool {
			return strings.HasPrefix(after, w) || w != "off" && len(w) > 3 && strings.HasSuffix(before, w) ||
				after == "" && l.spaceless() && strings.HasSuffix(before, w)
		}) {
			return tag, true
		}
	}
	return "", false
}

// dealWords are the words for a lower price, and for a part of a hundred.
func (l *lexicon) dealWords() (all []string) {
	for _, from := range []*lexicon{l, lexiconOf("en")} {
		for _, p := range from.patterns["deal"] {
			for _, one := range p[0].phrases {
				all = append(all, strings.ReplaceAll(one.text, " ", ""))
			}
		}
	}
	return all
}
