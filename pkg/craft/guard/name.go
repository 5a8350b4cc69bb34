package guard

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/content-automation/api/pkg/adapter/platform"
	texts "github.com/content-automation/api/pkg/base/text"
)

// names are the proper names of the inputs, by which a name of an answer that is nearly one of them is found: a slip of
// the model, such as Osgod for Osgood.
type names struct {
	words map[rune]set // the words of brands, products and people, in lower case, by their first letter
	pairs map[string]set
	// dense are names without spaces after a word for a person, in Chinese, Japanese and Korean.
	dense map[string]set
}

type set map[string]bool

// put adds a text to one of some sets.
func put[K comparable](sets map[K]set, of K, text string) {
	if sets[of] == nil {
		sets[of] = set{}
	}
	sets[of][text] = true
}

// The lengths of names that are compared, in characters, and that from which two characters may differ.
const (
	leastName    = 5
	leastSecond  = 4
	twoSlips     = 8
	longestDense = 4
)

// newNames reads the names of the inputs: those that are given as names, and those of the people that they mention.
func newNames(r Rules) *names {
	n := &names{words: map[rune]set{}, pairs: map[string]set{}, dense: map[string]set{}}
	l := lexiconOf(r.Language)
	for _, name := range r.Names {
		n.add(l, normal(name))
	}
	for _, fact := range r.Facts {
		text, own := normal(fact), scanOfInput(fact, r.Language).tongue
		// All nouns of German begin with a capital letter, and those of other languages are often nearly the same.
		if own != "de" || l.base == "de" {
			for _, person := range personText().FindAllString(text, -1) {
				n.add(l, person)
			}
		}
		for _, p := range slices.Concat(l.patterns["owner"], lexiconOf(own).patterns["owner"]) {
			for _, one := range p[0].phrases {
				n.after(l, text, one.text)
			}
		}
	}
	return n
}

// add adds a name: each long word, and each pair of words.
func (n *names) add(l *lexicon, name string) {
	words := wordsOf(l.fold(name))
	for i, word := range words {
		if utf8.RuneCountInString(word) >= leastName {
			put(n.words, first(word), word)
		}
		if i > 0 && utf8.RuneCountInString(word) >= leastSecond {
			put(n.pairs, words[i-1], word)
		}
	}
}

// after adds the name that follows a word for a person in an input.
func (n *names) after(l *lexicon, text, role string) {
	folded := l.fold(text)
	for at := 0; ; {
		i := strings.Index(folded[at:], role)
		if i < 0 || role == "" {
			return
		}
		at += i + len(role)
		rest := strings.TrimLeft(folded[at:], " :：はのが")
		if unicode.In(first(rest), unicode.Han, unicode.Hangul) {
			if name := denseName(rest); name != "" {
				put(n.dense, role, name)
			}
			continue
		}
		words := wordsOf(rest[:min(len(rest), 80)])
		if l.spaceless() && l.base != "th" || len(words) < 2 ||
			unicode.In(first(rest), unicode.Latin, unicode.Cyrillic) {
			continue
		}
		put(n.pairs, words[0], words[1])
		if len(words) > 2 {
			put(n.pairs, words[1], words[2])
		}
	}
}

// denseName returns the name at the beginning of a text without spaces.
func denseName(text string) string {
	end, count := 0, 0
	for i, r := range text {
		if !unicode.In(r, unicode.Han, unicode.Hangul) || count == longestDense {
			break
		}
		end, count = i+utf8.RuneLen(r), count+1
	}
	if count < 3 {
		return ""
	}
	return text[:end]
}

