package guard

import (
	"cmp"
	"embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// wordLists has a list of words for each language. It is read when a text in the language is first checked.
//
//go:embed words
var wordLists embed.FS

// lexicon has the words of a language by which the guards know numbers and assertions.
type lexicon struct {
	base string
	// numbers are the values of number words. joined reports that they are written as one word, such as einundzwanzig.
	numbers lookup[float64]
	joined  bool
	join    map[string]bool // the words between two parts of a number
	clocks  []clockForm
	// fractions are the words for parts of a hundred.
	fractions []fraction
	patterns  map[string][]pattern
}

// clockForm is a way to say a time of day in words: the hour stands for @, and the minutes are added to it.
type clockForm struct {
	before, after string
	minutes       int
}

// fraction is a phrase for a part of all, such as two thirds.
type fraction struct {
	percent float64
	phrase  phrase
}

// pattern is an assertion: each group has a phrase that is in the sentence.
type pattern []group

// group is phrases of which one must be in the sentence: anywhere, or near after that of the group before it.
type group struct {
	phrases []phrase
	near    bool
}

// phrase is text in a sentence. Its first and last words are whole unless head or tail is true. A # is any number.
type phrase struct {
	text       string
	head, tail bool
	number     bool
}

var lexicons sync.Map

// lexiconOf returns the words of a language, or an empty lexicon if there is no list for it.
func lexiconOf(code string) *lexicon {
	base := ""
	if tag, err := language.Parse(code); err == nil {
		b, _, _ := tag.Raw()
		base = b.String()
	}
	if l, ok := lexicons.Load(base); ok {
		return l.(*lexicon)
	}
	raw, err := wordLists.ReadFile("words/" + listed(base) + ".txt")
	if err != nil {
		raw = nil
	}
	l, _ := lexicons.LoadOrStore(base, newLexicon(base, string(raw)))
	return l.(*lexicon)
}

func newLexicon(base, raw string) *lexicon {
	l := &lexicon{base: base, joined: base == "de" || base == "it" || base == "tr", join: map[string]bool{},
		patterns: map[string][]pattern{}}
	numbers := table[float64]{}
	for line := range strings.Lines(raw) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "number":
			value, words, _ := strings.Cut(rest, " ")
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				numbers[v] += " " + l.fold(words)
			}
		case "join":
			l.join[rest] = true
		case "clock":
			minutes, form, _ := strings.Cut(rest, " ")
			before, after, _ := strings.Cut(l.fold(form), "@")
			l.clocks = append(l.clocks, clockForm{before, after, atoi(minutes)})
		case "fraction":
			percent, phrases, _ := strings.Cut(rest, " ")
			v, err := strconv.ParseFloat(percent, 64)
			if err != nil {
				panic(err) // it is a part of the program
			}
			for _, g := range l.pattern(phrases) {
				for _, one := range g.phrases {
					l.fractions = append(l.fractions, fraction{v, one})
				}
			}
		case "":
		default:
			l.patterns[name] = append(l.patterns[name], l.pattern(rest))
		}
	}
	l.numbers = numbers.index()
	return l
}

func (l *lexicon) pattern(text string) (p pattern) {
	for _, part := range strings.Split(text, " & ") {
		for k, near := range strings.Split(part, " > ") {
			g := group{near: k > 0}
			for alternative := range strings.SplitSeq(near, "|") {
				one := phrase{text: strings.TrimSpace(alternative), number: strings.TrimSpace(alternative) == "#"}
				one.text, one.head = strings.CutPrefix(one.text, "*")
				one.text, one.tail = strings.CutSuffix(one.text, "*")
				one.text = l.fold(normal(one.text))
				g.phrases = append(g.phrases, one)
			}
			p = append(p, g)
		}
	}
	return p
}

// fold returns a text in lower case as the words of a language are compared: without the signs for vowels of Arabic
// and Hebrew, and with one form of each letter.
func (l *lexicon) fold(text string) string {
	if l.base == "tr" || l.base == "az" {
		text = strings.ToLowerSpecial(unicode.TurkishCase, text)
	}
	text = strings.ToLower(text)
	if l.base != "ar" && l.base != "fa" && l.base != "he" {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x064b && r <= 0x0652, r == 'ـ', r >= 0x0591 && r <= 0x05c7 && r != '־':
			return -1
		case r == 'أ' || r == 'إ' || r == 'آ':
			return 'ا'
		}
		return r
	}, text)
}

// find returns the place of a phrase in a folded text.
func (l *lexicon) find(text string, p phrase) (from, to int, ok bool) { return l.findAfter(text, p, 0) }

