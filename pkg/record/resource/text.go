package resource

import (
	"strings"
	"unicode"
)

// IsBlank reports whether a text has no visible character.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}