// slip returns a word of an answer that is nearly a name of the inputs.
func (n *names) slip(l *lexicon, k *knownFacts, text string) (part string, ok bool) {
	text = normal(text)
	words := wordsOf(text)
	for i, word := range words {
		folded := l.fold(word)
		if k.statements[strings.ToLower(word)] || k.statements[folded] {
			continue
		}
		if i > 0 {
			before := l.fold(words[i-1])
			third := i > 1 && n.pairs[l.fold(words[i-2])][before]
			for second := range n.pairs[before] {
				if l.near1(folded, second, true) || third && distance([]rune(folded), []rune(second)) == 2 {
					return words[i-1] + " " + word, true
				}
			}
		}
		if utf8.RuneCountInString(word) < leastName || !unicode.IsUpper(first(word)) {
			continue
		}
		for name := range n.words[first(folded)] {
			if l.near1(folded, name, false) {
				return word, true
			}
		}
	}
	folded := l.fold(text)
	for role, all := range n.dense {
		i := strings.Index(folded, role)
		if i < 0 {
			continue
		}
		rest := strings.TrimLeft(folded[i+len(role):], " :：はのが")
		for name := range all {
			if found := prefixOf(rest, utf8.RuneCountInString(name)); first(found) == first(name) &&
				distance([]rune(found), []rune(name)) == 1 && !strings.Contains(folded, name) {
				return found, true
			}
		}
	}
	return "", false
}

// prefixOf returns the first characters of a text.
func prefixOf(text string, count int) string {
	for i := range text {
		if count == 0 {
			return text[:i]
		}
		count--
	}
	return text
}

// near1 reports whether a word differs from a name by a slip, and is no form of it. A word that follows the rest of the
// name may differ by more.
func (l *lexicon) near1(word, name string, follows bool) bool {
	a, b := []rune(word), []rune(name)
	most := 1
	if len(b) >= twoSlips || follows && len(b) > leastName {
		most = 2
	}
	if d := distance(a, b); d == 0 || d > most || len(a) < leastSecond {
		return false
	}
	if !follows && (a[0] != b[0] || unicode.IsDigit(a[0])) {
		return false
	}
	return !l.formOf(word, name)
}

// formEndings are the endings by which a form of a name may differ from it.
var formEndings = map[string][]string{"de": {"s", "n", "en", "es", "er", "e"}}

// formOf reports whether a word is a name with another ending.
func (l *lexicon) formOf(word, name string) bool {
	switch l.base {
	case "ru", "uk", "pl":
		vowel := func(r rune) bool { return strings.ContainsRune("aeiouyаяоеёийуюыьіїєęąó", r) }
		return strings.HasPrefix(word, strings.TrimRightFunc(name, vowel)) ||
			strings.HasPrefix(name, strings.TrimRightFunc(word, vowel))
	case "ar":
		word, name = cutPrefixes(word, "وال بال ال و ب ل"), cutPrefixes(name, "ال")
	case "he":
		word, name = cutPrefixes(word, "ה ו ב ל מ ש כ"), cutPrefixes(name, "ה")
	case "tr", "ko":
		return strings.HasPrefix(word, name)
	}
	longer, shorter := word, name
	if len(word) < len(name) {
		longer, shorter = name, word
	}
	rest, ok := strings.CutPrefix(longer, shorter)
	return ok && (rest == "" || rest == "s" || slices.Contains(formEndings[l.base], rest))
}

// far is the distance of words that have little in common.
const far = 3

