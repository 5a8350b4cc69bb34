// Package guard checks the answers of text models in code: what they claim, which words they use, their language, their
// length, and whether they repeat earlier texts of the channel. It does not rely on the instructions of a prompt.
//
// A claim is an address, an e-mail address, a telephone number, the name of an account, a price, a percentage, a date,
// a time of day, a quantity with a unit or a promotional code. Each claim of an answer must be in one of the inputs.
// The forms may differ: 1,500 g is 1.5 kg, and 23 November is 23.11.
//
// Its patterns are compiled when they are first used. Before main, they would lengthen each start of a function by more
// than a millisecond. Check finds what is wrong in the texts of an item.
package guard

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/money"
)

// Code is the reason for which an answer is refused. It is the code of the failure that callers see.
type Code string

// The codes.
const (
	Unfinished  Code = "unfinished_text"
	Unsupported Code = "unsupported_claim"
	Forbidden   Code = "forbidden_word"
	Language    Code = "wrong_language"
	TooLong     Code = "text_too_long"
	Repetitive  Code = "repetitive"
	Flagged     Code = "flagged"
)

// Codes returns all codes, the most serious first. An answer with several findings fails with the first of their codes.
func Codes() []Code {
	return []Code{Flagged, Unfinished, Unsupported, Forbidden, Language, TooLong, Repetitive}
}

// Field is a text of an answer.
type Field struct {
	Path string // a JSON pointer into the item, such as /caption
	Text string
	// Tag reports that the text is a hashtag, which states nothing but a reduction.
	Tag bool
}

// Limit is the longest text that a target takes.
type Limit struct {
	Path   string
	Text   platform.Text
	Target string // such as Telegram
}

// Rules are what an answer may draw on, and what it must comply with.
type Rules struct {
	Language string // BCP 47
	// Facts are the inputs: the caller's texts, the profile of the channel, the product and the plan.
	Facts []string
	// Names are those of the brand and of the product. A word of the answer that is nearly one of them is wrong.
	Names []string
	// QuotedInputs are inputs of strangers, such as articles of a feed. An answer may state none of the addresses,
	// accounts, codes and telephone numbers that only they have.
	QuotedInputs []string
	// UnpricedInputs are inputs whose prices the answer may not state.
	UnpricedInputs []string
	// Prices are amounts that the answer may state although no input has them in words, such as a reduced price.
	Prices []money.Price
	// Now is the time of the answer: its year, and the next one, need no input.
	Now time.Time
	// Forbidden are words and phrases that the channel never uses.
	Forbidden []string
	// Competitors are names that the channel never says.
	Competitors []string
	Limits      []Limit
	// Past are the channel's latest texts.
	Past []Past
	// NeedsSource reports that the answer must name the source of what it states, and Sources is the number of those
	// that it names.
	NeedsSource bool
	Sources     int
}

// Finding is one reason to refuse an answer.
type Finding struct {
	Code Code
	Path string // of the text, empty if all texts together are meant
	// Kind names the kind of a claim, such as price, or says what is wrong.
	Kind string
	// Text is the part of the answer that is refused.
	Text string
}

// Decidable reports whether a person can decide that the text is right after all: a claim may be true, and a forbidden
// word may be meant in its other sense.
func (f Finding) Decidable() bool {
	return f.Code == Unsupported && f.Text != "" || f.Code == Forbidden
}

// maxShown is the longest part of an answer that a message quotes, in characters.
const maxShown = 80

// String describes the finding to the writer and to callers.
func (f Finding) String() string {
	in := ""
	if f.Path != "" {
		in = " in " + f.Path
	}
	text := []rune(f.Text)
	if len(text) > maxShown {
		text = append(text[:maxShown], '…')
	}
	switch shown := string(text); f.Code {
	case Unsupported:
		if shown == "" {
			return f.Kind
		}
		return fmt.Sprintf("the %s %q%s is in none of the inputs", f.Kind, shown, in)
	case Unfinished:
		return fmt.Sprintf("%q%s is not for readers", shown, in)
	case Forbidden:
		if f.Kind != "" {
			return fmt.Sprintf("%q%s is a %s", shown, in, f.Kind)
		}
		return fmt.Sprintf("%q%s is one of the forbidden words", shown, in)
	case Repetitive:
		return fmt.Sprintf("the text nearly repeats that of %s", shown)
	default:
		return strings.TrimSpace("the text" + in + " " + f.Kind)
	}
}

