package text

import "strings"

// Before returns what a text has before an offset: its last characters, at most n bytes.
func Before(s string, at, n int) string {
	return strings.ToValidUTF8(s[max(0, at-n):max(0, at)], "")
}

// After returns what a text has from an offset on: its first characters, at most n bytes.
func After(s string, at, n int) string {
	return strings.ToValidUTF8(s[at:min(len(s), at+n)], "")
}