// distance returns the number of letters that are added, removed, replaced or swapped between two words, or far.
func distance(a, b []rune) int {
	if len(a)-len(b) >= far || len(b)-len(a) >= far {
		return far
	}
	// Only the places near the diagonal can be less than far.
	two, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		two[j], above[j], row[j] = far, far, min(j, far)
	}
	for i := 1; i <= len(a); i++ {
		two, above, row = above, row, two
		from, least := max(i-far, 0), far
		if from > 0 {
			row[from-1] = far
		}
		for j := from; j <= min(i+far, len(b)); j++ {
			switch {
			case j == 0:
				row[j] = i
			case a[i-1] == b[j-1]:
				row[j] = above[j-1]
			default:
				row[j] = 1 + min(above[j-1], above[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least == far {
			return far
		}
	}
	return min(row[len(b)], far)
}

// leastSpelt is the number of single letters in a row that are one word.
const leastSpelt = 3

// spelt returns the words of a text. Single letters with the same sign between each two are one word, as in I K E A,
// I.K.E.A. and «I-K-E-A».
func spelt(text string) (all []string) {
	from, gap := 0, "" // of the letters that may be one word
	end := func() {
		if len(all)-from >= leastSpelt {
			all = append(all[:from], strings.Join(all[from:], ""))
		}
		from = len(all)
	}
	rest := text
	for _, word := range wordsOf(text) {
		between, after, _ := strings.Cut(rest, word)
		rest = after
		if utf8.RuneCountInString(word) != 1 || spaceless(word) {
			end()
			all = append(all, word)
			from = len(all)
			continue
		}
		if n := len(all) - from; n == 1 {
			gap = between
		} else if n == 2 && between != gap {
			from, gap = from+1, between
		} else if n > 2 && between != gap {
			end()
		}
		all = append(all, word)
	}
	end()
	return all
}

// named reports whether a text, whose words are given, names a competitor: in one of the forms of its name, with or
// without its marks, glued to other words, or in the letters of another script.
func (l *lexicon) named(f Field, words []string, name string) bool {
	for _, form := range spellings(name) {
		wanted := plainWords(form)
		if l.said(words, wanted, f.Tag) || within(f.Text, form) || l.tagged(f, form) || compounded(words, wanted) ||
			l.softened(words, wanted) {
			return true
		}
	}
	if l.base != "vi" { // whose marks make other words
		bare := make([]string, len(words))
		for i := range words {
			bare[i] = unmarked(words[i])
		}
		if wanted := plainWords(unmarked(name)); l.said(bare, wanted, f.Tag) {
			return true
		}
	}
	return hasName(f.Text, name)
}

// umlauts writes letters with two dots as German does without them.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue", "ß", "ss")

// spellings returns a name as it may be written: also without its marks, and with letters in their place.
func spellings(name string) []string {
	all := []string{name}
	for _, s := range []string{unmarked(name), umlauts.Replace(name)} {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// unmarked returns a text whose Latin letters have no marks.
func unmarked(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return text
	}
	var b strings.Builder
	latin := false
	for _, r := range norm.NFD.String(text) {
		if unicode.Is(unicode.Mn, r) && latin {
			continue
		}
		latin = latinLetter(r)
		b.WriteRune(r)
	}
	return norm.NFC.String(strings.NewReplacer("ł", "l", "Ł", "L", "ø", "o", "Ø", "O", "đ", "d", "Đ", "D", "ı", "i").
		Replace(b.String()))
}

// The shortest Latin name that is found inside of a longer word, the shortest that is found before or after any other
// letters, and the fewest of those, in characters.
const (
	leastWithin = 4
	leastGlued  = 7
	leastRest   = 3
)

// The same of forbidden words in languages that write two nouns as one word.
const (
	compounding    = "de nl sv da nb no nn fi"
	leastCompound  = 6
	compoundedRest = 4
)

// compoundOf reports whether a text has a forbidden word as a part of a longer one, as in Billigbrot.
func (l *lexicon) compoundOf(words []string, wanted []string) bool {
	if len(wanted) != 1 || !slices.Contains(strings.Fields(compounding), l.base) ||
		utf8.RuneCountInString(wanted[0]) < leastCompound {
		return false
	}
	return slices.ContainsFunc(words, func(word string) bool {
		before, after, ok := strings.Cut(plainWord(word), wanted[0])
		return ok && (before == "" && utf8.RuneCountInString(after) >= compoundedRest ||
			after == "" && utf8.RuneCountInString(before) >= compoundedRest)
	})
}

// compounded reports whether a text has a long name as the first or the last part of a longer word, as in
// Zalandopaket. A word in small letters is of another kind, as in continental.
func compounded(words, wanted []string) bool {
	n := len(wanted)
	if n == 0 || utf8.RuneCountInString(strings.Join(wanted, "")) < leastGlued || spaceless(wanted[0]) {
		return false
	}
	for i := range len(words) - n + 1 {
		first, last := plainWord(words[i]), plainWord(words[i+n-1])
		if !unicode.IsUpper([]rune(words[i])[0]) || n > 1 && !slices.EqualFunc(words[i+1:i+n-1], wanted[1:n-1],
			func(a, b string) bool { return plainWord(a) == b }) {
			continue
		}
		rest, ok := strings.CutPrefix(last, wanted[n-1])
		if ok && utf8.RuneCountInString(rest) >= leastRest && (n == 1 || first == wanted[0]) {
			return true
		}
		rest, ok = strings.CutSuffix(first, wanted[0])
		if ok && utf8.RuneCountInString(rest) >= leastRest && (n == 1 || last == wanted[n-1]) {
			return true
		}
	}
	return false
}

// softened reports whether a text has a name in -ka, -ga or -ha with the ending before which Polish and Ukrainian
// change the letter, as in w Żabce.
func (l *lexicon) softened(words, wanted []string) bool {
	if len(wanted) != 1 || l.base != "pl" && l.base != "uk" && l.base != "cs" && l.base != "sk" {
		return false
	}
	for _, change := range [][2]string{{"ka", "c"}, {"ga", "dz"}, {"ha", "z"}, {"ка", "ц"}, {"га", "з"}, {"ха", "с"}} {
		stem, ok := strings.CutSuffix(wanted[0], change[0])
		if ok && utf8.RuneCountInString(stem) >= leastStem && slices.ContainsFunc(words, func(word string) bool {
			rest, ok := strings.CutPrefix(plainWord(word), stem+change[1])
			return ok && slices.Contains([]string{"e", "ě", "i", "і"}, rest)
		}) {
			return true
		}
	}
	return false
}

// tagged reports whether a hashtag has a Latin name within, as in #nomoreikea: what is before and after it is made of
// frequent words, or the name is long.
func (l *lexicon) tagged(f Field, name string) bool {
	wanted := strings.ToLower(strings.Join(wordsOf(normal(name)), ""))
	if len(wanted) < leastWithin || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsLetter(r) && !latinLetter(r)
	}) {
		return false
	}
	tags := []string{f.Text}
	if !f.Tag {
		tags = nil
		for _, t := range platform.WrittenTags(f.Text) {
			tags = append(tags, f.Text[t.Start:t.End])
		}
	}
	return slices.ContainsFunc(tags, func(tag string) bool {
		tag = strings.ToLower(unmarked(strings.Join(wordsOf(normal(tag)), "")))
		before, after, ok := strings.Cut(tag, wanted)
		return ok && (len(wanted) >= leastGlued || l.frequent(before) && l.frequent(after))
	})
}

// frequent reports whether a text without spaces is a row of frequent words of the language or of English, or empty.
func (l *lexicon) frequent(text string) bool {
	const shortest, longest = 2, 40 // of the words that are looked up, in bytes
	text = strings.TrimRight(text, "0123456789")
	ends := make([]bool, len(text)+1) // the places where a row of words ends
	ends[0] = true
	for from := range text {
		for to := from + shortest; ends[from] && to <= min(from+longest, len(text)); to++ {
			word := text[from:to]
			ends[to] = ends[to] || common()[listed(l.base)][word] || common()["en"][word]
		}
	}
	return ends[len(text)]
}

// within reports whether a text has a Latin name glued to other text: to letters of another script, as in 比IKEA好, or
// to words that begin with a capital letter, as in #BetterThanRevolut and RevolutKiller.
func within(text, name string) bool {
	text, name = normal(text), strings.Join(wordsOf(normal(name)), "")
	if utf8.RuneCountInString(name) < leastWithin || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	}) {
		return false
	}
	lower, wanted := strings.ToLower(text), strings.ToLower(name)
	if len(lower) != len(text) {
		text = lower
	}
	for at := 0; ; {
		i := strings.Index(lower[at:], wanted)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(wanted)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		start, _ := utf8.DecodeRuneInString(text[from:])
		if (!latinLetter(before) || unicode.IsLower(before) && unicode.IsUpper(start)) &&
			(!latinLetter(after) || unicode.IsUpper(after) && unicode.IsLower(lastRune(text[:to]))) {
			return true
		}
		at = to
	}
}