// findAfter returns the place of a phrase in a folded text, from an offset.
func (l *lexicon) findAfter(text string, p phrase, at int) (from, to int, ok bool) {
	if p.number {
		from, to, ok = l.findNumber(text[at:])
		return from + at, to + at, ok
	}
	for p.text != "" {
		i := strings.Index(text[at:], p.text)
		if i < 0 {
			return 0, 0, false
		}
		from, to = at+i, at+i+len(p.text)
		if (p.head || l.begins(text, from)) && (p.tail || l.ends(text, to)) {
			return from, to, true
		}
		_, size := utf8.DecodeRuneInString(text[from:])
		at = from + size
	}
	return 0, 0, false
}

// findNumber returns the place of the first number of a text.
func (l *lexicon) findNumber(text string) (from, to int, ok bool) {
	if at := strings.IndexAny(text, "0123456789"); at >= 0 {
		return at, at + 1, true
	}
	for _, at := range wordText().FindAllStringIndex(text, -1) {
		if v, ok := l.value(text[at[0]:at[1]]); ok && v > 1 {
			return at[0], at[1], true
		}
	}
	if at := strings.IndexAny(text, hanDigits); at >= 0 && l.spaceless() {
		return at, at + len("一"), true
	}
	return 0, 0, false
}

// spaceless reports whether words of the language have no spaces between them.
func (l *lexicon) spaceless() bool { return l.base == "ja" || l.base == "zh" || l.base == "th" }

// prefixes are the letters that may be written before a word, such as for and and the article.
var prefixes = map[string]string{"ar": "والبفكلس", "he": "ובהלמשכ"}

// longestPrefix is the number of letters that may be written before a word.
const longestPrefix = 3

// leading are the vowels of Thai that are written before the consonant after which they are spoken: no word begins
// there. The word for closed is that for open without the first one.
const leading = "เแโใไ"

// begins reports whether a word begins at an offset.
func (l *lexicon) begins(text string, at int) bool {
	if l.spaceless() {
		r, _ := utf8.DecodeLastRuneInString(text[:at])
		return !strings.ContainsRune(leading, r)
	}
	for range longestPrefix + 1 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if size == 0 || !isLetter(r) {
			return true
		}
		if !strings.ContainsRune(prefixes[l.base], r) {
			return false
		}
		at -= size
	}
	return false
}

// ends reports whether a word ends at an offset. Particles follow Korean words.
func (l *lexicon) ends(text string, at int) bool {
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	next, size := utf8.DecodeRuneInString(text[at:])
	return size == 0 || l.spaceless() || l.base == "ko" || !isLetter(last) && !unicode.IsDigit(last) ||
		!isLetter(next) &&
			!(unicode.IsDigit(last) && unicode.IsDigit(next))
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// match returns the part of a sentence that has a pattern of a kind, from the first of its phrases to the last one.
func (l *lexicon) match(sentence, kind string) (part string, ok bool) {
	from, to, ok := l.place(sentence, kind)
	return sentence[from:to], ok
}

// place returns where a sentence has a pattern of a kind.
func (l *lexicon) place(sentence, kind string) (from, to int, ok bool) {
	for _, p := range l.patterns[kind] {
		if len(p) > 2 && !l.hasAll(sentence, p) {
			continue // without a look at each place of its first groups
		}
		if from, to, ok = l.placeOf(sentence, p, -1, -1, 0); ok {
			return from, to, true
		}
	}
	return 0, 0, false
}

// hasAll reports whether a sentence has a phrase of each group, wherever it is.
func (l *lexicon) hasAll(sentence string, groups []group) bool {
	for _, g := range groups {
		if !slices.ContainsFunc(g.phrases, func(one phrase) bool {
			_, _, ok := l.find(sentence, one)
			return ok
		}) {
			return false
		}
	}
	return true
}

// nearWords is the longest text between a phrase and one that is near after it, in bytes.
const nearWords = 28

// placeOf returns the place of the groups of a pattern, of which those before are found between two offsets.
func (l *lexicon) placeOf(sentence string, p pattern, first, last, at int) (from, to int, ok bool) {
	if len(p) == 0 {
		return first, last, true
	}
	followed := len(p) > 1 && p[1].near
	for _, one := range p[0].phrases {
		text := sentence
		if p[0].near {
			text = sentence[:min(len(sentence), at+nearWords+len(one.text)+utf8.UTFMax)]
		}
		for begin := at; ; {
			from, to, ok := l.findAfter(text, one, begin)
			if !ok || p[0].near && from-at > nearWords {
				break
			}
			next, begins, ends := 0, min(first, from), max(last, to)
			if first < 0 {
				begins = from
			}
			if followed {
				next = to
			}
			if from, to, ok := l.placeOf(sentence, p[1:], begins, ends, next); ok {
				return from, to, true
			}
			if !followed || one.number {
				break
			}
			_, size := utf8.DecodeRuneInString(sentence[from:])
			begin = from + size
		}
	}
	return 0, 0, false
}

// has reports whether a sentence has a pattern of a kind.
func (l *lexicon) has(sentence, kind string) bool {
	_, ok := l.match(sentence, kind)
	return ok
}

// sentences divides a text at the signs that end a sentence, and at lines.
func sentences(text string) (all []string) {
	from := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		next, _ := utf8.DecodeRuneInString(text[min(end, len(text)):])
		switch r {
		case '\n', '。', '！', '？', '؟', '।', '…':
		case '.', '!', '?':
			if end < len(text) && !unicode.IsSpace(next) {
				continue
			}
		default:
			continue
		}
		all, from = append(all, text[from:end]), end
	}
	return append(all, text[from:])
}