// Check returns the reasons to refuse an answer, the most serious first, or nil if it is good.
func Check(answer []Field, r Rules) []Finding {
	known := newKnownFacts(r)
	found := slices.Concat(r.leaks(answer), r.claims(answer, known), r.assertions(answer, known), r.forbidden(answer),
		r.language(answer), r.lengths(answer), r.repeats(answer))
	slices.SortStableFunc(found, func(a, b Finding) int {
		return slices.Index(Codes(), a.Code) - slices.Index(Codes(), b.Code)
	})
	return found
}

// claims returns the claims of an answer that none of the inputs supports.
func (r Rules) claims(answer []Field, known *knownFacts) (found []Finding) {
	words := lexiconOf(r.Language)
	proper := newNames(r)
	for _, f := range answer {
		add := func(what, text string) {
			found = append(found, Finding{Code: Unsupported, Path: f.Path, Kind: what, Text: text})
		}
		if f.Tag {
			if part, ok := known.hashtag(words, f.Text); ok {
				add("hashtag", part)
			}
			continue
		}
		s := scanOf(f.Text, r.Language, true)
		for _, c := range s.claims {
			if !known.supports(c) {
				add(c.kind.String(), c.text)
			}
		}
		for _, tag := range s.tags {
			if part, ok := known.hashtag(words, tag); ok {
				add("hashtag", part)
			}
		}
		if part, ok := s.swappedPrices(); ok {
			add("order of the prices", part)
		}
		if part, ok := proper.slip(words, known, f.Text); ok {
			add("name", part)
		}
		if part, ok := known.disagree(s); ok {
			add("weekday of the date", part)
		}
	}
	if r.NeedsSource && r.Sources == 0 {
		found = append(found, Finding{Code: Unsupported, Kind: "the text names none of the sources that it quotes"})
	}
	return found
}

// lengths returns the texts that are longer than a target takes.
func (r Rules) lengths(answer []Field) (found []Finding) {
	for _, f := range answer {
		for _, l := range r.Limits {
			if n := l.Text.Unit.Length(f.Text); l.Path == f.Path && l.Text.Max > 0 && n > l.Text.Max {
				found = append(found, Finding{Code: TooLong, Path: f.Path, Text: f.Text, Kind: fmt.Sprintf(
					"is %d %s long, and %s takes %d", n, l.Text.Unit.Name(), l.Target, l.Text.Max)})
				break
			}
		}
	}
	return found
}

// maxReasons bounds the findings that a message lists.
const maxReasons = 5

// ListFindings returns what the first findings say, each once.
func ListFindings(found []Finding) (all []string) {
	for _, f := range found {
		if s := f.String(); !slices.Contains(all, s) && len(all) < maxReasons {
			all = append(all, s)
		}
	}
	return all
}

// Reasons lists findings in one sentence without its end, each once.
func Reasons(found []Finding) string { return strings.Join(ListFindings(found), "; ") }

// common are frequent words of languages that share a script. A word may be in several lists.
var common = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, row := range rowsOf("common") {
		tag, words := row[0], row[1]
		all[tag] = map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			all[tag][word] = true
		}
	}
	return all
})

// scripts are the tables of letters for scripts that have several.
var scripts = map[string][]string{"Jpan": {"Han", "Hiragana", "Katakana"}, "Kore": {"Hangul", "Han"}, "Hans": {"Han"},
	"Hant": {"Han"}, "Latn": {"Latin"}, "Cyrl": {"Cyrillic"}, "Arab": {"Arabic"}, "Hebr": {"Hebrew"},
	"Deva": {"Devanagari"}, "Grek": {"Greek"}, "Thai": {"Thai"}, "Geor": {"Georgian"}, "Armn": {"Armenian"},
	"Beng": {"Bengali"}, "Taml": {"Tamil"}, "Telu": {"Telugu"}, "Ethi": {"Ethiopic"}, "Khmr": {"Khmer"},
	"Laoo": {"Lao"}, "Mymr": {"Myanmar"}, "Sinh": {"Sinhala"}, "Gujr": {"Gujarati"}, "Guru": {"Gurmukhi"},
	"Knda": {"Kannada"}, "Mlym": {"Malayalam"}}

