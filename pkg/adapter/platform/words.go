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
	return regexp.MustCompile(`(?i)bearer\s+[^\s&"']+|` +
		`[\w-]*(?:token|secret|password|passwd|key|sig|signature|code)=[^\s&]+|` +
		`[\w-]*(?:token|secret|password|passwd|key|signature)["']?:\s?["']?[^\s&"',;)}\]]*[0-9][^\s&"',;)}\]]*|` +
		`https?://[^\s?]+|\beyJ[A-Za-z0-9_.-]+|\b[0-9]{6,}:[A-Za-z0-9_-]{20,}|[A-Za-z0-9_+/=.|%~-]{32,}`)
})

// Words returns what a platform has said about a refusal as one line of plain text of at most MaxWords characters:
// without control and format characters, and without what may be a token. It is the text of others, and says nothing
// that the service vouches for.
func Words(said string) string {
	said = opaque().ReplaceAllStringFunc(text.ClipLine(spaced(said), 4*MaxWords), func(s string) string {
		if at, _, found := strings.Cut(s, "://"); found && strings.HasPrefix(at, "http") && !hidden(s) {
			return s
		}
		mixed := strings.ContainsAny(s, "0123456789=") && strings.IndexFunc(s, unicode.IsLetter) >= 0
		if mixed || strings.Contains(s, " ") {
			return "[removed]"
		}
		return s
	})
	if utf8.RuneCountInString(said) <= MaxWords {
		return said
	}
	return text.ClipLetters(said, MaxWords-1) + "…"
}

// hidden reports whether the address of a page has a part that may be a token.
func hidden(address string) bool {
	for part := range strings.FieldsFuncSeq(address, func(r rune) bool { return r == '/' || r == '-' || r == '_' }) {
		if len(part) >= 20 && strings.ContainsAny(part, "0123456789") && strings.IndexFunc(part,
			unicode.IsLetter) >= 0 {
			return true
		}
	}
	return strings.Contains(address, "@") || strings.Contains(address, "/bot")
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
