// Package hidden finds characters that hide or turn text round: what a person sees is then not what a model reads.
package hidden

import "strings"

// Is reports whether a character is a tag or a control of the direction of text.
func Is(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// Remove returns a text without them.
func Remove(text string) string {
	return strings.Map(func(r rune) rune {
		if Is(r) {
			return -1
		}
		return r
	}, text)
}
