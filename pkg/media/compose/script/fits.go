package script

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
