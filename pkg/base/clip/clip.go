// Package clip bounds texts.
package clip

import "unicode/utf8"

// Text returns the beginning of a text: at most most bytes, and whole letters. Bytes that are no UTF-8 count as
// letters.
func Text(s string, most int) string {
	if len(s) <= most {
		return s
	}
	// A letter has up to four bytes. Without a beginning among the last of them, the text is no UTF-8.
	for end := most; end > most-utf8.UTFMax && end >= 0; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}
	return s[:most]
}
