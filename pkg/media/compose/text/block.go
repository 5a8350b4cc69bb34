package text

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// Box is the place of a text, in pixels.
type Box struct {
	Width, Height float64
	// MaxEm and MinEm bound the size of the letters. The largest size that fits is used.
	MaxEm, MinEm float64
	MaxLines     int
	// MaxWords is the greatest number of words of a page. 0 is any.
	MaxWords int
}

// line is a line of a block.
type line struct {
	runs  []cluster
	width float64 // in pixels
	words []Word
	// parts are the parts of the line between its emoji in color, which are pictures.
	parts    []part
	pictures []picture
}

// part is a part of a line that libass draws at once.
type part struct {
	runs []cluster
	// from is the offset into the line, in bytes, and before the width of the line before the part, in ems.
	from   int
	before float64
}

// Word is a part of a line that is spoken at once: a word, or a character in scripts without spaces.
type Word struct {
	// Begin is the offset into the text, in bytes.
	Begin int
	// from and to are offsets into the line, in bytes.
	from, to int
}

// Words returns the words of the block.
func (b Block) Words() (all []Word) {
	for _, l := range b.lines {
		all = append(all, l.words...)
	}
	return all
}

// Block is a laid-out text.
type Block struct {
	// Em is the size of the letters. Width and Height are those of the block, in pixels.
	Em, Width, Height float64
	// RTL reports whether the text runs from right to left.
	RTL     bool
	leading float64
	lines   []line
}

// Lines returns the lines of the block.
func (b Block) Lines() []string {
	all := make([]string, len(b.lines))
	for i, l := range b.lines {
		var s strings.Builder
		for _, r := range l.runs {
			s.WriteString(r.text)
		}
		all[i] = s.String()
	}
	return all
}

// Covers reports whether the fonts have the letters of a text.
func (f *Fonts) Covers(text, lang string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.units(text, lang)
	return err
}

// Fit lays out a text of a language (BCP 47, may be empty), in the largest letters that fit. A text that is too long in
// the family of a brand is in Noto. Errors are ErrTooLong, ErrScript and ErrEmpty, or of reading the fonts.
func (f *Fonts) Fit(text, lang string, box Box) (Block, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, err := f.fit(text, lang, box)
	if f.first != script.Latin && errors.Is(err, ErrTooLong) {
		noto := Fonts{set: f.set, first: script.Latin}
		return noto.fit(text, lang, box)
	}
	return b, err
}

func (f *Fonts) fit(text, lang string, box Box) (Block, error) {
	units, err := f.units(text, lang)
	if err != nil {
		return Block{}, err
	}
	leading, phrases := leadingOf(units), inJapanese(text, lang)
	for em := box.MaxEm; ; em = max(em*0.96, box.MinEm) {
		width := box.Width / em
		if em == box.MinEm {
			units = divided(units, width)
		}
		most := min(box.MaxLines, int(box.Height/(em*leading)))
		if ends, ok := wrap(units, width); ok && len(ends) <= most {
			return block(units, balance(units, width, ends), em, leading, rightToLeft(text)), nil
		}
		if em == box.MinEm && phrases {
			// Phrases may leave lines half empty: without them, more fits.
			phrases = false
			if units, err = f.unitsOf(text, lang, phrases); err != nil {
				return Block{}, err
			}
			em = box.MinEm / 0.96
			continue
		}
		if em == box.MinEm {
			return Block{}, ErrTooLong
		}
	}
}

// leadingOf returns the line spacing in ems: the greatest of the fonts used.
func leadingOf(units []unit) (most float64) {
	for _, u := range units {
		for _, c := range u.clusters {
			most = max(most, c.face.leading)
		}
	}
	return most
}

// wrap puts units into lines of at most a width, as many as fit into each, and returns the ends of the lines. It
// reports whether no unit is wider than a line.
func wrap(units []unit, width float64) (ends []int, ok bool) {
	used, space := 0.0, 0.0
	for i, u := range units {
		if u.whole() > width {
			return nil, false
		}
		if used > 0 && used+space+u.whole() > width {
			ends = append(ends, i)
			used, space = 0, 0
		}
		used += space + u.width
		space = u.space
	}
	return append(ends, len(units)), true
}

