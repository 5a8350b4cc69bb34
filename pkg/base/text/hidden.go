package text

import (
	"strings"
	"unicode/utf8"
)

// IsHidden reports whether a character is a tag or a control of the direction of text.
func IsHidden(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
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
