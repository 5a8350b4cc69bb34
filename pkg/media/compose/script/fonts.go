package script

import (
	_ "embed" // the table of what the fonts have
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
)

// Family is a font of the set.
type Family int

// The fonts. Traditional and HongKong have the forms of Taiwan and of Hong Kong.
const (
	Latin Family = iota
	Arabic
	Hebrew
	Devanagari
	Thai
	Chinese
	Traditional
	HongKong
	Japanese
	Korean
	Symbols
	MoreSymbols
	Emoji
	Montserrat
	Lora
	Oswald
	Colored
	Families int = iota
)

// Files are the files of the fonts; infra/tools/media-tools.mjs installs them.
var Files = [...]string{
	Latin: "NotoSans-Bold.ttf", Arabic: "NotoSansArabic-Bold.ttf", Hebrew: "NotoSansHebrew-Bold.ttf",
	Devanagari: "NotoSansDevanagari-Bold.ttf", Thai: "NotoSansThai-Bold.ttf", Chinese: "NotoSansSC-Bold.ttf",
	Traditional: "NotoSansTC-Bold.ttf", HongKong: "NotoSansHK-Bold.ttf", Japanese: "NotoSansJP-Bold.ttf",
	Korean: "NotoSansKR-Bold.ttf", Symbols: "NotoSansSymbols-Bold.ttf", MoreSymbols: "NotoSansSymbols2-Regular.ttf",
	Emoji: "NotoEmoji-Bold.ttf", Montserrat: "Montserrat-Bold.ttf", Lora: "Lora-Bold.ttf", Oswald: "Oswald-Bold.ttf",
	Colored: "NotoColorEmoji-Regular.ttf",
}

//go:generate go run ./gen ../../../../.tools/media/fonts glyphs.bin

//go:embed glyphs.bin
var table string

// span is a range of characters, both ends included.
type span struct{ from, to rune }

// glyphs is what a font has.
type glyphs struct {
	// name and version are those that the font states.
	name, version string
	spans         []span
}

// fonts reads the table once it is needed: each font has its name and version, with their lengths, the number of its
// ranges, and for each the distance to the one before it and its length, all as varints.
var fonts = sync.OnceValue(func() (all [Families]glyphs) {
	rest := []byte(table)
	number := func() int {
		v, n := binary.Uvarint(rest)
		rest = rest[n:]
		return int(v)
	}
	word := func() (s string) {
		n := number()
		s, rest = string(rest[:n]), rest[n:]
		return s
	}
	for i := range all {
		g := glyphs{name: word(), version: word(), spans: make([]span, number())}
		at := 0
		for k := range g.spans {
			from := at + number()
			at = from + number()
			g.spans[k] = span{rune(from), rune(at)}
		}
		all[i] = g
	}
	return all
})

// Name and Version are those that the font states.
func (f Family) Name() string { return fonts()[f].name }

// Version is the version of the font of which the table is.
func (f Family) Version() string { return fonts()[f].version }

// Has reports whether the font has a character.
func (f Family) Has(r rune) bool {
	_, found := slices.BinarySearchFunc(fonts()[f].spans, r, func(s span, r rune) int {
		switch {
		case s.to < r:
			return -1
		case s.from > r:
			return 1
		}
		return 0
	})
	return found
}

// covers reports whether the font has all visible characters of a cluster.
func (f Family) covers(cluster []rune) bool {
	for i, r := range cluster {
		if !Unseen(r) && !(i > 0 && (modifier(r) || cluster[0] == flag && tag(r))) && !f.Has(r) {
			return false
		}
	}
	return true
}

// Unseen reports whether a character is never seen itself: it joins or divides others, or changes their form.
func Unseen(r rune) bool {
	return r >= 0xad && !tag(r) && (unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point))
}

// Order is the order in which fonts are tried for the characters of a text.
type Order []Family

// OrderOf returns the order for a text of a language (BCP 47, may be empty) in a family. A Chinese character has
// different forms in Taiwan, Hong Kong, Japan and Korea.
func OrderOf(first Family, text, lang string) Order {
	all := append(Order{first, Latin, Arabic, Hebrew, Devanagari, Thai}, eastern(text, lang)...)
	return append(all, Emoji, Symbols, MoreSymbols, Montserrat, Lora, Oswald)
}

// eastern returns the order of the fonts of Chinese characters.
func eastern(text, lang string) []Family {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")
	has := func(tables ...*unicode.RangeTable) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, tables...) })
	}
	switch chinese := base == "zh" || base == "yue"; {
	case base == "ja" || !chinese && base != "ko" && has(unicode.Hiragana, unicode.Katakana):
		return []Family{Japanese, Chinese, Traditional, HongKong, Korean}
	case base == "ko" || !chinese && has(unicode.Hangul):
		return []Family{Korean, Chinese, Traditional, HongKong, Japanese}
	case chinese:
		tag := language.Make(lang)
		region, _ := tag.Region()
		switch used, _ := tag.Script(); {
		case used.String() != "Hant":
		case region.String() == "HK" || region.String() == "MO" || base == "yue":
			return []Family{HongKong, Traditional, Chinese, Japanese, Korean}
		default:
			return []Family{Traditional, HongKong, Chinese, Japanese, Korean}
		}
	}
	return []Family{Chinese, Traditional, HongKong, Japanese, Korean}
}