// vulgar are the characters of fractions with their decimals: 1½ is 1.5.
var vulgar = map[rune]string{'½': ".5", '⅓': ".33", '⅔': ".67", '¼': ".25", '¾': ".75", '⅕': ".2", '⅛': ".125"}

// normal returns a text in one form: compatibility characters such as full-width ones are replaced, invisible ones and
// the frames of keys such as 5️⃣ are removed, and digits, spaces and dashes of all scripts become those of ASCII.
func normal(text string) string {
	text = decimal(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r < unicode.MaxASCII:
			return r
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Me, r):
			return -1
		case unicode.Is(unicode.Nd, r):
			return '0' + digit(r)
		case unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.Is(unicode.Pd, r), r == '−':
			return '-'
		case r == '٫':
			return '.'
		case r == '٬', r == '’', r == 'ʼ':
			return '\''
		case r == '٪':
			return '%'
		}
		return r
	}, norm.NFKC.String(text))
}

// decimal writes the characters of fractions as decimals.
func decimal(text string) string {
	var b strings.Builder
	from, whole := 0, false // of the text that is not written, and whether a whole number is before the fraction
	for i, r := range text {
		v, ok := vulgar[r]
		if !ok {
			whole = r >= '0' && r <= '9'
			continue
		}
		b.WriteString(text[from:i])
		if !whole {
			b.WriteByte('0')
		}
		b.WriteString(v)
		from, whole = i+utf8.RuneLen(r), true
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// digit returns the value of a decimal digit: the digits of a script are in a row from zero.
func digit(r rune) rune {
	for zero := r; ; zero-- {
		if !unicode.Is(unicode.Nd, zero-1) || r-zero == 9 {
			return (r - zero) % 10
		}
	}
}

// confusable has letters of Cyrillic and Greek that look like Latin ones.
var confusable = strings.NewReplacer("а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i",
	"ѕ", "s", "ј", "j", "к", "k", "м", "m", "т", "t", "в", "b", "н", "h", "ο", "o", "α", "a", "ε", "e", "ι", "i")

// plainWord returns a word in lower case, with ё as е. A word that mixes Latin letters with look-alikes is Latin.
func plainWord(word string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "ё", "е")
	latin, other := false, false
	for _, r := range word {
		if unicode.IsLetter(r) {
			latin, other = latin || unicode.Is(unicode.Latin, r), other || !unicode.Is(unicode.Latin, r)
		}
	}
	if latin && other {
		return confusable.Replace(word)
	}
	return word
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
}

// inflections are the endings that the forms of one word may differ by. The stem of a word is what is left without its
// first ending that fits, as long as three letters stay.
var inflections = sync.OnceValue(func() map[string]string { return textsIn("endings") })

// beginnings are what a form of a word may have before it.
var beginnings = map[string]string{"id": "ter se", "ms": "ter se"}

// relatives are languages whose words have the endings of a listed one.
var relatives = map[string]string{"no": "nb", "nn": "nb", "sr": "hr", "bs": "hr", "gl": "pt"}

// suffixes are the endings that may follow one another in Turkish.
var suffixes = strings.Fields("lar ler lık lik luk lük ın in un ün nın nin nun nün ım im um üm ı i u ü a e yı " +
	"yi yu yü ya ye nı ni " +
	"nu nü na ne sı si su sü da de ta te dan den tan ten nda nde ndan nden dır dir dur dür tır tir tur tür ca " +
	"ce ça çe la le yla yle ki dı di du dü tı ti tu tü mış miş muş müş sa se")

// particles may follow a Korean word without a space between them.
var particles = strings.Fields("은 는 이 가 을 를 의 에 에서 에게 로 으로 와 과 도 만 보다 까지 부터 라고 이라고 이나 나 처럼 입니다 이에요 예요")

// sameWord reports whether a word of a text is the forbidden one or a form of it. Both are plain.
func (l *lexicon) sameWord(word, forbidden string) bool {
	if word == forbidden {
		return true
	}
	if unicode.Is(unicode.Cyrillic, first(forbidden)) {
		if stem(word) == stem(forbidden) || stem(strings.TrimSuffix(word, "ле")) == stem(forbidden) {
			return true
		}
	}
	word, forbidden = l.fold(word), l.fold(forbidden)
	switch l.base {
	case "tr":
		rest, ok := strings.CutPrefix(word, forbidden)
		return ok && agglutinated(rest)
	case "ko":
		if rest, ok := strings.CutPrefix(word, forbidden); ok && slices.Contains(particles, rest) {
			return true
		}
	case "ar":
		word, forbidden = strings.ReplaceAll(word, "ى", "ي"), strings.ReplaceAll(forbidden, "ى", "ي")
		word = cutPrefixes(word, "وال فال بال كال ال لل و ف ب ل ك")
	case "he":
		word = cutPrefixes(word, "שה מה וה בה לה ה ו ב ל מ ש כ")
	case "pl":
		word, forbidden = polish.Replace(word), polish.Replace(forbidden)
	}
	base := cmp.Or(relatives[l.base], l.base)
	word = cutPrefixes(word, beginnings[base])
	if base == "nl" {
		word, forbidden = single(word), single(forbidden)
	}
	endings := strings.Fields(inflections()[base])
	return len(endings) > 0 && (inflected(word, forbidden, endings) || l.base == "fr" &&
		inflected(word, strings.TrimSuffix(forbidden, "er"), []string{"ère", "ères"}) &&
		strings.HasSuffix(forbidden, "er"))
}

// single writes each double letter once: those of Dutch words come and go with their endings.
func single(word string) string {
	return strings.Map(func() func(r rune) rune {
		last := rune(0)
		return func(r rune) rune {
			if r == last {
				return -1
			}
			last = r
			return r
		}
	}(), word)
}

// polish writes a letter that changes before an ending without its sign.
var polish = strings.NewReplacer("ń", "n", "ś", "s", "ź", "z", "ć", "c")

func first(word string) rune {
	r, _ := utf8.DecodeRuneInString(word)
	return r
}

// inflected reports whether a word is the stem of the forbidden one with another ending or none.
func inflected(word, forbidden string, endings []string) bool {
	for _, base := range append([]string{""}, endings...) {
		stem, ok := strings.CutSuffix(forbidden, base)
		if !ok || utf8.RuneCountInString(stem) < leastStem {
			continue
		}
		if rest, ok := strings.CutPrefix(word, stem); ok && (rest == "" || slices.Contains(endings, rest)) {
			return true
		}
	}
	return false
}

// cutPrefixes returns a word without the first of the prefixes that it has, as long as three letters stay.
func cutPrefixes(word, prefixes string) string {
	for prefix := range strings.FieldsSeq(prefixes) {
		if rest, ok := strings.CutPrefix(word, prefix); ok && utf8.RuneCountInString(rest) >= leastStem {
			return rest
		}
	}
	return word
}

// agglutinated reports whether a text is a row of Turkish endings.
func agglutinated(rest string) bool {
	ends := make([]bool, len(rest)+1) // the places where a row of endings ends
	ends[0] = true
	for at := range rest {
		for _, s := range suffixes {
			if ends[at] && strings.HasPrefix(rest[at:], s) {
				ends[at+len(s)] = true
			}
		}
	}
	return ends[len(rest)]
}

var (
	mailText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[\p{L}\d._%+-]+(?:@|\s?(?:\(at\)|\[at\])\s?)[\p{L}\d-]+(?:\.[\p{L}\d-]+)+`)
	})
	handleText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`@[\p{L}\d_][\p{L}\d_.]*[\p{L}\d_]`)
	})
	// spelledDomain matches a domain whose point is a word.
	spelledDomain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)([\p{L}\d-]{3,})\sdot\s(shop|store|online|net|org|io)\b`)
	})
	// hiddenPoint matches a point in brackets, by which an address is hidden.
	hiddenPoint = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`([\p{L}\d])(?:\[\.\]|\(\.\))([\p{L}\d])`)
	})
	phoneText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\+?\(?\d(?:[ ().\-/]{0,3}\d){6,17}`)
	})
)

// addressOf returns the canonical form of a link: its host and path.
func addressOf(link string) string {
	address := strings.ToLower(strings.TrimRight(link, "*_"))
	for _, prefix := range []string{"https://", "http://", "www."} {
		address = strings.TrimPrefix(address, prefix)
	}
	host, path, _ := strings.Cut(address, "/")
	if path = strings.TrimRight(path, "/"); path != "" {
		return host + "/" + path
	}
	return host
}

// covered returns the addresses that an address of an input supports: itself, its host, and the domains of that.
func covered(address string) []string {
	host, _, _ := strings.Cut(address, "/")
	all := []string{address, host}
	for domain, ok := host, true; ok; {
		if _, domain, ok = strings.Cut(domain, "."); ok {
			all = append(all, domain)
		}
	}
	return all
}

// The numbers of digits of a telephone number, and of the part that identifies it whatever the prefix for the country.
const (
	leastPhone = 7
	samePhone  = 7
)

// phoneOf returns the digits of a telephone number, or false if the digits are another number.
func phoneOf(text string) (digits string, ok bool) {
	digits = strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, strings.Replace(text, "(0)", "", 1)) // as in +49 (0)30
	international := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "00")
	if len(digits) < leastPhone || !international && grouped(text) {
		return "", false
	}
	if len(digits) == len("88005553535") && digits[0] == '8' { // the prefix inside Russia
		digits = digits[1:]
	}
	return strings.TrimLeft(digits, "0"), true
}

// grouped reports whether digits are a number in groups of thousands, or a plain number.
func grouped(text string) bool {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(groups) == 1 {
		return !strings.HasPrefix(text, "0") && len(text) < 10
	}
	for _, g := range groups[1:] {
		if len(g) != 3 {
			return false
		}
	}
	return len(groups[0]) < 3 || groups[len(groups)-1] == "000"
}

// lastDigits returns the digits that identify a telephone number.
func lastDigits(phone string) (last string, ok bool) {
	if len(phone) < samePhone {
		return "", false
	}
	return phone[len(phone)-samePhone:], true
}

// samePhones reports whether a number is another one without its prefix.
func samePhones(a, b string) bool { return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) }

// tongues are the languages of scripts that one of the languages of the guards has alone.
var tongues = []struct {
	table *unicode.RangeTable
	code  string
}{
	{unicode.Hiragana, "ja"}, {unicode.Katakana, "ja"}, {unicode.Hangul, "ko"}, {unicode.Han, "zh"},
	{unicode.Thai, "th"},
	{unicode.Hebrew, "he"}, {unicode.Arabic, "ar"}, {unicode.Devanagari, "hi"},
}

// tongue returns the language of an input, as far as the guards have words for it, or nothing.
func tongue(text string) string {
	for _, t := range tongues {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(t.table, r) }) {
			return t.code
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) {
		if strings.ContainsAny(strings.ToLower(text), "іїєґ") {
			return "uk"
		}
		return "ru"
	}
	lower := strings.ToLower(text)
	if strings.ContainsAny(lower, "ơưđạảấầẩậắằẵặẹẻẽếềểễệịỉọỏốồổỗộớờởợụủứừửữựỳỷỹ") {
		return "vi"
	}
	if strings.Contains(lower, "%") && percentBefore().MatchString(lower) {
		return "tr"
	}
	best, all := "", frequent(lower)
	for _, code := range latin {
		if all[code] > all[best] {
			best = code
		}
	}
	return best
}

// latin are the languages in Latin letters with words for the guards: first those of which they know most.
var latin = strings.Fields("de en es fr it pl pt tr cs da fi hu id nb nl ro sv")

// frequent returns the number of frequent words of each language with words for the guards in a text of Latin letters.
// A language without one of its letters is left out.
func frequent(text string) map[string]int {
	all := map[string]int{}
	codes := slices.DeleteFunc(slices.Clone(latin), func(code string) bool {
		return strings.ContainsFunc(text, func(r rune) bool {
			return r > 'z' && unicode.Is(unicode.Latin, r) && !strings.ContainsRune(alphabets()[code], r)
		})
	})
	for _, code := range codes {
		if l := lexiconOf(code); l.has(l.fold(text), "warranty") {
			all[code]++
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, code := range codes {
			if common()[code][word] {
				all[code]++
			}
		}
	}
	return all
}
