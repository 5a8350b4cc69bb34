package text

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-text/typesetting/segmenter"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// Align is the alignment of the lines of a block.
type Align int

// The alignments. Start is the left edge, or the right one for text that runs from right to left.
const (
	Start Align = iota
	Center
)

// Script is a script of libass: timed drawings over a picture or clip.
type Script struct {
	width, height int
	events        []event
	fonts         []string
	// family is a font of the script: libass draws nothing, not even a box, in a style whose font is missing.
	family string
	motion Motion
}

// event is something that is drawn for a time. Layers lie over each other.
type event struct {
	layer int
	when  Span
	text  string
}

// Motion is the way in which a text appears.
type Motion struct {
	Kind MotionKind
	// From is the offset from which a text slides to its place, in pixels.
	From float64
	// Left, Top, Right and Bottom are the edges of a text that is unveiled, which RTL unveils from its right edge.
	Left, Top, Right, Bottom float64
	RTL                      bool
}

// MotionKind is the kind of a motion of libass, which moves no letter by itself.
type MotionKind int

// The kinds. With At, a text is there at once.
const (
	At MotionKind = iota
	Fades
	Slides
	Unveils
	Rises
)

// Moving sets the motion of all that is drawn after it.
func (s *Script) Moving(m Motion) { s.motion = m }

// at returns the tags that put something at a point, by the motion.
func (s *Script) at(x, y float64) string {
	switch m := s.motion; m.Kind {
	case Fades:
		return fmt.Sprintf(`\pos(%.2f,%.2f)\fad(260,0)`, x, y)
	case Slides:
		return fmt.Sprintf(`\move(%.2f,%.2f,%.2f,%.2f,0,220)\fad(100,0)`, x+m.From, y, x, y)
	case Rises:
		return fmt.Sprintf(`\move(%.2f,%.2f,%.2f,%.2f,0,200)\fad(120,0)`, x, y+m.From, x, y)
	case Unveils:
		from := m.Left
		if m.RTL {
			from = m.Right
		}
		return fmt.Sprintf(`\pos(%.2f,%.2f)\clip(%.0f,%.0f,%.0f,%.0f)\t(0,420,\clip(%.0f,%.0f,%.0f,%.0f))`, x, y,
			from, m.Top, from, m.Bottom, m.Left, m.Top, m.Right, m.Bottom)
	}
	return fmt.Sprintf(`\pos(%.2f,%.2f)`, x, y)
}

// NewScript returns an empty script for pictures of a size.
func NewScript(width, height int) *Script { return &Script{width: width, height: height} }

// Empty reports whether the script draws nothing.
func (s *Script) Empty() bool { return len(s.events) == 0 }

// Fonts returns the paths of the fonts that the script needs.
func (s *Script) Fonts() []string { return s.fonts }

// Span is the time for which something is shown.
type Span struct{ From, To time.Duration }

// Always is longer than any clip.
var Always = Span{0, 9 * time.Hour}

// capHeight is the height of a capital letter of Noto Sans, in ems.
const capHeight = 0.714

// Pictures returns a script that draws what each of some scripts always draws, one after the other, for a time each.
func Pictures(scripts []*Script, each time.Duration) *Script {
	all := *scripts[0]
	all.events, all.fonts = nil, nil
	for i, s := range scripts {
		from := time.Duration(i) * each
		for _, e := range s.events {
			e.when = Span{from, from + each}
			all.events = append(all.events, e)
		}
		all.fonts, all.family = append(all.fonts, s.fonts...), cmp.Or(all.family, s.family)
	}
	return &all
}

// Text draws a block in a color. Its lines are between the two edges, downwards from top.
func (s *Script) Text(b Block, left, right, top float64, align Align, c canvas.Color, when Span) {
	s.Marked(b, left, right, top, align, c, Mark{}, when)
}

// Mark is the style of letters that stand out.
type Mark struct {
	// Word is the number of the word that has another color, from 1. 0: no word has.
	Word  int
	Color canvas.Color
	// Outline is the width of a black outline of all letters, in ems.
	Outline float64
}

