// Package script knows what finished media can show, without the fonts: a table has the characters of each. So areas
// can refuse a text that could not be drawn later, and the engine finds the font of a character without reading them
// all. Missing returns what no font has.
package script

import (
	_ "embed" // the table of what the fonts have
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// codes are the ISO 15924 codes of the writing systems.
var codes = []string{
	"Latn", "Cyrl", "Grek", "Arab", "Hebr", "Deva", "Thai", "Hans", "Hant", "Hani", "Jpan", "Hrkt", "Hira", "Kana",
	"Bopo", "Kore", "Hang",
}

// Fonts are the families that a brand can choose. The first is the default.
var Fonts = []string{"noto_sans", "montserrat", "lora", "oswald"}

// Names lists the writing systems for messages.
const Names = "Latin, Cyrillic, Greek, Arabic, Hebrew, Devanagari, Thai, Chinese, Japanese and Korean"

// CoversLanguage reports whether texts in a language (BCP 47) can be shown, by its usual writing system. It reports
// true if that is not known.
func CoversLanguage(tag string) bool {
	parsed, err := language.Parse(tag)
	if err != nil {
		return true
	}
	code, confidence := parsed.Script()
	return confidence == language.No || slices.Contains(codes, code.String())
}

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

// Place is the place of a text: the width and the number of its lines, in the smallest letters.
type Place struct {
	Width float64 // in ems
	Lines int
}

// The places of texts in finished media.
var (
	Story   = Place{29.3, 9} // the title of a story
	Slide   = Place{30.4, 9} // the heading of a slide, and of a post
	Body    = Place{33, 6}   // the text below the heading of a slide
	Screen  = Place{26.9, 4} // the text of a scene
	Track   = Place{28, 3}   // the title of a music clip
	Band    = Place{41, 2}   // the name of a brand
	ByALogo = Place{26, 2}   // the same, beside a logo
)

// Fits reports whether a text surely fits into a place. It has no fonts, and slightly overestimates the widths of
// characters.
func (p Place) Fits(text string) bool {
	lines, used, space := 1, 0.0, 0.0
	for word, ends := range parts(Drawn(text)) {
		width := Width(word)
		before := space
		if space = 0; ends {
			space = spaceAfter(word)
		}
		switch {
		case used > 0 && used+before+width <= p.Width:
			used += before + width
			continue
		case width <= p.Width && used > 0:
			lines, used = lines+1, width
			continue
		case used > 0:
			lines, used = lines+1, 0
		}
		for _, r := range word { // a word that is wider than a line is divided
			w := widthOf(r)
			if used+w > p.Width {
				lines, used = lines+1, 0
			}
			used += w
		}
	}
	return lines <= p.Lines
}

// parts returns the parts of a text between which a line may end: words, and those of a word between its soft hyphens,
// each with a hyphen. It reports which of them end a word.
func parts(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for word := range strings.FieldsSeq(text) {
			for hyphen := strings.Index(word, softHyphen); hyphen >= 0; hyphen = strings.Index(word, softHyphen) {
				if !yield(word[:hyphen]+"-", false) {
					return
				}
				word = word[hyphen+len(softHyphen):]
			}
			if !yield(word, true) {
				return
			}
		}
	}
}

// softHyphen is a place where a word may be divided (UAX 14).
const softHyphen = "\u00ad"

// Clip returns the beginning of a text that surely fits into a place, to the end of a word if it can.
func (p Place) Clip(text string) string {
	for !p.Fits(text) {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		if end := strings.LastIndexFunc(text, unicode.IsSpace); end > len(text)/2 {
			text = strings.TrimSpace(text[:end])
		}
	}
	return text
}

// spaceAfter returns the approximate width of a space after a word, which has the word's font.
func spaceAfter(word string) float64 {
	last, _ := utf8.DecodeLastRuneInString(word)
	if w := widthOf(last); w == emoji || w == 0 {
		return emoji
	}
	return widthOf(' ')
}

// emoji is the approximate width of an emoji.
const emoji = 1.32

// Width returns the approximate width of a text, in ems.
func Width(text string) (sum float64) {
	for _, r := range text {
		sum += widthOf(r)
	}
	return sum
}

// narrow are the ASCII characters that are less than half as wide as the others.
const narrow = ` !'"(),-./:;I[\]ijlrft|` + "`"

// widths are the approximate widths of the characters of writing systems, in ems: lower case, and all others.
var widths = []struct {
	of           *unicode.RangeTable
	lower, other float64
}{
	{unicode.Latin, 0.66, 0.8}, {unicode.Cyrillic, 0.72, 0.82}, {unicode.Greek, 0.68, 0.78}, {unicode.Arabic, 0, 0.85},
	{unicode.Hebrew, 0, 0.65},
	{unicode.Devanagari, 0, 0.75}, {unicode.Thai, 0, 0.75}, {unicode.Hangul, 0, 1},
}

// widthOf returns the approximate width of a character.
func widthOf(r rune) float64 {
	switch {
	case r < unicode.MaxASCII && strings.ContainsRune(narrow, r):
		return 0.46
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%':
		return 1
	case r < unicode.MaxASCII && !unicode.IsUpper(r):
		return 0.66
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r == 0xfdfd: // a whole sentence
		return 11
	case r >= 0xfb50 && r <= 0xfdff || r == 0x2e3b: // ligatures of words, and a dash of three
		return 3
	case r == 0x2e3a || r == 0x2031:
		return 2
	case r >= 0x1f000 || r >= 0x2600 && r <= 0x27bf: // emoji
		return emoji
	}
	for _, w := range widths {
		if unicode.Is(w.of, r) {
			if unicode.IsLower(r) {
				return w.lower
			}
			return w.other
		}
	}
	return 1.05
}