// The least texts whose language is judged: the number of letters for the script, and the number of frequent words of
// another language.
const (
	leastLetters = 30
	leastCommon  = 5
	// leastAlone is the number of frequent words of another language in a text that has none of its own.
	leastAlone = 3
)

// language returns a finding if an answer is in another script or language. Names may be in any.
func (r Rules) language(answer []Field) []Finding {
	tag, err := language.Parse(r.Language)
	if err != nil {
		return nil
	}
	var all []string
	for _, f := range answer {
		if f.Tag {
			continue
		}
		all = append(all, f.Text)
		if found := r.languageOf(tag, f.Path, f.Text); found != nil {
			return found
		}
	}
	return r.languageOf(tag, "", strings.Join(all, "\n"))
}

func (r Rules) languageOf(tag language.Tag, path, text string) []Finding {
	text = bare(normal(text))
	script, _ := tag.Script()
	base, _ := tag.Base()
	code := base.String()
	if code == "sr" && script.String() == "Latn" {
		code = "hr" // whose list is in Latin letters
	}
	own, letters := share(text, scripts[script.String()])
	if script.String() != "Latn" && own >= leastOwn {
		own, letters = share(untitled(text), scripts[script.String()])
	}
	if letters >= leastLetters && 3*own < letters {
		return []Finding{{Language, path, "is not in the script of the language " + r.Language, text}}
	}
	if foreignLetters(code, text) || isUnmarked(code, text) || foreignAlphabet(code, text) || otherWords(code, text) ||
		neighbour(code, text) || otherHan(tag, text) ||
		strings.ContainsAny(text, "¿¡") && !strings.Contains(invertedMarks, code) {
		return []Finding{{Language, path, "is not in the language " + r.Language, text}}
	}
	return nil
}

// invertedMarks are the languages with ¿ and ¡.
const invertedMarks = "es gl ca eu ast an tl fil"

// leastOwn is the number of letters of the language's own script from which names in Latin letters do not count.
const leastOwn = 6

// titleText matches Latin words that begin with a capital letter, as names do.
var titleText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Lu}[\p{Latin}\d'’.&-]*`) })

// untitled returns a text without Latin words that begin with a capital letter.
func untitled(text string) string { return titleText().ReplaceAllString(text, " ") }

// neighbours are languages with many common words, and the letters by which each differs from the others.
var neighbours = []map[string]string{
	{"nb": "", "da": "", "sv": "äö"},
	{"cs": "ěřů", "sk": "ľĺŕôä", "pl": "łąęńśżźć"},
	{"hr": "ćđ", "sl": ""},
	{"es": "ñ¿¡", "pt": "ãõçâêô", "gl": "ñ"},
	{"id": "", "ms": ""},
	{"ru": "ыэъё", "uk": "іїєґ", "bg": "", "be": "ўіыэё", "mk": "ќѓѕј", "sr": "ђјљњћџ"},
	{"fi": "", "et": "õü"},
}

// leastNear is the number of words from which a text is in a language near to its own.
const leastNear = 2

// neighbour reports whether a text is in a language that is near to its own: it has words or letters that only the
// other one of the two has, and few of its own.
func neighbour(base, text string) bool {
	base = listed(base)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune("'¿¡", r)
	})
	for _, group := range neighbours {
		if _, ok := group[base]; !ok {
			continue
		}
		for other := range group {
			if other == base {
				continue
			}
			theirs, ours := 0, 0
			for _, word := range words {
				plain := strings.Trim(word, "¿¡")
				a, b := common()[base][plain], common()[other][plain]
				marked := strings.ContainsAny(word, without(group[other], group[base]+alphabets()[base]))
				switch mine := strings.ContainsAny(word, without(group[base], group[other]+alphabets()[other])); {
				case marked && !mine && !a, b && !a && !mine:
					theirs++
				case mine && !marked && !b, a && !b && !marked:
					ours++
				}
			}
			least := leastNear
			if base == "uk" && len(words) > leastNear && !strings.ContainsAny(strings.ToLower(text), group[base]) {
				least = 1 // nearly each sentence has one of its letters
			}
			if theirs >= least && theirs > 2*ours {
				return true
			}
		}
	}
	return false
}