// Marked is Text with a mark.
func (s *Script) Marked(b Block, left, right, top float64, align Align, c canvas.Color, m Mark, when Span) {
	before := 0
	for i, l := range b.lines {
		// Capital letters are in the middle of the line.
		capital := cmp.Or(l.runs[0].face.capHeight, capHeight)
		baseline := top + b.leading*(float64(i)+0.5) + capital/2*b.Em
		var word Word
		if n := m.Word - 1 - before; n >= 0 && n < len(l.words) {
			word = l.words[n]
		}
		before += len(l.words)
		outline := ""
		if m.Outline > 0 {
			outline = fmt.Sprintf(`\bord%.2f\3c%s`, m.Outline*b.Em, assColor(canvas.Black))
		}
		for _, p := range l.parts {
			ascent := 0.0
			for _, r := range p.runs {
				ascent = max(ascent, r.face.ascent*b.Em)
				s.needs(r.face)
			}
			anchor, x := l.place(b, p.before, p.width, left, right, align)
			s.add(1, when, fmt.Sprintf(`{\an%d%s\1c%s%s}%s`, anchor, s.at(x, baseline-ascent), assColor(c), outline,
				p.markup(b, word, c, m.Color, m.Outline*b.Em)))
		}
		for _, p := range l.pictures {
			s.needs(l.runs[0].face) // which a line of pictures alone would lack
			_, x := l.place(b, p.before, p.width, left, right, align)
			for _, shape := range p.art {
				s.shape(shape, x, baseline, b.Em, when)
			}
		}
	}
}

// needs adds a font to those that the script names, unless it is there.
func (s *Script) needs(f *face) {
	if !slices.Contains(s.fonts, f.path) {
		s.fonts = append(s.fonts, f.path)
		s.family = f.name
	}
}

// place returns the anchor, as libass numbers it, and the position of what is in a line between two edges after a part
// of its width. before and width are in ems. From right to left, the anchor is the left edge, too: the right one that
// libass finds is off by the mark of the first letter.
func (l line) place(b Block, before, width, left, right float64, align Align) (anchor int, x float64) {
	switch {
	case align == Center && len(l.pictures) == 0 && !b.RTL:
		return 8, (left + right) / 2
	case align == Center:
		left, right = (left+right-l.width)/2, (left+right+l.width)/2
	}
	if b.RTL {
		return 7, right - (before+width)*b.Em
	}
	return 7, left + before*b.Em
}

// markup returns the part with the font of each run, and with a word in another color. Each run is scaled so that the
// letters of all fonts have the same size.
func (p part) markup(b Block, w Word, c, marked canvas.Color, outline float64) string {
	var out strings.Builder
	at := p.from
	for i, r := range p.runs {
		fmt.Fprintf(&out, `{\fn%s\fs%.3f}`, r.face.name, b.Em*(r.face.ascent+r.face.descent))
		if i == 0 {
			out.WriteString(map[bool]string{false: "\u200e", true: "\u200f"}[b.RTL])
		}
		from, to := min(max(w.from-at, 0), len(r.text)), min(max(w.to-at, 0), len(r.text))
		at += len(r.text)
		if from >= to {
			out.WriteString(escape.Replace(r.text))
			continue
		}
		// The word has no outline: it stands out by its color, or by the box behind it.
		plain, again := "", ""
		if outline > 0 {
			plain, again = `\bord0`, fmt.Sprintf(`\bord%.2f`, outline)
		}
		fmt.Fprintf(&out, `%s{\1c%s%s}%s{\1c%s%s}%s`, escape.Replace(r.text[:from]), assColor(marked), plain,
			escape.Replace(r.text[from:to]), assColor(c), again, escape.Replace(r.text[to:]))
	}
	if b.RTL { // or else the line begins for libass with the mark of its last letter
		out.WriteString("\u200f")
	}
	return out.String()
}

