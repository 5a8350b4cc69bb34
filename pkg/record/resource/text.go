package resource

import (
	"strings"
	"unicode"
)

// IsBlank reports whether nothing of a text can be seen.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}
