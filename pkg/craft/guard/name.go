package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the proper names of the inputs, by which a name of an answer that is nearly one of them is found: a slip of
// the model, such as Osgod for Osgood.
type names struct {
	words map[string]bool // the words of brands, products and people, in lower case
	pairs map[string][]string
	// dense are names without spaces after a word for a person, in Chinese, Japanese and Korean.
	dense map[string][]string
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
	n := &names{words: map[string]bool{}, pairs: map[string][]string{}, dense: map[string][]string{}}
	l := lexiconOf(r.Language)
	for _, name := range r.Names {
		n.add(l, normal(name))
	}
	for _, fact := range r.Facts {
		text := normal(fact)
		for _, person := range personText().FindAllString(text, -1) {
			n.add(l, person)
		}
		for _, p := range l.patterns["owner"] {
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
			n.words[word] = true
		}
		if i > 0 && utf8.RuneCountInString(word) >= leastSecond {
			n.pairs[words[i-1]] = append(n.pairs[words[i-1]], word)
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
				n.dense[role] = append(n.dense[role], name)
			}
			continue
		}
		words := wordsOf(rest[:min(len(rest), 80)])
		if l.spaceless() && l.base != "th" || len(words) < 2 ||
			unicode.In(first(rest), unicode.Latin, unicode.Cyrillic) {
			continue
		}
		n.pairs[words[0]] = append(n.pairs[words[0]], words[1])
		if len(words) > 2 {
			n.pairs[words[1]] = append(n.pairs[words[1]], words[2])
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
			for _, second := range n.pairs[l.fold(words[i-1])] {
				third := i > 1 && slices.Contains(n.pairs[l.fold(words[i-2])], l.fold(words[i-1]))
				if l.near1(folded, second, true) || third && distance([]rune(folded), []rune(second)) == 2 {
					return words[i-1] + " " + word, true
				}
			}
		}
		if utf8.RuneCountInString(word) < leastName || !unicode.IsUpper(first(word)) {
			continue
		}
		for name := range n.words {
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
		for _, name := range all {
			if found := prefixOf(rest, utf8.RuneCountInString(name)); !strings.Contains(folded, name) &&
				distance([]rune(found), []rune(name)) == 1 && first(found) == first(name) {
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

// distance returns the number of letters that are added, removed, replaced or swapped between two words.
func distance(a, b []rune) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := range a {
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d := min(rows[i][j]+cost, rows[i][j+1]+1, rows[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(a)][len(b)]
}