// without returns the letters that are not among others.
func without(letters, others string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(others, r) {
			return -1
		}
		return r
	}, letters)
}

// The frequent characters that only simplified and only traditional Chinese have, each at the place of the other.
const (
	simplified  = "们这里来时说对会个为国学过还没后么样开关点热欢请带面饭买卖钱东车门问间听见觉认识让给从发现业实长应该气爱岁边远近进选择书画电脑网络"
	traditional = "們這裡來時說對會個為國學過還沒後麼樣開關點熱歡請帶麵飯買賣錢東車門問間聽見覺認識讓給從發現業實長應該氣愛歲邊遠近進選擇書畫電腦網絡"
)

// otherHan reports whether a text in Chinese is in the characters of another country than that of its language. A
// language without a country may be in either.
func otherHan(tag language.Tag, text string) bool {
	base, script, region := tag.Raw()
	if base.String() != "zh" || script.String() == "Zzzz" && region.String() == "ZZ" {
		return false
	}
	own, other := simplified, traditional
	if s, _ := tag.Script(); s.String() == "Hant" {
		own, other = traditional, simplified
	}
	ours, theirs := 0, 0
	for _, r := range text {
		a, b := strings.ContainsRune(own, r), strings.ContainsRune(other, r)
		if a && !b {
			ours++
		} else if b && !a {
			theirs++
		}
	}
	return theirs >= leastForeign && theirs > 2*ours
}

// listed returns the language by which a language is in the tables.
func listed(base string) string {
	switch base {
	case "no", "nn":
		return "nb"
	case "fil":
		return "tl"
	case "bs":
		return "hr"
	}
	return base
}

// alphabets are the letters of languages in Latin letters beside those from a to z.
var alphabets = sync.OnceValue(func() map[string]string { return textsIn("alphabets") })

// leastOthers is the number of letters of other alphabets from which a text is in another language, if they are one of
// shareOthers letters or more. Names have some.
const (
	leastOthers = 4
	shareOthers = 20
)

// foreignAlphabet reports whether a text in Latin letters has those of other languages.
func foreignAlphabet(base, text string) bool {
	own, ok := alphabets()[listed(base)]
	if !ok {
		return false
	}
	letters, others := 0, 0
	for _, r := range strings.ToLower(text) {
		if !unicode.Is(unicode.Latin, r) {
			continue
		}
		if letters++; r > 'z' && !strings.ContainsRune(own, r) {
			others++
		}
	}
	return others >= leastOthers && others*shareOthers >= letters
}

// otherWords reports whether a text has the frequent words of another language than its own.
func otherWords(base, text string) bool {
	expected := common()[listed(base)]
	if expected == nil {
		return isEnglish(text)
	}
	// Of each other language: the words that only it has, and those that only the expected one has.
	theirs, ours, own := map[string]int{}, map[string]int{}, 0
	for _, sentence := range sentences(text) {
		for i, word := range strings.FieldsFunc(sentence, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\''
		}) {
			title := i > 0 && unicode.IsUpper(first(word))
			word = strings.ToLower(word)
			if expected[word] {
				own++
			}
			for other, words := range common() {
				switch {
				case title && other == "en": // names are English in all languages
				case words[word] && !expected[word]:
					theirs[other]++
				case expected[word] && !words[word]:
					ours[other]++
				}
			}
		}
	}
	for other, n := range theirs {
		if n >= leastCommon && n > 2*ours[other] || n >= leastAlone && own == 0 {
			return true
		}
	}
	return false
}

