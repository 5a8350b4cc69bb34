package guard

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normal returns a text in one form: compatibility characters such as full-width ones are replaced, invisible ones are
// removed, and digits, spaces and dashes of all scripts become those of ASCII.
func normal(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < unicode.MaxASCII:
			return r
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
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

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number)
	})
}