func latinLetter(r rune) bool { return unicode.Is(unicode.Latin, r) }

// sounds are the Latin letters for which a letter of another script may stand in a name. A letter with none is not
// heard, as far as the comparison goes: vowels are left out.
var sounds = sync.OnceValue(func() map[rune]string {
	all := map[rune]string{}
	for _, row := range rowsOf("sounds") {
		for letter := range strings.FieldsSeq(row[1]) {
			all[first(letter)] = row[0]
		}
	}
	return all
})

// kana are the consonants of the rows of Katakana, from カ.
var kana = map[string]string{"カキクケコ": "kcq", "ガギグゲゴ": "g", "サシスセソ": "scz", "ザジズゼゾ": "zjs", "タチツテト": "tc",
	"ダヂヅデド": "d", "ナニヌネノン": "nm", "ハヒフヘホ": "hf", "バビブベボ": "bv", "パピプペポ": "p", "マミムメモ": "m",
	"ラリルレロ": "rl", "ヴ": "v", "ワ": "w"}

// hangul are the consonants of the first and of the last letters of syllables, in the order of Unicode.
var (
	hangulFirst = strings.Split("gkc,kc,n,td,td,rl,mb,bpv,p,sc,s,,jzg,j,c,kcq,t,pf,h", ",")
	hangulLast  = strings.Split(",kcg,k,k,n,n,n,td,rl,l,l,l,l,l,l,l,m,bp,b,stc,s,n,t,t,k,t,p,t", ",")
)

