package text

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text in which case and accents do not count.
func Fold(s string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return strings.ReplaceAll(plain, "ß", "ss")
}

// HasWords reports whether texts have all words of a search, or parts of words.
func HasWords(search string, texts ...string) bool {
	in := Fold(strings.Join(texts, " "))
	for word := range strings.FieldsSeq(Fold(search)) {
		if !strings.Contains(in, word) {
			return false
		}
	}
	return true
}
