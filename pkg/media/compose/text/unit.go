package text

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/text/unicode/bidi"

	"github.com/content-automation/api/pkg/media/compose/script"
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
	// hyphen is seen if the line ends here, at a soft hyphen (UAX 14). Without a face, there is none.
	hyphen cluster
}

// whole returns the width of the unit at the end of a line.
func (u unit) whole() float64 { return u.width + u.hyphen.width }

// text returns the text of the unit.
func (u unit) text() string {
	var b strings.Builder
	for _, c := range u.clusters {
		b.WriteString(c.text)
	}
	return b.String()
}

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
	d := divider{Fonts: f, first: f.first, chars: []rune(text)}
	if !has(d.first, text) {
		d.first = script.Latin
	}
	d.order = script.OrderOf(d.first, text, lang)
	var seg segmenter.Segmenter
	seg.Init(d.chars)
	breaks := breaksOf(&seg, d.chars, phrases)
	for graphemes := seg.GraphemeIterator(); graphemes.Next(); {
		g := graphemes.Grapheme()
		if thaiBreak(d.chars, g.Offset) {
			d.close()
		}
		if err := d.take(g.Text, g.Offset); err != nil {
			return nil, err
		}
		if breaks[g.Offset+len(g.Text)] {
			d.close()
		}
	}
	d.close()
	if len(d.all) == 0 {
		return nil, ErrEmpty
	}
	d.all[len(d.all)-1].hyphen = cluster{}
	bind(d.all, lang)
	return d.all, nil
}

// breaksOf returns the offsets at which a line may end.
func breaksOf(seg *segmenter.Segmenter, chars []rune, phrases bool) map[int]bool {
	breaks := map[int]bool{}
	for lines := seg.LineIterator(); lines.Next(); {
		line := lines.Line()
		end := line.Offset + len(line.Text)
		breaks[end] = !withinNumber(chars, end) && (!phrases || phraseBreak(chars, end))
	}
	return breaks
}

// divider divides a text into units.
type divider struct {
	*Fonts
	first script.Family
	order script.Order
	chars []rune
	// u is the unit that is not complete, and at the number of the bytes that were taken.
	u   unit
	all []unit
	at  int
}

// take adds the next character, which is at an offset.
func (d *divider) take(g []rune, offset int) (err error) {
	if unicode.IsSpace(g[0]) { // a mark after it stands alone
		size := len(string(g[:1]))
		d.at += size
		if err = d.space(g[0], offset, size); err != nil || len(g) == 1 {
			return err
		}
		g = g[1:]
	}
	size := len(string(g))
	begin := d.at
	d.at += size
	if g[0] == softHyphen && len(d.u.clusters) > 0 {
		if d.u.hyphen, err = d.cluster([]rune{'-'}, d.order, 0); err != nil {
			return err
		}
	}
	c, err := d.cluster(g, d.order, size)
	if err != nil {
		return err
	}
	if c.text == "" && c.art == nil { // it is not seen
		if n := len(d.u.clusters); n > 0 {
			d.u.clusters[n-1].size, d.u.end = d.u.clusters[n-1].size+size, d.at
		}
		return nil
	}
	if d.u.clusters == nil {
		d.u.begin = begin
	}
	d.u.clusters, d.u.end, d.u.hyphen = append(d.u.clusters, c), d.at, cluster{}
	return nil
}

// softHyphen is a place where a word may be divided: a hyphen is seen at the end of a line, and nothing elsewhere.
const softHyphen = '\u00ad'

// space takes a space. It has the font of the character before it, except that of emoji, whose space is as wide as they
// are.
func (d *divider) space(r rune, offset, size int) (err error) {
	u := &d.u
	n := len(u.clusters)
	if n == 0 {
		return nil
	}
	if u.space == 0 {
		if u.gap = u.clusters[n-1].face; u.gap == d.faces[script.Emoji] {
			if u.gap, err = d.face(d.first); err != nil {
				return err
			}
		}
		u.space = d.width(u.gap, []rune{' '})
	}
	if withinNumber(d.chars, offset+1) || unbroken(r) {
		u.clusters, u.space, u.end = append(u.clusters, cluster{text: " ", face: u.gap, width: u.space, size: size}), 0,
			d.at
	}
	return nil
}

// close measures the unit and appends it.
func (d *divider) close() {
	u := d.u
	if d.u = (unit{}); u.clusters == nil {
		return
	}
	for i, c := range u.clusters {
		if c.art != nil {
			u.clusters[i].before = d.joined(u.clusters[:i])
		}
	}
	u.width = d.joined(u.clusters)
	d.all = append(d.all, u)
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

// withinNumber reports whether a space before an offset divides the digits of a number, or a number and its sign.
func withinNumber(chars []rune, at int) bool {
	if at < 2 || at >= len(chars) || chars[at-1] != ' ' {
		return false
	}
	before, after := chars[at-2], chars[at]
	return unicode.IsDigit(before) && (unicode.IsDigit(after) || sign(after)) || sign(before) && unicode.IsDigit(after)
}

// sign reports whether a character is written beside a number: of a currency, a part or a degree.
func sign(r rune) bool { return unicode.Is(unicode.Sc, r) || strings.ContainsRune("%‰°№", r) }

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
		if u.whole() <= width {
			all = append(all, u)
			continue
		}
		at := u.begin
		for i, c := range u.clusters {
			c.before = 0
			part := unit{clusters: []cluster{c}, width: c.width, begin: at, end: at + c.size}
			if at = part.end; i == len(u.clusters)-1 {
				part.space, part.end, part.hyphen = u.space, u.end, u.hyphen
			}
			all = append(all, part)
		}
	}
	return all
}