// heard returns the consonants of a word of another script: the Latin letters for which each may stand.
func heard(word string) (all []string) {
	last := rune(0)
	for _, r := range strings.ToLower(word) {
		switch {
		case r == last && sounds()[r] != "":
		case sounds()[r] != "":
			all = append(all, sounds()[r])
		case r >= 0xac00 && r <= 0xd7a3:
			n := int(r - 0xac00)
			for _, s := range []string{hangulFirst[n/588], hangulLast[n%28]} {
				if s != "" {
					all = append(all, s)
				}
			}
		case unicode.Is(unicode.Katakana, r):
			for row, s := range kana {
				if strings.ContainsRune(row, r) {
					all = append(all, s)
				}
			}
		}
		last = r
	}
	return all
}

// sound is a consonant of a Latin name. One that is silent need not be heard.
type sound struct {
	letter rune
	silent bool
}

// soundsOf returns the consonants of a Latin name: two letters for one sound count once, and an r before another
// consonant or at the end is silent in many scripts.
func soundsOf(name string) (all []sound) {
	letters := []rune(strings.NewReplacer("ck", "k", "ph", "f", "x", "ks").Replace(strings.ToLower(unmarked(name))))
	vowel := func(i int) bool { return i < len(letters) && strings.ContainsRune("aeiouyw", letters[i]) }
	for i, r := range letters {
		if r < 'a' || r > 'z' || vowel(i) || i > 0 && letters[i-1] == r {
			continue
		}
		all = append(all, sound{r, r == 'r' && !vowel(i+1) && i > 0 || r == 'h' && i > 0 && !vowel(i-1)})
	}
	return all
}

// leastConsonants is the number of consonants from which a name is known in the letters of another script.
const leastConsonants = 4

// hasName reports whether a text has a Latin name in the letters of another script, such as Револют for Revolut.
func hasName(text, name string) bool {
	if name == "" || strings.Contains(name, " ") || !latinLetter(first(name)) {
		return false
	}
	wanted := soundsOf(name)
	text = normal(text)
	for _, sentence := range sentences(text) {
		for i, word := range wordsOf(sentence) {
			if latinLetter(first(word)) {
				continue
			}
			if i > 0 && romanized(word, name) {
				return true
			}
			for _, part := range wordParts(word) {
				if utf8.RuneCountInString(part) <= 2*utf8.RuneCountInString(name) && sounded(heard(part), wanted) {
					return true
				}
			}
		}
	}
	return false
}

// wordParts returns a word as the parts that may be a name: the pieces in Katakana of a Japanese text without spaces,
// and words without a particle after or before them.
func wordParts(word string) []string {
	if strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Katakana, r) }) {
		return strings.FieldsFunc(word, func(r rune) bool { return !unicode.Is(unicode.Katakana, r) && r != 'ー' })
	}
	all := []string{word}
	for _, p := range particles {
		if rest, ok := strings.CutSuffix(word, p); ok && utf8.RuneCountInString(rest) >= leastStem {
			all = append(all, rest)
		}
	}
	switch r := first(word); {
	case unicode.Is(unicode.Hebrew, r):
		all = append(all, cutPrefixes(word, "שה מה וה בה לה ה ו ב ל מ ש כ"))
	case unicode.Is(unicode.Arabic, r):
		all = append(all, cutPrefixes(word, "وال فال بال كال ال لل و ف ب ل ك"))
	}
	return all
}