// escape prevents text from being read as commands. A word joiner, which is invisible, separates a backslash from the
// next character.
var escape = strings.NewReplacer(`\`, "\\\u2060", "{", `\{`, "}", `\}`)

// Box draws a rectangle with round corners under the text, with a color and an opacity.
func (s *Script) Box(left, top, right, bottom, radius float64, c canvas.Color, opacity float64, when Span) {
	s.box(0, left, top, right, bottom, radius, c, opacity, when)
}

// Burst draws a star with many points around a middle, under the text.
func (s *Script) Burst(x, y, radius float64, c canvas.Color, when Span) {
	const points, inner = 16, 0.88
	var path strings.Builder
	for i := range 2 * points {
		r, op := radius, "l"
		if i%2 == 1 {
			r *= inner
		}
		if i == 0 {
			op = "m"
		}
		sin, cos := math.Sincos(float64(i) * math.Pi / points)
		fmt.Fprintf(&path, "%s %.1f %.1f ", op, radius+r*cos, radius+r*sin)
	}
	s.add(0, when, fmt.Sprintf(`{\an7%s\1c%s\p1}%s{\p0}`, s.at(x-radius, y-radius), assColor(c), path.String()))
}

// Over is Box, over the text.
func (s *Script) Over(left, top, right, bottom, radius float64, c canvas.Color, opacity float64, when Span) {
	s.box(2, left, top, right, bottom, radius, c, opacity, when)
}

func (s *Script) box(layer int, left, top, right, bottom, radius float64, c canvas.Color, opacity float64, when Span) {
	w, h, r := right-left, bottom-top, radius
	k := r * 0.4477 // for a Bézier curve of a quarter of a circle
	path := fmt.Sprintf("m %.1f 0 l %.1f 0 b %.1f 0 %.1f %.1f %.1f %.1f l %.1f %.1f b %.1f %.1f %.1f %.1f %.1f %.1f "+
		"l %.1f %.1f b %.1f %.1f 0 %.1f 0 %.1f l 0 %.1f b 0 %.1f %.1f 0 %.1f 0",
		r, w-r, w-k, w, k, w, r, w, h-r, w, h-k, w-k, h, w-r, h, r, h, k, h, h-k, h-r, r, k, k, r)
	s.add(layer, when, fmt.Sprintf(`{\an7%s\1c%s\1a&H%02X&\p1}%s{\p0}`, s.at(left, top), assColor(c),
		int((1-opacity)*255+0.5), path))
}

func (s *Script) add(layer int, when Span, text string) {
	s.events = append(s.events, event{layer, when, text})
}

// String returns the script in the format of ASS files.
func (s *Script) String() string {
	var events strings.Builder
	for _, e := range s.events {
		fmt.Fprintf(&events, "Dialogue: %d,%s,%s,D,,0,0,0,,%s\n", e.layer, assTime(e.when.From), assTime(e.when.To),
			e.text)
	}
	return fmt.Sprintf(`[Script Info]
ScriptType: v4.00+
PlayResX: %d
PlayResY: %d
WrapStyle: 2
Kerning: yes
ScaledBorderAndShadow: yes
YCbCr Matrix: None

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, `+
		`Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, `+
		`Alignment, MarginL, MarginR, MarginV, Encoding
Style: D,%s,50,&H00FFFFFF,&H00FFFFFF,&H00000000,&H00000000,-1,0,0,0,100,100,0,0,1,0,0,7,0,0,0,-1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
%s`, s.width, s.height, s.family, events.String())
}

func assColor(c canvas.Color) string { return fmt.Sprintf("&H%02X%02X%02X&", c.B, c.G, c.R) }

// assTime returns a time in hundredths of a second, rounded down: frames are shown later.
func assTime(d time.Duration) string {
	cs := max(d, 0).Milliseconds() / 10
	return fmt.Sprintf("%d:%02d:%02d.%02d", cs/360_000, cs/6000%60, cs/100%60, cs%100)
}

// Subtitle is a part of a spoken text that a player shows at once.
type Subtitle struct {
	Lines []string
	// Begin and End are offsets into the text, in bytes.
	Begin, End int
}

// The room of a subtitle, in ems of a letter of usual width.
const (
	subtitleWide  = 24
	subtitleLines = 2
)

// Subtitles divides a text into subtitles. It has every character of the text, also those that no font has: the player
// draws them.
func Subtitles(text, lang string) (all []Subtitle) {
	units := divided(spoken(Clean(text), lang), subtitleWide)
	begin := 0
	if len(units) == 0 {
		return nil
	}
	for _, end := range paginate(units, subtitleWide, Box{MaxLines: subtitleLines}) {
		part := units[begin:end]
		s := Subtitle{Begin: part[0].begin, End: part[len(part)-1].end}
		ends, _ := wrap(part, subtitleWide)
		from := 0
		for _, to := range balance(part, subtitleWide, ends) {
			line := ""
			for i, u := range part[from:to] {
				line += u.text()
				if u.space > 0 && from+i < to-1 {
					line += " "
				}
			}
			s.Lines, from = append(s.Lines, line), to
		}
		all, begin = append(all, s), end
	}
	return all
}

// spoken divides a text into units without fonts: the widths are approximate.
func spoken(text, lang string) (all []unit) {
	chars, phrases := []rune(text), phrasesOf(text, lang)
	var seg segmenter.Segmenter
	seg.Init(chars)
	breaks := breaksOf(&seg, chars, phrases)
	var u unit
	at := 0
	end := func() {
		if len(u.clusters) > 0 {
			all = append(all, u)
		}
		u = unit{}
	}
	for graphemes := seg.GraphemeIterator(); graphemes.Next(); {
		g := graphemes.Grapheme()
		said := string(g.Text)
		joined := len(g.Text) > 1 || unbroken(g.Text[0]) || together(chars, g.Offset+1)
		switch space := unicode.IsSpace(g.Text[0]); {
		case space && len(u.clusters) == 0 && len(g.Text) == 1:
		case space && !joined:
			u.space = script.Width(" ")
		default:
			if u.clusters == nil {
				u.begin = at
			}
			c := cluster{text: said, width: script.Width(said), size: len(said)}
			u.clusters, u.width, u.space, u.end = append(u.clusters, c), u.width+c.width, 0, at+len(said)
		}
		at += len(said)
		if breaks[g.Offset+len(g.Text)] {
			end()
		}
	}
	end()
	bind(all, lang)
	return all
}
