package guard

import (
	"embed"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// wordLists has a list of words for each language. It is read when a text in the language is first checked.
//
//go:embed words
var wordLists embed.FS

// lexicon has the words of a language by which the guards know numbers and assertions.
type lexicon struct {
	base string
	// numbers are the values of number words. joined reports that they are written as one word, such as einundzwanzig.
	numbers  lookup[float64]
	joined   bool
	join     map[string]bool // the words between two parts of a number
	clocks   []clockForm
	patterns map[string][]pattern
}

// clockForm is a way to say a time of day in words: the hour stands for @, and the minutes are added to it.
type clockForm struct {
	before, after string
	minutes       int
}

// pattern is an assertion: each group has a phrase that is in the sentence.
type pattern [][]phrase

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
	raw, err := wordLists.ReadFile("words/" + base + ".txt")
	if err != nil {
		raw = nil
	}
	l, _ := lexicons.LoadOrStore(base, newLexicon(base, string(raw)))
	return l.(*lexicon)
}

func newLexicon(base, raw string) *lexicon {
	l := &lexicon{base: base, joined: base == "de" || base == "it", join: map[string]bool{},
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
		case "":
		default:
			l.patterns[name] = append(l.patterns[name], l.pattern(rest))
		}
	}
	l.numbers = numbers.index()
	return l
}

func (l *lexicon) pattern(text string) (p pattern) {
	for group := range strings.SplitSeq(text, " & ") {
		var all []phrase
		for alternative := range strings.SplitSeq(group, "|") {
			one := phrase{text: strings.TrimSpace(alternative), number: strings.TrimSpace(alternative) == "#"}
			one.text, one.head = strings.CutPrefix(one.text, "*")
			one.text, one.tail = strings.CutSuffix(one.text, "*")
			one.text = l.fold(normal(one.text))
			all = append(all, one)
		}
		p = append(p, all)
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
func (l *lexicon) find(text string, p phrase) (from, to int, ok bool) {
	if p.number {
		return l.findNumber(text)
	}
	for at := 0; p.text != ""; {
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

// begins reports whether a word begins at an offset.
func (l *lexicon) begins(text string, at int) bool {
	if l.spaceless() {
		return true
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
	for _, p := range l.patterns[kind] {
		first, last := len(sentence), 0
		for _, group := range p {
			found := false
			for _, one := range group {
				if from, to, ok := l.find(sentence, one); ok {
					first, last, found = min(first, from), max(last, to), true
					break
				}
			}
			if !found {
				first = -1
				break
			}
		}
		if first >= 0 {
			return sentence[first:last], true
		}
	}
	return "", false
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
