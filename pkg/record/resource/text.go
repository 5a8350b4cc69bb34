package resource

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Text is a text that answers show as null where there is none, so that it is not taken for one that is empty.
type Text string

// MarshalJSON writes the text, or null if it is empty.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(t))
}

// IsBlank reports whether a text has no visible character.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}
