package platform

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/text"
)

// MaxWords bounds the platform's own words about a refusal, in characters.
const MaxWords = 400

// opaque are texts that may be tokens, signatures or parts of them: long, without spaces, and with letters and digits.
var opaque = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:bearer\s+|(?:access_token|token|secret|key|sig|signature|code)=)[^\s&"']+|` +
		`[A-Za-z0-9_+/=.|-]{32,}`)
})

// Words returns what a platform has said about a refusal as one line of plain text of at most MaxWords characters:
// without control and format characters, and without what may be a token. It is the text of others, and says nothing
// that the service vouches for.
func Words(said string) string {
	said = opaque().ReplaceAllStringFunc(text.ClipLine(spaced(said), 4*MaxWords), func(s string) string {
		if strings.ContainsAny(s, "0123456789=") && strings.IndexFunc(s, unicode.IsLetter) >= 0 || strings.Contains(s,
			" ") {
			return "[removed]"
		}
		return s
	})
	if utf8.RuneCountInString(said) <= MaxWords {
		return said
	}
	return text.ClipLetters(said, MaxWords-1) + "…"
}

// spaced returns a text with a space in place of each control character.
func spaced(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
