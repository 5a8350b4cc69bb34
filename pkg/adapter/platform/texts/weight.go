package texts

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// LinkWeight is the length of each link on X.
const LinkWeight = 23

// emojiPatterns has a pattern a line of the emojis of several characters that X counts as one: those of twemoji-parser
// 11.0.2, with which twitter-text 3.1.0 counts.
//
//go:embed x_emojis.txt
var emojiPatterns string

var emojis = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` + strings.Join(strings.Fields(emojiPatterns), "|") + `)`)
})

// Weight returns the length of a text as X counts it, in its composed form (NFC): 23 for a link, 2 for an emoji and for
// a character of the scripts of East Asia, and 1 for most others.
func Weight(s string) (n int) {
	s = norm.NFC.String(s)
	links := linksOfX(s)
	for at := 0; at < len(s); {
		if len(links) > 0 && links[0].Start == at {
			n, at, links = n+LinkWeight, links[0].End, links[1:]
			continue
		}
		r := after(s, at)
		end := at + width(s, at)
		if compound(r, after(s, end)) {
			if emoji := emojis().FindString(s[at:min(len(s), at+longestEmoji)]); emoji != "" {
				n, at = n+2, at+len(emoji)
				continue
			}
		}
		n, at = n+RuneWeight(r), end
	}
	return n
}

// longestEmoji is more than the bytes of the longest emoji.
const longestEmoji = 48

// compound reports whether two characters may be the beginning of an emoji of several characters.
func compound(r, next rune) bool {
	switch next {
	case '\uFE0F', '\u200D':
		return true
	case '\u20E3':
		return digit(r) || r == '#' || r == '*'
	}
	return next >= 0x1F1E6 && r >= 0x2000 || next >= 0xE0000 && r >= 0x2000
}

// RuneWeight returns the weight of a character on X, from the configuration of X's own library.
func RuneWeight(r rune) int {
	if r <= 4351 || r >= 8192 && r <= 8205 || r >= 8208 && r <= 8223 || r >= 8242 && r <= 8247 {
		return 1
	}
	return 2
}
