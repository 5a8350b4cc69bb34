package platform

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
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
	said = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, said)), " ")
	said = opaque().ReplaceAllStringFunc(said, func(s string) string {
		if strings.ContainsAny(s, "0123456789=") && strings.IndexFunc(s, unicode.IsLetter) >= 0 || strings.Contains(s, " ") {
			return "[removed]"
		}
		return s
	})
	if Runes.Length(said) <= MaxWords {
		return said
	}
	return strings.TrimSpace(Runes.cut(said, MaxWords-1)) + "…"
}
