package web

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ASCII returns JSON with all characters that are not ASCII escaped.
func ASCII(text []byte) string {
	var out strings.Builder
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}