// sounded reports whether the consonants of a word are those of a name. A form of the word may have an ending, and the
// last s of a long name may be one.
func sounded(found []string, wanted []sound) bool {
	matched := make([]bool, len(found)+1) // by the number of consonants of the word that are of the name
	matched[0] = true
	for n, w := range wanted {
		next := make([]bool, len(found)+1)
		for i, ok := range matched {
			switch {
			case !ok:
				continue
			case i < len(found) && strings.ContainsRune(found[i], w.letter):
				next[i+1] = true
			case i == len(found) && n == len(wanted)-1 && w.letter == 's' && i >= leastConsonants:
				return true
			}
			next[i] = next[i] || w.silent
		}
		matched = next
	}
	return len(found) >= leastConsonants && matched[len(found)] || len(found) > leastConsonants && matched[len(found)-1]
}

// The letters of Cyrillic and Greek, and the Latin ones for them.
const (
	romanFrom = "абвгґдеёжзиіїйыклмнопрстуфхцчшэєюя" + "αάβγδεέζηήιίκλμνοόπρσςτυύφχωώ"
	romanTo   = "abvggdeezziiiiiklmnoprstufhccseeua" + "aavgdeeziiiiklmnooprsstiifhoo"
)

// roman writes a word in Cyrillic or Greek letters in Latin ones. The soft and the hard sign have none.
func roman(word string) string {
	return strings.Map(func(r rune) rune {
		if i := strings.IndexRune(romanFrom, r); i >= 0 {
			return rune(romanTo[utf8.RuneCountInString(romanFrom[:i])])
		}
		if r == 'ь' || r == 'ъ' {
			return -1
		}
		return r
	}, strings.ToLower(word))
}

// latinSounds writes a Latin name as roman writes its sounds.
var latinSounds = strings.NewReplacer("ck", "k", "ph", "f", "sh", "s", "ch", "c", "oo", "u", "ee", "i", "w", "v",
	"y", "i", "q", "k", "x", "ks", "j", "i")

// romanEndings are the endings of a name in Cyrillic or Greek letters.
var romanEndings = strings.Fields("a u e i o om em oi ei ou ami ah am ov ev s")

// romanized reports whether a word in Cyrillic or Greek letters is a Latin name, letter by letter, or a form of it. It
// begins with a capital letter: otherwise it may be another word, such as that for ozone.
func romanized(word, name string) bool {
	if !unicode.IsUpper(first(word)) || !unicode.In(first(word), unicode.Cyrillic, unicode.Greek) {
		return false
	}
	word, name = single(roman(word)), single(latinSounds.Replace(strings.ToLower(unmarked(name))))
	if len(name) < leastWithin {
		return false
	}
	for _, stem := range []string{name, strings.TrimRight(name, "aeio"), strings.TrimSuffix(name, "ka") + "c"} {
		rest, ok := strings.CutPrefix(word, stem)
		if ok && len(stem) >= leastStem && (rest == "" && stem == name || slices.Contains(romanEndings, rest)) {
			return true
		}
	}
	return false
}

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
		`до|по|kadar|حتى|إلى|עד|तक|ถึง|đến|or|oder|and|und|и|і|и|y|et|e|i|ve)(?:[^\p{L}]|$)|まで|から|까지|부터|到|至|` +
		`(?:^|[^\p{Hebrew}])[-–]`)
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
	before, after := texts.Before(s.maskedText, c.from, nearDate), texts.After(s.maskedText, c.to, nearDate)
	// A short name ends with a point or a comma: Sun., 12 December.
	if short := strings.TrimRight(before, " .,"); strings.ContainsAny(before[len(short):], ".,") {
		name := short[strings.LastIndexFunc(short, func(r rune) bool { return !isLetter(r) })+1:]
		if day, ok := shortWeeks()[s.words.base].days[strings.ToLower(name)]; ok {
			return day, c.from - (len(before) - len(short)) - len(name), c.to
		}
	}
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
