package form

import (
	"strings"
	"unicode"
)

// Words returns the words of a name in any of the ways of writing: lower case, and separated by one space.
func Words(name string) []string {
	var out strings.Builder
	var last rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			out.WriteByte(' ')
		case unicode.IsUpper(r) && !unicode.IsUpper(last):
			out.WriteByte(' ')
			fallthrough
		default:
			out.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(out.String())
}

// Pascal writes a name as WordsOfTheName.
func Pascal(name string) string {
	var out strings.Builder
	for _, w := range Words(name) {
		out.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return out.String()
}

// Snake writes a name as words_of_the_name.
func Snake(name string) string { return strings.Join(Words(name), "_") }

// Kebab writes a name as words-of-the-name.
func Kebab(name string) string { return strings.Join(Words(name), "-") }
