package text

import "strings"

// IsHidden reports whether a character is a tag or a control of the direction of text.
func IsHidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// RemoveHidden returns a text without them.
func RemoveHidden(text string) string {
	return strings.Map(func(r rune) rune {
		if IsHidden(r) {
			return -1
		}
		return r
	}, text)
}
