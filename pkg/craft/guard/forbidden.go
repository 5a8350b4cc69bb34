package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// endings are the endings of Russian nouns, adjectives, adverbs and verbs, the longest first.
var endings = strings.Fields("иями ями ами ого его ому ему ыми ими иях ией ешь ишь ете ите ала ила али или " +
	"ов ев ей ой ый ий ая яя ое ее ые ие ую юю ам ям ом ем ах ях ою ею ть ла ло ли ет ит ут ют ат ят ия ии ию ья ье " +
	"ью а я о е у ю ы и й ь")

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
		texts[i] = wordsOf(normal(f.Text))
	}
	for _, list := range []struct {
		phrases []string
		what    string
	}{{r.Forbidden, ""}, {r.Competitors, "competitor"}} {
		for _, phrase := range list.phrases {
			wanted := wordsOf(normal(phrase))
			for i := range wanted {
				wanted[i] = plainWord(wanted[i])
			}
			for i, f := range answer {
				if l.said(texts[i], wanted, f.Tag) {
					found = append(found, Finding{Code: Forbidden, Path: f.Path, What: list.what, Text: phrase})
				}
			}
		}
	}
	return found
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
