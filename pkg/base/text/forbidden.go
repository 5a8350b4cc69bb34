package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsForbidden reports whether a character stands in no text: a control character other than a line break or a tab, or a
// noncharacter (Unicode, 23.7). Databases and programs of receivers fail on them.
func IsForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r >= 0xFDD0 && r <= 0xFDEF ||
		r&0xFFFE == 0xFFFE
}

// Forbidden returns the first such character of a text and its place, the number of the characters before it.
func Forbidden(s string) (r rune, at int, found bool) {
	i := strings.IndexFunc(s, IsForbidden)
	if i < 0 {
		return 0, 0, false
	}
	r, _ = utf8.DecodeRuneInString(s[i:])
	return r, utf8.RuneCountInString(s[:i]), true
}

// Plain returns a text of others without such characters and without bytes that are no text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if IsForbidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
