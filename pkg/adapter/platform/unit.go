package platform

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
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
		return texts.RuneWeight(letter)
	}
	return 1
}

// letters has a letter of each script that X counts as one character.
var letters = map[string]rune{"Latn": 'e', "Cyrl": 'я', "Grek": 'ω', "Armn": 'ա', "Hebr": 'א', "Arab": 'م', "Deva": 'अ',
	"Beng": 'অ', "Guru": 'ਅ', "Gujr": 'અ', "Taml": 'அ', "Telu": 'అ', "Knda": 'ಅ', "Mlym": 'അ', "Sinh": 'අ', "Thai": 'ก',
	"Laoo": 'ກ', "Mymr": 'က', "Geor": 'ა'}

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
				return
			}
			for _, r := range c { // a letter may have parts of an emoji after it
				if partOfEmoji(r) {
					n += utf8.RuneLen(r)
				} else {
					n++
				}
			}
		})
		return n
	case Weighted:
		return texts.Weight(s)
	default:
		return utf8.RuneCountInString(s)
	}
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
		return partOfEmoji(first)
	}
	return first >= 0x1F000 && first <= 0x1FAFF || strings.ContainsAny(cluster, "\uFE0F\u20E3")
}

// partOfEmoji reports whether a character is an emoji or joins the parts of one.
func partOfEmoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x2190 && r < 0x2C00 &&
		unicode.Is(unicode.So, r) || r == 0x200D || r == 0xFE0F || r == 0x20E3
}

// cut returns the longest beginning of s that has at most n units and ends between two grapheme clusters, and not in a
// link.
func (u Unit) cut(s string, n int) string {
	ends := []int{0}
	clusters(s, func(_ string, end int) { ends = append(ends, end) })
	i, _ := slices.BinarySearchFunc(ends, n, func(end, n int) int {
		if u.Length(s[:end]) <= n {
			return -1
		}
		return 1
	})
	end := ends[max(i-1, 0)]
	// No link has a space.
	from := strings.LastIndexFunc(s[:end], unicode.IsSpace) + 1
	to := len(s)
	if i := strings.IndexFunc(s[end:], unicode.IsSpace); i >= 0 {
		to = end + i
	}
	for _, l := range Links(s[from:to]) {
		if from+l.Start < end && end < from+l.End {
			return s[:from+l.Start]
		}
	}
	return s[:end]
}

// Cut shortens a text to at most n units, at the end of a sentence or of a word if one is in its second half.
func (u Unit) Cut(s string, n int) string {
	if u.Length(s) <= n {
		return s
	}
	first := u.cut(s, n)
	return strings.TrimSpace(s[:pause(s, len(first), len(first)/2, "\n")])
}

// The signs that end a sentence: those before a space, those of scripts without spaces, and what may follow them.
const (
	sentenceEnds = ".!?…"
	scriptEnds   = "。！？｡．।॥؟۔።፧។။"
	closingSigns = "\"')]»”’」』）】》〉"
	clauseEnds   = "、，；：،؛"
)

// pause returns the best offset up to end at which a text can be divided: the last of the breaks, else the end of a
// sentence, else a space, else the end of a clause or of a word. An offset is used if it is greater than least;
// otherwise, the text is divided at end.
func pause(s string, end, least int, breaks ...string) int {
	first := s[:end]
	for _, b := range breaks {
		if i := strings.LastIndex(first, b); i > least {
			return i
		}
	}
	if i := sentence(s, end); i > least {
		return i
	}
	if i := strings.LastIndexByte(first, ' '); i > least {
		return i
	}
	if i := strings.LastIndexAny(first, clauseEnds); i > least {
		return i + width(s[i:])
	}
	if i := word(s, end); i > least {
		return i
	}
	return end
}

// sentence returns the end of the last sentence that ends up to an offset, or 0.
func sentence(s string, end int) (at int) {
	for i := 0; i < end; {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		native := strings.ContainsRune(scriptEnds, r)
		if !native && !strings.ContainsRune(sentenceEnds, r) {
			continue
		}
		for i < end {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !strings.ContainsRune(closingSigns, r) {
				break
			}
			i += size
		}
		next, _ := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(next) || native && (i < end || !strings.ContainsRune(closingSigns, next)) {
			at = i
		}
	}
	return at
}

// word returns the end of the last word that ends up to an offset. A word of Japanese begins where Hiragana ends, if
// that is not far before the offset.
func word(s string, end int) (at int) {
	phrase, offset, state := 0, 0, -1
	for rest := s; rest != ""; {
		var w string
		if w, rest, state = uniseg.FirstWordInString(rest, state); offset+len(w) > end {
			break
		}
		offset += len(w)
		before, _ := utf8.DecodeLastRuneInString(w)
		next, _ := utf8.DecodeRuneInString(rest)
		if at = offset; unicode.Is(unicode.Hiragana, before) && !unicode.Is(unicode.Hiragana, next) {
			phrase = offset
		}
	}
	if phrase > end/2 {
		return phrase
	}
	return at
}

// width returns the size of the first character of a text.
func width(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// Link is a part of a text that a platform shows as a link.
type Link = texts.Link

// Links returns the links in a text by the rules that most platforms share. Capabilities.Reader has those of a
// platform.
func Links(s string) []Link { return texts.General.Links(s) }

// WrittenTags returns the hashtags in a text by the rules that most platforms share.
func WrittenTags(s string) []texts.Part { return texts.General.Hashtags(s) }

// Mentions returns the names of accounts in a text that begin with @, by the rules that most platforms share.
func Mentions(s string) []texts.Part { return texts.General.Mentions(s) }

// Cashtags returns the symbols of shares in a text that begin with $.
func Cashtags(s string) []texts.Part { return texts.General.Cashtags(s) }
