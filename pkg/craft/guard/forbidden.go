package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// endings are the endings of Russian nouns, adjectives, adverbs and verbs, the longest first.
var endings = strings.Fields("иями ями ами ого его ому ему ыми ими иях ией ешь ишь ете ите ала ила али или " +
	"ов ев ей ой ый ий ая яя ое ее ые ие ую юю ам ям ом ем ах ях ою ею ть ла ло ли ет ит ут ют ат ят ия ии ию ья ье ью " +
	"а я о е у ю ы и й ь")

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

// sameWord reports whether a word of a text is the forbidden one: a form of it in Cyrillic, and the same in other
// scripts.
func sameWord(word, forbidden string) bool {
	if word == forbidden {
		return true
	}
	first, _ := utf8.DecodeRuneInString(forbidden)
	return unicode.Is(unicode.Cyrillic, first) && stem(word) == stem(forbidden)
}

// forbidden returns the forbidden words of an answer.
func (r Rules) forbidden(answer []Field) (found []Finding) {
	for _, phrase := range r.Forbidden {
		var wanted []string
		for _, word := range wordsOf(normal(phrase)) {
			wanted = append(wanted, plainWord(word))
		}
		if len(wanted) == 0 {
			continue
		}
		for _, f := range answer {
			if text := wordsOf(normal(f.Text)); has(text, wanted) || spaceless(wanted[0]) &&
				strings.Contains(strings.Join(text, ""), strings.Join(wanted, "")) {
				found = append(found, Finding{Code: Forbidden, Path: f.Path, Text: phrase})
			}
		}
	}
	return found
}

// has reports whether the words of a text have the wanted ones in a row.
func has(text, wanted []string) bool {
	for i := range len(text) - len(wanted) + 1 {
		n := 0
		for n < len(wanted) && sameWord(plainWord(text[i+n]), wanted[n]) {
			n++
		}
		if n == len(wanted) {
			return true
		}
	}
	return false
}

// spaceless reports whether a word is of a script without spaces between words.
func spaceless(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}
