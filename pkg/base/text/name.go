package text

import (
	"slices"
	"strings"
	"unicode"
)

// Words returns the words of a name in any of the ways of writing: in lower case.
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

// Snake writes a name as words_of_the_name.
func Snake(name string) string { return strings.Join(Words(name), "_") }

// Kebab writes a name as words-of-the-name.
func Kebab(name string) string { return strings.Join(Words(name), "-") }

// Pascal writes a name as WordsOfTheName.
func Pascal(name string) string {
	var out strings.Builder
	for _, w := range Words(name) {
		out.WriteString(capital(w))
	}
	return out.String()
}

// Camel writes a name as wordsOfTheName.
func Camel(name string) string {
	n := Pascal(name)
	return strings.ToLower(n[:1]) + n[1:]
}

// initialisms are the words that Go writes in capitals.
var initialisms = []string{"id", "url", "api", "ip", "sha256", "arn", "http", "json"}

// Go writes a name as Go does: webhook_url is WebhookURL.
func Go(name string) string {
	var out strings.Builder
	for _, w := range Words(name) {
		switch {
		case slices.Contains(initialisms, w):
			out.WriteString(strings.ToUpper(w))
		case w == "ids" || w == "urls":
			out.WriteString(strings.ToUpper(w[:len(w)-1]) + "s")
		default:
			out.WriteString(capital(w))
		}
	}
	return out.String()
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