// isEnglish reports whether a text in a language without a list is in English, whose words it would not have.
func isEnglish(text string) bool {
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	found, n := map[string]bool{}, 0
	for _, word := range all {
		if len(word) > 2 && common()["en"][word] {
			found[word] = true
			n++
		}
	}
	return len(found) >= leastAlone && 4*n >= len(all)
}

// marks are letters that each sentence of a language has.
var marks = map[string]string{"vi": "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ"}

// isUnmarked reports whether a text has none of the letters that each sentence of its language has.
func isUnmarked(base, text string) bool {
	own := marks[base]
	if own == "" {
		return false
	}
	letters := 0
	for _, r := range strings.ToLower(text) {
		if strings.ContainsRune(own, r) {
			return false
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters >= leastLetters
}

// letters tell languages of one script apart: those that only other languages have, and those of the language alone.
var letters = map[string]struct{ foreign, own string }{
	"uk": {"ыэъёјњљ", "іїєґ"},
	"ru": {"іїєґўјњљ", "ыэъё"},
	"bg": {"ыэёіїєґј", "ъ"},
	"sr": {"щъыьэюяйёіїєґ", "ђјљњћџ"},
	"ar": {"پچژگکی", "ةيكىإأ"},
	"fa": {"ةيكى", "پچژگکی"},
}

// The least numbers of characters by which languages of one script are told apart.
const (
	leastForeign = 4
	shortText    = 60 // letters of a text in which one of another language is enough if it has none of its own
	leastKana    = 6
	leastHan     = 20
)

// foreignLetters reports whether a text has the letters of another language that is written in the script of its own.
func foreignLetters(base, text string) bool {
	if l, ok := letters[base]; ok {
		foreign, own, all := 0, 0, 0
		for _, r := range strings.ToLower(text) {
			if unicode.IsLetter(r) {
				all++
			}
			switch {
			case strings.ContainsRune(l.foreign, r):
				foreign++
			case strings.ContainsRune(l.own, r):
				own++
			}
		}
		return foreign >= leastForeign && foreign > 2*own || all <= shortText && foreign > 0 && own == 0
	}
	if base != "ja" && base != "zh" && base != "ko" {
		return false
	}
	kana, han := 0, 0
	for _, r := range text {
		switch {
		case base == "ko" && unicode.Is(unicode.Hangul, r):
			return false
		case unicode.In(r, unicode.Hiragana):
			kana++
		case unicode.Is(unicode.Han, r):
			han++
		}
	}
	if base == "ko" {
		return kana+han >= leastHan
	}
	if base == "ja" {
		return kana == 0 && han >= leastHan && !unicode.In(firstOf(text, unicode.Katakana), unicode.Katakana)
	}
	return kana >= leastKana && 3*kana > han
}

// firstOf returns the first character of a text that is of a script, or 0.
func firstOf(text string, script *unicode.RangeTable) rune {
	for _, r := range text {
		if unicode.Is(script, r) {
			return r
		}
	}
	return 0
}

// bare returns a text without addresses, hashtags and accounts, which are in Latin letters in all languages, and
// without quotations, such as titles, if more is left.
func bare(text string) string {
	rest := quoted().ReplaceAllString(text, " ")
	if 2*len(strings.TrimSpace(rest)) >= len(text) || len(strings.Fields(rest)) >= leastUnquoted {
		text = rest
	}
	if strings.ContainsAny(text, "@([") {
		text = mailText().ReplaceAllString(text, " ")
	}
	var parts []extent
	for _, l := range platform.Links(text) {
		parts = append(parts, extent{l.Start, l.End})
	}
	text, parts = cut(text, parts), nil
	if strings.Contains(text, "@") {
		text = handleText().ReplaceAllString(text, " ")
	}
	for _, t := range platform.WrittenTags(text) {
		parts = append(parts, extent{t.Start, t.End})
	}
	return cut(text, parts)
}

// cut returns a text with a space for each of its parts, which are in their order.
func cut(text string, parts []extent) string {
	var b strings.Builder
	from := 0
	for _, p := range parts {
		b.WriteString(text[from:p.from] + " ")
		from = p.to
	}
	return b.String() + text[from:]
}

// leastUnquoted is the number of words by which a text without its quotations is told.
const leastUnquoted = 4

// share returns the number of letters of the given tables, or of all tables if there is none, and of all letters.
func share(text string, tables []string) (own, letters int) {
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for _, name := range tables {
			if unicode.Is(unicode.Scripts[name], r) {
				own++
			}
		}
	}
	if len(tables) == 0 {
		own = letters
	}
	return own, letters
}

// endings are the endings of Russian nouns, adjectives, adverbs and verbs, the longest first.
var endings = strings.Fields("иями ями ами ого его ому ему ыми ими иях ией ешь ишь ете ите ала ила али или " +
	"ов ев ей ой ый ий ая яя ое ее ые ие ую юю ам ям ом ем ах ях ою ею ть ла ло ли ет ит ут ют ат ят ия ии ию " +
	"ья ье ью а я о е у ю ы и й ь")

// leastStem is the shortest stem of a Russian word.
const leastStem = 3

// stem returns the stem of a word in Cyrillic: without its longest ending, as long as three letters stay. Two words are
// forms of one word if their stems are the same. The rule is simpler than a dictionary: лучший matches лучше, but not
// улучшить, and скидка matches скидок, whose о is fleeting.
func stem(word string) string {
	for _, ending := range endings {
		if s, ok := strings.CutSuffix(word, ending); ok && utf8.RuneCountInString(s) >= leastStem {
			return s
		}
	}
	r := []rune(word)
	if n := len(r); n > leastStem+1 && (r[n-2] == 'о' || r[n-2] == 'е') && !strings.ContainsRune("аеиоуыэюя", r[n-3]) {
		return string(append(r[:n-2:n-2], r[n-1]))
	}
	return word
}

// forbidden returns the forbidden words of an answer, and the competitors that it names.
func (r Rules) forbidden(answer []Field) (found []Finding) {
	l := lexiconOf(r.Language)
	texts := make([][]string, len(answer))
	for i, f := range answer {
		texts[i] = spelt(normal(f.Text))
	}
	for _, phrase := range r.Forbidden {
		for i, f := range answer {
			if l.said(texts[i], plainWords(phrase), f.Tag) || within(f.Text, phrase) ||
				l.compoundOf(texts[i], plainWords(phrase)) {
				found = append(found, Finding{Code: Forbidden, Path: f.Path, Text: phrase})
			}
		}
	}
	for _, name := range r.Competitors {
		for i, f := range answer {
			if l.named(f, texts[i], name) || r.misspelt(f.Text, name) {
				found = append(found, Finding{Code: Forbidden, Path: f.Path, Kind: "competitor", Text: name})
			}
		}
	}
	return found
}

// plainWords returns the words of a phrase as they are compared.
func plainWords(phrase string) []string {
	all := wordsOf(normal(phrase))
	for i := range all {
		all[i] = plainWord(all[i])
	}
	return all
}

// leastMisspelt is the shortest name of a competitor that is found with a slip in it, in characters.
const leastMisspelt = 7

// misspelt reports whether a text has a name with one letter that is wrong, and no input has the word.
func (r Rules) misspelt(text, name string) bool {
	l := lexiconOf(r.Language)
	name = l.fold(normal(name))
	if utf8.RuneCountInString(name) < leastMisspelt || strings.Contains(name, " ") {
		return false
	}
	return slices.ContainsFunc(wordsOf(normal(text)), func(word string) bool {
		return unicode.IsUpper(first(word)) && l.near1(l.fold(word), name, false) &&
			distance([]rune(l.fold(word)), []rune(name)) == 1 &&
			!slices.ContainsFunc(r.Facts, func(fact string) bool { return strings.Contains(fact, word) })
	})
}

// longTag is the length from which a word counts inside of a hashtag, in characters.
const longTag = 4

// said reports whether a text has the wanted words in a row, or a hashtag has them within.
func (l *lexicon) said(text, wanted []string, tag bool) bool {
	if len(wanted) == 0 {
		return false
	}
	joined := strings.Join(wanted, "")
	if spaceless(joined) {
		all := strings.Join(text, "")
		if strings.Contains(all, joined) {
			return true
		}
		stem, ok := strings.CutSuffix(joined, "い")
		return ok && !unicode.Is(unicode.Hiragana, lastRune(stem)) && slices.ContainsFunc(
			[]string{"く", "かっ", "けれ", "さ"}, func(ending string) bool { return strings.Contains(all, stem+ending) })
	}
	if tag && utf8.RuneCountInString(joined) >= longTag &&
		strings.HasPrefix(plainWord(strings.Join(text, "")), joined) {
		return true
	}
	for i := range len(text) - len(wanted) + 1 {
		n := 0
		for n < len(wanted) && l.sameWord(plainWord(text[i+n]), wanted[n]) {
			n++
		}
		if n == len(wanted) {
			return true
		}
	}
	return false
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// spaceless reports whether a word is of a script without spaces between words.
func spaceless(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// Signature stands for a text in comparisons: the share of equal bytes of two signatures estimates how much the texts
// have in common, and does not tell what they say.
type Signature string

// Past is an earlier text of the channel.
type Past struct {
	ID string
	Signature
}

// The size of signatures in bytes, the length of the pieces of texts that they compare in letters, the shortest text
// that is compared, and the share of common pieces from which a text repeats another.
const (
	signatureSize = 96
	shingle       = 5
	denseShingle  = 2 // in scripts without spaces, whose characters are words
	leastText     = 40
	repeated      = 0.5
)

// MaxPast is the number of earlier texts that an answer is compared with.
const MaxPast = 200

// Sign returns the signature of an answer, empty if it is too short to be compared. It is a MinHash of one byte for
// each hash: the smallest hash of all pieces.
func Sign(answer []Field) Signature {
	var letters []rune
	dense := 0
	for _, f := range answer {
		if f.Tag {
			continue
		}
		for _, r := range strings.ToLower(normal(f.Text)) {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters = append(letters, r)
				if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
					dense++
				}
			}
		}
	}
	size, least := shingle, leastText
	if 2*dense > len(letters) {
		size, least = denseShingle, leastText/2
	}
	if len(letters) < least {
		return ""
	}
	smallest := [signatureSize]uint64{}
	for i := range smallest {
		smallest[i] = math.MaxUint64
	}
	for i := range len(letters) - size + 1 {
		h := fnv.New64a()
		h.Write([]byte(string(letters[i : i+size])))
		for n, seed := 0, h.Sum64(); n < signatureSize; n++ {
			seed += 0x9e3779b97f4a7c15 // splitmix64
			x := seed
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			smallest[n] = min(smallest[n], x^x>>31)
		}
	}
	raw := make([]byte, signatureSize)
	for n, h := range smallest {
		raw[n] = byte(h)
	}
	return Signature(base64.RawStdEncoding.EncodeToString(raw))
}

// Like returns the estimated share of the pieces that two texts have in common, from 0 to 1.
func (s Signature) Like(o Signature) float64 {
	a, errA := base64.RawStdEncoding.DecodeString(string(s))
	b, errB := base64.RawStdEncoding.DecodeString(string(o))
	if errA != nil || errB != nil || len(a) != len(b) || len(a) == 0 {
		return 0
	}
	equal := 0.0
	for i := range a {
		if a[i] == b[i] {
			equal++
		}
	}
	const chance = 1.0 / 256
	return max(0, (equal/float64(len(a))-chance)/(1-chance))
}

// repeats returns a finding if the answer nearly repeats an earlier text.
func (r Rules) repeats(answer []Field) []Finding {
	if len(r.Past) == 0 {
		return nil
	}
	signature := Sign(answer)
	for _, p := range r.Past {
		if signature.Like(p.Signature) >= repeated {
			return []Finding{{Code: Repetitive, Text: p.ID}}
		}
	}
	return nil
}
