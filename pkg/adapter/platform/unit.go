package platform

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Unit is the unit of the length of a text.
type Unit string

// The units.
const (
	Runes Unit = "characters"
	UTF16 Unit = "utf16_units"
	Bytes Unit = "bytes"
	// Graphemes are what readers see as characters: an emoji of several code points is one.
	Graphemes Unit = "graphemes"
	// EmojiBytes are characters, where an emoji counts as its bytes.
	EmojiBytes Unit = "characters_and_bytes_of_emoji"
	// Weighted is the length of X: 23 for a link, 2 for an emoji and for a character of the scripts
	// of East Asia, and 1 for others.
	Weighted Unit = "weighted_characters"
)

// Name returns the unit in words.
func (u Unit) Name() string {
	if u == "" {
		u = Runes
	}
	return strings.ReplaceAll(string(u), "_", " ")
}

// Rule says what counts for more than one in the unit, in a clause, or "" if every character counts one.
func (u Unit) Rule() string {
	switch u {
	case UTF16:
		return "an emoji counts 2 or more"
	case Bytes:
		return "a Cyrillic, Greek, Hebrew or Arabic letter counts 2, others up to 3, and an emoji 4 or more"
	case Graphemes:
		return "an emoji counts 1"
	case EmojiBytes:
		return "an emoji counts 4 or more"
	case Weighted:
		return "a Chinese, Japanese or Korean character and an emoji count 2, and a link counts 23"
	}
	return ""
}

// PerCharacter returns the most that a letter of a script counts in the unit. The script is a code of ISO 15924, and
// the emojis of a text are not considered.
func (u Unit) PerCharacter(script string) int {
	switch u {
	case Bytes:
		return 3
	case Weighted:
		letter, known := letters[script]
		if !known {
			return 2
		}
		return weight(letter)
	}
	return 1
}

// letters has a letter of each script that X counts as one character.
var letters = map[string]rune{"Latn": 'e', "Cyrl": 'я', "Grek": 'ω', "Armn": 'ա', "Hebr": 'א', "Arab": 'م', "Deva": 'अ',
	"Beng": 'অ', "Guru": 'ਅ', "Gujr": 'અ', "Taml": 'அ', "Telu": 'అ', "Knda": 'ಅ', "Mlym": 'അ', "Sinh": 'අ', "Thai": 'ก',
	"Laoo": 'ກ', "Mymr": 'က', "Geor": 'ა'}

// linkLength is the weighted length of a link.
const linkLength = 23

// Length returns the length of a text in the unit.
func (u Unit) Length(s string) (n int) {
	switch u {
	case UTF16:
		for _, r := range s {
			n += max(utf16.RuneLen(r), 1)
		}
		return n
	case Bytes:
		return len(s)
	case Graphemes:
		return uniseg.GraphemeClusterCount(s)
	case EmojiBytes:
		clusters(s, func(c string, _ int) {
			if emoji(c) {
				n += len(c)
			} else {
				n += utf8.RuneCountInString(c)
			}
		})
		return n
	case Weighted:
		return weighted(s)
	default:
		return utf8.RuneCountInString(s)
	}
}

// weighted returns the length of a text with links as X counts it.
func weighted(s string) (n int) {
	plain := func(s string) {
		clusters(s, func(c string, _ int) {
			if emoji(c) {
				n += 2
				return
			}
			for _, r := range c {
				n += weight(r)
			}
		})
	}
	at := 0
	for _, l := range Links(s) {
		plain(s[at:l.Start])
		if n += linkLength; !l.Scheme {
			// X takes a name as a link only if it knows its top-level domain.
			n += max(0, utf8.RuneCountInString(s[l.Start:l.End])-linkLength)
		}
		at = l.End
	}
	plain(s[at:])
	return n
}

// weight returns the weight of a character, from the configuration of X's own library.
func weight(r rune) int {
	if r <= 4351 || r >= 8192 && r <= 8205 || r >= 8208 && r <= 8223 || r >= 8242 && r <= 8247 {
		return 1
	}
	return 2
}

// clusters calls f for each grapheme cluster of a text, with the offset of its end.
func clusters(s string, f func(cluster string, end int)) {
	state, end := -1, 0
	for rest := s; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		end += len(c)
		f(c, end)
	}
}

// emoji reports whether a grapheme cluster is an emoji.
func emoji(cluster string) bool {
	first, size := utf8.DecodeRuneInString(cluster)
	if size == len(cluster) {
		return first >= 0x1F000 && first <= 0x1FAFF || first >= 0x2600 && first <= 0x27BF
	}
	return first >= 0x1F000 && first <= 0x1FAFF || strings.ContainsAny(cluster, "\uFE0F\u20E3")
}

// cut returns the longest beginning of s that has at most n units and ends between two grapheme clusters.
func (u Unit) cut(s string, n int) string {
	ends := []int{0}
	clusters(s, func(_ string, end int) { ends = append(ends, end) })
	i, _ := slices.BinarySearchFunc(ends, n, func(end, n int) int {
		if u.Length(s[:end]) <= n {
			return -1
		}
		return 1
	})
	return s[:ends[max(i-1, 0)]]
}

// Cut shortens a text to at most n units, at the end of a sentence or of a word if one is in its second half.
func (u Unit) Cut(s string, n int) string {
	if u.Length(s) <= n {
		return s
	}
	s = u.cut(s, n)
	for _, ends := range []string{"\n", ".!?…。！？؟।", " "} {
		if end := strings.LastIndexAny(s, ends); end > len(s)/2 {
			_, size := utf8.DecodeRuneInString(s[end:])
			return strings.TrimSpace(s[:end+size])
		}
	}
	return strings.TrimSpace(s)
}

// Link is a part of a text that a platform shows as a link: the bytes from Start to End.
type Link struct {
	Start, End int
	Scheme     bool // the link begins with https:// or http://
}

var links = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(https?://)?(?:[\pL\pN](?:[\pL\pN_-]*[\pL\pN])?\.)+` +
		`\pL{2,}(?::\d+)?(?:[/?#][^\s<>"]*)?`)
})

// Links returns the links in a text. The punctuation that ends a sentence is not a part of a link.
func Links(s string) (all []Link) {
	for _, at := range links().FindAllStringSubmatchIndex(s, -1) {
		l := Link{Start: at[0], End: at[1], Scheme: at[2] >= 0}
		if before, _ := utf8.DecodeLastRuneInString(s[:l.Start]); before == '@' || before == '#' || before == '_' {
			continue // a name or an address of mail
		}
		if rest := s[l.End:]; strings.HasPrefix(rest, "@") {
			continue
		}
		l.End = l.Start + len(strings.TrimRight(s[l.Start:l.End], ".,;:!?'\")]}…"))
		all = append(all, l)
	}
	return all
}
