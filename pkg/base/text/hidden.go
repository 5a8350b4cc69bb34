// Package text bounds texts, compares names, and finds characters that hide or turn text round. Clip functions bound
// texts, and Nearest finds the name that a caller may have meant.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ByteOrderMark begins a text of some programs, such as the editors of Windows. It is no part of what the text says.
const ByteOrderMark = "\ufeff"

// IsHidden reports whether a character is a tag or a control of the direction of text.
func IsHidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// IsBlank reports whether a text has no visible character. The fillers of Hangul and the blank of Braille are none.
func IsBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !strings.ContainsRune("\u115f\u1160\u3164\uffa0\u2800", r)
	})
}

// flags are the emoji with tags that are for general interchange (RGI of UTS 51): the flags of England, Scotland and
// Wales. They hide nothing.
var flags = []string{
	"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
	"\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
}

// HasHidden reports whether a text has characters that hide text or turn it round, other than those of flags.
func HasHidden(text string) bool { return RemoveHidden(text) != text }

// RemoveHidden returns a text without them.
func RemoveHidden(text string) string {
	return MapOutsideFlags(text, func(r rune) rune {
		if IsHidden(r) {
			return -1
		}
		return r
	})
}

// MapOutsideFlags is strings.Map for all characters but those of flags that have tags.
func MapOutsideFlags(text string, mapping func(rune) rune) string {
	if !strings.ContainsRune(text, '\U0001f3f4') {
		return strings.Map(mapping, text)
	}
	var b strings.Builder
	for len(text) > 0 {
		flag := ""
		for _, f := range flags {
			if strings.HasPrefix(text, f) {
				flag = f
			}
		}
		if flag == "" {
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(strings.Map(mapping, text[:size]))
			text = text[size:]
			continue
		}
		b.WriteString(flag)
		text = text[len(flag):]
	}
	return b.String()
}

// IsForbidden reports whether a character stands in no text: a control character other than a line break or a tab, or a
// noncharacter (Unicode, 23.7). Databases and programs of receivers fail on them.
func IsForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || r >= 0xFDD0 && r <= 0xFDEF ||
		r&0xFFFE == 0xFFFE
}

// Forbidden returns the first such character of a text and its place, the number of the characters before it.
func Forbidden(s string) (r rune, at int, found bool) {
	i := strings.IndexFunc(s, IsForbidden)
	if i < 0 {
		return 0, 0, false
	}
	r, _ = utf8.DecodeRuneInString(s[i:])
	return r, utf8.RuneCountInString(s[:i]), true
}

// Plain returns a text of others without such characters and without bytes that are no text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if IsForbidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

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