// The costs by which a text is divided into lines, in addition to the square of a line's relative deviation from the
// mean.
const (
	costLine   = 10   // for each line
	costSpace  = 0.04 // for an end within a phrase
	costWithin = 0.2  // for an end without a space, as in Chinese
	costBinds  = 1.5  // for an end with a number, or another word that belongs to the next one
	costShort  = 0.3  // for an end with another word of one or two letters
)

// balance divides units into as few lines as wrap does, of about equal length, which end with phrases if that costs
// little.
func balance(units []unit, width float64, ends []int) []int {
	total := 0.0
	for _, u := range units {
		total += u.width + u.space
	}
	mean := min(total/float64(len(ends)), width)
	begins := make([]int, len(units)+1) // the beginning of the line that ends here
	best := make([]float64, len(units)+1)
	for i := range units {
		best[i+1] = math.Inf(1)
	}
	for begin := range units {
		used, space := 0.0, 0.0
		for end := begin + 1; end <= len(units); end++ {
			u := units[end-1]
			if used += space + u.width; used > width && end > begin+1 {
				break
			}
			if space = u.space; used+u.hyphen.width > width && end > begin+1 {
				continue // without room for a hyphen, the line does not end here
			}
			off := (used + u.hyphen.width - mean) / mean
			cost := best[begin] + costLine + off*off
			switch {
			case end == len(units) || endOf(u) != word:
			case u.binds:
				cost += costBinds
			case space > 0 && short(u):
				cost += costShort
			case space > 0:
				cost += costSpace
			default:
				cost += costWithin
			}
			if cost < best[end] {
				best[end], begins[end] = cost, begin
			}
		}
	}
	var all []int
	for at := len(units); at > 0; at = begins[at] {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// short reports whether a unit is a short word, such as a preposition, in a script of languages in which it precedes
// the word that it belongs to.
func short(u unit) bool {
	return len(u.clusters) <= 2 && unicode.In([]rune(u.clusters[0].text)[0], unicode.Latin, unicode.Cyrillic,
		unicode.Greek, unicode.Hebrew, unicode.Arabic)
}

// block makes the block of units with the given ends of lines.
func block(units []unit, ends []int, em, leading float64, rtl bool) Block {
	b := Block{Em: em, RTL: rtl, leading: leading * em, Height: float64(len(ends)) * leading * em}
	begin := 0
	for _, end := range ends {
		l := lineOf(units[begin:end])
		l.width *= em
		b.lines, b.Width = append(b.lines, l), max(b.Width, l.width)
		begin = end
	}
	return b
}

// lineOf joins units to a line, whose width is in ems.
func lineOf(units []unit) line {
	var l line
	var all []cluster
	var open part
	at := 0
	close := func() {
		if open.runs != nil {
			open.runs = runs(open.runs)
			l.parts = append(l.parts, open)
		}
	}
	add := func(c cluster, before float64) {
		all = append(all, c)
		at += len(c.text)
		switch {
		case c.art != nil:
			close()
			l.pictures = append(l.pictures, picture{c.art, before, c.width})
			open = part{from: at, before: before + c.width}
		case c.text == " " && open.runs == nil: // libass leaves out a space at the beginning
			open.from, open.before = at, open.before+c.width
		default:
			open.runs = append(open.runs, c)
		}
	}
	for i, u := range units {
		begin := at
		for _, c := range u.clusters {
			add(c, l.width+c.before)
		}
		l.words = append(l.words, Word{u.begin, begin, at})
		l.width += u.width
		if i < len(units)-1 && u.space > 0 {
			add(cluster{text: " ", face: u.gap, width: u.space}, l.width)
			l.width += u.space
		}
	}
	if last := units[len(units)-1]; last.hyphen.face != nil {
		add(last.hyphen, l.width)
		l.width += last.hyphen.width
	}
	close()
	l.runs = runs(all)
	return l
}