// forms are the forms of Unicode in which a character may be drawn that no font has as it is typed: composed or in
// parts, or the letters of which it is a variant, such as those of bold mathematics.
var forms = []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD}

// Draw returns the font that draws a cluster, and the characters that are drawn. It reports whether there is one.
func (o Order) Draw(cluster []rune) (f Family, drawn []rune, ok bool) {
	if f, ok = o.find(cluster); ok {
		return f, cluster, true
	}
	for _, form := range forms {
		other := []rune(form.String(string(cluster)))
		if slices.Equal(other, cluster) {
			continue
		}
		if f, ok = o.find(other); ok {
			return f, other, true
		}
	}
	return 0, nil, false
}

// find returns the first font that has a cluster.
func (o Order) find(cluster []rune) (Family, bool) {
	switch {
	case Pictorial(cluster) && Emoji.covers(cluster):
		return Emoji, true
	case Plain(cluster): // fonts of symbols have it as others have letters
		for _, f := range []Family{Symbols, MoreSymbols, Emoji} {
			if f.covers(cluster) {
				return f, true
			}
		}
	case unicode.Is(unicode.Devanagari, cluster[0]) && Devanagari.covers(cluster): // Noto Sans has some of it, too
		return Devanagari, true
	}
	for _, f := range o {
		if f.covers(cluster) {
			return f, true
		}
	}
	return 0, false
}

// usual is the order in which a text is looked at before anybody knows how it is drawn. Any order has the same fonts.
var usual = OrderOf(Latin, "", "")

// MissingGlyph is a character that no font has.
type MissingGlyph struct {
	Char rune
	// Place is the number of the character in its text, from 1.
	Place int
}

// Error says what is wrong, after the name of a member.
func (l MissingGlyph) Error() string {
	if unicode.IsPrint(l.Char) && !unicode.IsMark(l.Char) {
		return fmt.Sprintf("has the character %c (U+%04X) at the place %d, of which there is no font. Leave it out, "+
			"or replace it: texts in finished media are in %s, with emoji and common "+
			"symbols", l.Char, l.Char, l.Place, Names)
	}
	return fmt.Sprintf("has the character U+%04X at the place %d, of which there is no font. Leave it out, or replace "+
		"it: texts in finished media are in %s, with emoji and common symbols", l.Char, l.Place, Names)
}

// Missing returns the first character of a text that finished media could not show, and reports whether there is one.
func Missing(text string) (l MissingGlyph, found bool) {
	if common(text) {
		return l, false
	}
	each(text, func(cluster []rune, at int) bool {
		if unicode.IsSpace(cluster[0]) || unicode.IsControl(cluster[0]) { // a mark after it stands alone
			if cluster, at = cluster[1:], at+1; len(cluster) == 0 || unicode.IsControl(cluster[0]) {
				return true
			}
		}
		if _, _, ok := usual.Draw(cluster); ok {
			return true
		}
		found = true
		n := max(slices.IndexFunc(cluster, func(r rune) bool { return !Unseen(r) && !usual.has(r) }), 0)
		l = MissingGlyph{cluster[n], at + n + 1}
		return false
	})
	return l, found
}

// Drawable reports whether finished media can show a text.
func Drawable(text string) bool {
	_, missing := Missing(text)
	return !missing
}

// has reports whether any font has a character.
func (o Order) has(r rune) bool {
	return slices.ContainsFunc(o, func(f Family) bool { return f.Has(r) })
}

// Drawn returns a text as it is drawn: characters that no font has are in the form that a font has. Those without such
// a form stay.
func Drawn(text string) string {
	if common(text) {
		return text
	}
	var out strings.Builder
	each(text, func(cluster []rune, _ int) bool {
		if _, drawn, ok := usual.Draw(cluster); ok {
			cluster = drawn
		}
		out.WriteString(string(cluster))
		return true
	})
	return out.String()
}

// common reports whether a text has only ASCII and letters of Noto Sans, which need no closer look.
func common(text string) bool {
	for _, r := range text {
		if r >= utf8.RuneSelf && !Latin.Has(r) {
			return false
		}
	}
	return true
}

// each calls a function with each cluster of a text, a character as a reader sees it, and the number of the characters
// before it, until it returns false.
func each(text string, do func(cluster []rune, at int) bool) {
	var seg segmenter.Segmenter
	seg.Init([]rune(text))
	for all := seg.GraphemeIterator(); all.Next(); {
		if g := all.Grapheme(); !do(g.Text, g.Offset) {
			return
		}
	}
}

// The selectors by which a text says how a character is drawn (UTS 51): in lines of one color, or as a picture.
const (
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// Pictorial reports whether a cluster is an emoji (UTS 51): it is one by itself, or a selector, a skin tone or another
// emoji that is joined with it makes it one.
func Pictorial(cluster []rune) bool {
	first, rest := cluster[0], cluster[1:]
	switch {
	case !unicode.Is(emojis, first) || len(rest) > 0 && rest[0] == textStyle:
		return false
	case unicode.Is(presented, first):
		return true
	}
	return slices.ContainsFunc(rest, func(r rune) bool { return r == emojiStyle || modifier(r) }) ||
		slices.Contains(rest, '\u200d') && unicode.Is(emojis, cluster[len(cluster)-1])
}

// Plain reports whether a cluster asks for letters of one color instead of a picture.
func Plain(cluster []rune) bool { return len(cluster) > 1 && cluster[1] == textStyle }

// modifier reports whether a character is a skin tone.
func modifier(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// flag is the black flag, with which tags are the flag of a part of a country.
const flag = '\U0001f3f4'

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }
