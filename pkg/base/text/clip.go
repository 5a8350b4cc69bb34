// Package text bounds texts, compares names, and finds characters that hide or turn text round. Clip functions bound
// texts, and Nearest finds the name that a caller may have meant.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ClipText returns the beginning of a text: at most most bytes, and whole letters. Bytes that are no UTF-8 count as
// letters.
func ClipText(s string, most int) string {
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

// ClipLetters returns a text of at most most letters: the beginning of a longer one, without the spaces at its ends.
func ClipLetters(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		return strings.TrimSpace(string(letters[:most]))
	}
	return s
}

// ClipLine returns a text of others as one line of at most most letters, without control and format characters, which
// could reorder what stands beside it.
func ClipLine(s string, most int) string {
	return ClipLetters(strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)), " "), most)
}
