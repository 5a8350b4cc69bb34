package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/unicode/bidi"
)

// The reasons for which a text cannot be laid out.
var (
	ErrTooLong = errors.New("text: the text is too long for its place")
	ErrScript  = errors.New("text: the fonts lack the script of the text")
	ErrEmpty   = errors.New("text: the text has nothing to show")
)

// cluster is a character as a reader sees it.
type cluster struct {
	text  string
	face  *face
	width float64 // in ems, alone
	// size is the length of the character in the text, in bytes. A space of another width or kind is drawn as U+0020.
	size int
	// art is the drawing of an emoji in color, and before the width of its unit before it, in ems.
	art    art
	before float64
}

// unit is the smallest part of a text between two possible line breaks.
type unit struct {
	clusters []cluster
	// begin and end are offsets into the text, in bytes, without the space after it.
	begin, end int
	// width is the width of the unit, and space that of the space after it, in ems.
	width, space float64
	// gap is the font of the space after it.
	gap *face
	// binds reports whether the unit belongs to the one after it.
	binds bool
}

// text returns the text of the unit.
func (u unit) text() string {
	var b strings.Builder
	for _, c := range u.clusters {
		b.WriteString(c.text)
	}
	return b.String()
}

// maxMissing is the greatest fraction of a text's letters that no font has. They are omitted. With more, the text is of
// an unsupported script.
const maxMissing = 0.1

// Clean replaces control characters, such as line ends, by spaces. Offsets stay the same.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// units divides a text at the possible line breaks: those of a Japanese text are at the ends of its phrases.
func (f *Fonts) units(text, lang string) ([]unit, error) {
	return f.unitsOf(text, lang, inJapanese(text, lang))
}

// unitsOf is units, with or without the phrases of Japanese.
func (f *Fonts) unitsOf(text, lang string, phrases bool) ([]unit, error) {
	text = Clean(text)
	first := f.first
	if all, err := f.has(first, text); err != nil {
		return nil, err
	} else if !all {
		first = latin
	}
	chars := []rune(text)
	var seg segmenter.Segmenter
	seg.Init(chars)
	breaks := map[int]bool{}
	for lines := seg.LineIterator(); lines.Next(); {
		line := lines.Line()
		end := line.Offset + len(line.Text)
		breaks[end] = !withinNumber(chars, end) && (!phrases || phraseBreak(chars, end))
	}
	var all []unit
	var u unit
	fonts, at, letters, missing := order(first, text, lang), 0, 0, 0
	for graphemes := seg.GraphemeIterator(); graphemes.Next(); {
		g := graphemes.Grapheme()
		c := cluster{text: string(g.Text), size: len(string(g.Text))}
		begin := at
		at += len(c.text)
		if thaiBreak(chars, g.Offset) {
			all, u = f.close(all, u)
		}
		if unicode.IsSpace(g.Text[0]) {
			if n := len(u.clusters); n > 0 && u.space == 0 {
				// The space has the font of the character before it, except that of emoji, whose space is as wide
				// as they are.
				if u.gap = u.clusters[n-1].face; u.gap == f.faces[emoji] {
					var err error
					if u.gap, err = f.face(first); err != nil {
						return nil, err
					}
				}
				u.space = f.width(u.gap, []rune{' '})
			}
			if len(u.clusters) > 0 && (withinNumber(chars, g.Offset+1) || unbroken(g.Text[0])) {
				u.clusters, u.space, u.end = append(u.clusters, cluster{text: " ", face: u.gap, width: u.space,
					size: c.size}), 0, at
			}
		} else {
			var err error
			if c.face, err = f.choose(g.Text, fonts); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(g.Text, func(r rune) bool { return unicode.IsLetter(r) || pictorial(g.Text) }) {
				letters++
				if c.face == nil {
					missing++
				}
			}
			if c.face != nil {
				c.width = f.width(c.face, g.Text)
				if c.face == f.faces[emoji] {
					if c.art, err = f.artOf(g.Text); err != nil {
						return nil, err
					}
				}
				if u.clusters == nil {
					u.begin = begin
				}
				u.clusters, u.end = append(u.clusters, c), at
			}
		}
		if breaks[g.Offset+len(g.Text)] {
			all, u = f.close(all, u)
		}
	}
	all, _ = f.close(all, u)
	switch {
	case float64(missing) > maxMissing*float64(letters):
		return nil, fmt.Errorf("%w: %.40q", ErrScript, text)
	case len(all) == 0:
		return nil, ErrEmpty
	}
	bind(all, lang)
	return all, nil
}

// close measures a unit and appends it.
func (f *Fonts) close(all []unit, u unit) ([]unit, unit) {
	if u.clusters == nil {
		return all, unit{}
	}
	for i, c := range u.clusters {
		if c.art != nil {
			u.clusters[i].before = f.joined(u.clusters[:i])
		}
	}
	u.width = f.joined(u.clusters)
	return append(all, u), unit{}
}

// joined returns the width of clusters beside each other, in ems.
func (f *Fonts) joined(clusters []cluster) (width float64) {
	for _, r := range runs(clusters) {
		width += f.width(r.face, []rune(r.text))
	}
	return width
}

// thaiBreak reports whether a line may break before a Thai letter: a syllable begins with a vowel that is written
// first. Thai has no spaces between words, and a dictionary of its words would be too large here.
func thaiBreak(chars []rune, at int) bool {
	leading := func(r rune) bool { return r >= 'เ' && r <= 'ไ' }
	return at > 0 && leading(chars[at]) && unicode.Is(unicode.Thai, chars[at-1]) && !leading(chars[at-1])
}

// unbroken reports whether a space keeps the words beside it on one line (UAX 14, class GL): the no-break space, that
// of figures and the narrow one, which stands between a number and its currency.
func unbroken(r rune) bool { return r == '\u00a0' || r == '\u2007' || r == '\u202f' }

// withinNumber reports whether a space before an offset divides the digits of a number.
func withinNumber(chars []rune, at int) bool {
	return at > 1 && at < len(chars) && chars[at-1] == ' ' && unicode.IsDigit(chars[at-2]) && unicode.IsDigit(chars[at])
}

// runs joins neighbors of the same font.
func runs(clusters []cluster) []cluster {
	var all []cluster
	for _, c := range clusters {
		if n := len(all); n > 0 && all[n-1].face == c.face {
			all[n-1].text += c.text
			continue
		}
		all = append(all, c)
	}
	return all
}

// rightToLeft reports whether a paragraph runs from right to left, by its first letter with a direction.
func rightToLeft(text string) bool {
	for _, r := range text {
		switch p, _ := bidi.LookupRune(r); p.Class() {
		case bidi.L:
			return false
		case bidi.R, bidi.AL:
			return true
		}
	}
	return false
}

// divided divides the units that are wider than a line into units of one character.
func divided(units []unit, width float64) []unit {
	var all []unit
	for _, u := range units {
		if u.width <= width {
			all = append(all, u)
			continue
		}
		at := u.begin
		for i, c := range u.clusters {
			c.before = 0
			part := unit{clusters: []cluster{c}, width: c.width, begin: at, end: at + c.size}
			if at = part.end; i == len(u.clusters)-1 {
				part.space, part.end = u.space, u.end
			}
			all = append(all, part)
		}
	}
	return all
}
