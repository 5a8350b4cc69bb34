// Package text lays out headings and captions: it chooses a font for each character, measures text as HarfBuzz shapes
// it, breaks it into lines, reduces its size until it fits, and writes it as a script of libass (Advanced SubStation
// Alpha) in which every line has its position. Start with Fonts.Fit.
package text

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// family is a font of the set.
type family struct {
	name string
	// leading is the line spacing in ems: marks above and below need room.
	leading float64
	// capHeight is the height of a capital letter in ems. 0 is that of Noto Sans.
	capHeight float64
}

// families are the fonts of the set, whose files package script lists.
var families = [script.Families]family{
	script.Latin:       {"Noto Sans", 1.22, 0},
	script.Arabic:      {"Noto Sans Arabic", 1.5, 0},
	script.Hebrew:      {"Noto Sans Hebrew", 1.25, 0},
	script.Devanagari:  {"Noto Sans Devanagari", 1.5, 0},
	script.Thai:        {"Noto Sans Thai", 1.5, 0},
	script.Chinese:     {"Noto Sans SC", 1.3, 0},
	script.Traditional: {"Noto Sans TC", 1.3, 0},
	script.HongKong:    {"Noto Sans HK", 1.3, 0},
	script.Japanese:    {"Noto Sans JP", 1.3, 0},
	script.Korean:      {"Noto Sans KR", 1.3, 0},
	script.Symbols:     {"Noto Sans Symbols", 1.3, 0},
	script.MoreSymbols: {"Noto Sans Symbols 2", 1.3, 0},
	script.Emoji:       {"Noto Emoji", 1.3, 0},
	script.Montserrat:  {"Montserrat", 1.22, 0.7},
	script.Lora:        {"Lora", 1.25, 0.7},
	script.Oswald:      {"Oswald", 1.4, 0.81},
	script.Colored:     {"Noto Color Emoji", 1.3, 0},
}

// brands are the families of brands, by their names in package script.
var brands = map[string]script.Family{"": script.Latin, "noto_sans": script.Latin, "montserrat": script.Montserrat,
	"lora": script.Lora, "oswald": script.Oswald}

type face struct {
	family
	path string
	*font.Face
	// The ascent and descent with which libass places a line of the font, in ems.
	ascent, descent float64
}

// Fonts is the set of fonts. It is safe for concurrent use.
type Fonts struct {
	*set
	// first is the family of texts, where it has all their letters.
	first script.Family
}

// set has the fonts that were read.
type set struct {
	dir    string
	mu     sync.Mutex
	faces  [script.Families]*face
	shaper shaping.HarfbuzzShaper
	arts   map[string]art // the drawings of emoji, by their characters
}

// Open opens the fonts in a folder. A font is read when a text needs it.
func Open(dir string) (*Fonts, error) {
	for _, file := range script.Files {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return nil, fmt.Errorf("text: the font %s is missing: %w", file, err)
		}
	}
	return &Fonts{set: &set{dir: dir}, first: script.Latin}, nil
}

// In returns the set for texts in a family of script.Fonts, or reports that there is no such family. A text is in Noto
// if the family lacks one of its letters.
func (f *Fonts) In(family string) (*Fonts, bool) {
	first, ok := brands[family]
	return &Fonts{set: f.set, first: first}, ok
}

// listed returns a font whose tables of lookups list the glyphs that they cover, where they have ranges of many. The
// filter of the shaper (v0.3.5) forgets all ranges after one of 64 glyphs: it shaped an Arabic noon within a word as if
// it stood alone, and set no kerning for most of Cyrillic.
func listed(font []byte) []byte {
	for n := range number16(font, 4) {
		entry := 12 + 16*n
		context := map[string]int{"GSUB": 5, "GPOS": 7}[string(font[entry:entry+4])]
		if context == 0 {
			continue
		}
		at := number32(font, entry+8)
		table := slices.Clone(font[at : at+number32(font, entry+12)])
		lookups := number16(table, 8)
		for i := range number16(table, lookups) {
			lookup := lookups + number16(table, lookups+2+2*i)
			for k := range number16(table, lookup+4) {
				table = listing(table, lookup+number16(table, lookup+6+2*k), number16(table, lookup), context)
			}
		}
		binary.BigEndian.PutUint32(font[entry+8:], uint32(len(font)))
		binary.BigEndian.PutUint32(font[entry+12:], uint32(len(table)))
		font = append(font, table...)
	}
	return font
}

// listing appends the list of the glyphs of a subtable to its table. Of the kinds of lookups, that of contexts is
// followed by those of chains and of extensions.
func listing(table []byte, sub, kind, context int) []byte {
	extension := sub
	if kind == context+2 {
		kind, sub = number16(table, sub+2), sub+number32(table, sub+4)
	}
	place := sub + 2
	switch format := number16(table, sub); {
	case format == 3 && kind == context:
		place = sub + 6
	case format == 3 && kind == context+1:
		place = sub + 6 + 2*number16(table, sub+2)
	}
	coverage := sub + number16(table, place)
	if number16(table, coverage) != 2 {
		return table // it is a list
	}
	var glyphs []byte
	for i := range number16(table, coverage+2) {
		from := coverage + 4 + 6*i
		for glyph := number16(table, from); glyph <= number16(table, from+2); glyph++ {
			glyphs = binary.BigEndian.AppendUint16(glyphs, uint16(glyph))
		}
	}
	if len(glyphs) < 2*64 {
		return table
	}
	const reach = 1<<16 - 1 // of the place of a coverage
	if len(table)-sub > reach && sub != extension {
		moved := len(table)
		table = append(table, table[sub:min(sub+reach-len(glyphs)-4, moved)]...)
		binary.BigEndian.PutUint32(table[extension+4:], uint32(moved-extension))
		sub, place = moved, place+moved-sub
	}
	if len(table)-sub > reach {
		return table // only marks of Noto Sans, which have no width
	}
	binary.BigEndian.PutUint16(table[place:], uint16(len(table)-sub))
	table = append(table, 0, 1)
	return append(binary.BigEndian.AppendUint16(table, uint16(len(glyphs)/2)), glyphs...)
}

func number16(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }

func number32(b []byte, at int) int { return int(binary.BigEndian.Uint32(b[at:])) }

// has reports whether a font has all letters of a text.
func has(f script.Family, text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsMark(r)) && !script.Unseen(r) && !f.Has(r)
	})
}

// face returns a font, read on first use.
func (f *Fonts) face(n script.Family) (*face, error) {
	if f.faces[n] != nil {
		return f.faces[n], nil
	}
	path := filepath.Join(f.dir, script.Files[n])
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	loader, err := opentype.NewLoader(bytes.NewReader(listed(content)))
	if err != nil {
		return nil, fmt.Errorf("text: %s: %w", path, err)
	}
	parsed, err := font.NewFont(loader)
	if err != nil {
		return nil, fmt.Errorf("text: %s: %w", path, err)
	}
	// libass scales a font by usWinAscent and usWinDescent.
	os2, err := loader.RawTable(opentype.MustNewTag("OS/2"))
	if err != nil || len(os2) < 78 {
		return nil, fmt.Errorf("text: %s has no usable OS/2 table: %w", path, err)
	}
	em := float64(parsed.Upem())
	f.faces[n] = &face{
		family: families[n], path: path, Face: font.NewFace(parsed),
		ascent:  float64(binary.BigEndian.Uint16(os2[74:])) / em,
		descent: float64(binary.BigEndian.Uint16(os2[76:])) / em,
	}
	return f.faces[n], nil
}

// cluster returns a character as it is drawn, of a size in bytes. It fails if no font has it.
func (f *Fonts) cluster(chars []rune, order script.Order, size int) (c cluster, err error) {
	family, drawn, ok := order.Draw(chars)
	if !ok {
		return c, fmt.Errorf("%w: %q (%U)", ErrScript, string(chars), chars)
	}
	if c.face, err = f.face(family); err != nil {
		return c, err
	}
	c.size = size
	if family == script.Emoji && !script.Plain(chars) {
		if c.art, err = f.artOf(chars); err != nil {
			return c, err
		}
	}
	drawn = slices.DeleteFunc(slices.Clone(drawn), func(r rune) bool {
		return r == softHyphen || !family.Has(r) && !shapes(r) // it is unseen, or a tag or skin tone of a picture
	})
	if c.text = string(drawn); len(drawn) > 0 {
		c.width = f.width(c.face, drawn)
	}
	return c, nil
}

// shapes reports whether an unseen character changes how its neighbors are joined or ordered, also where the font
// lacks it.
func shapes(r rune) bool {
	return r >= '\u200c' && r <= '\u200f' || unicode.Is(unicode.Bidi_Control, r)
}

// scale is the size at which text is measured, in 1/64 pixel.
const scale = 1000 << 6

// width returns the width of characters in one font, in ems.
func (f *Fonts) width(of *face, chars []rune) float64 {
	return float64(f.shaper.ShapeNoExtents(inputOf(of, chars)).Advance) / scale
}

// Sides returns the room between the edges of a text of one line and its ink, at the left and at the right: a digit has
// more of it than a sign of a currency.
func (f *Fonts) Sides(b Block) (left, right float64) {
	if len(b.lines) != 1 || len(b.lines[0].pictures) > 0 {
		return 0, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	runs := b.lines[0].runs
	end := func(c cluster, n int) shaping.Glyph {
		chars := []rune(c.text)
		if len(chars) == 0 {
			return shaping.Glyph{}
		}
		return f.shaper.Shape(inputOf(c.face, chars[n*(len(chars)-1):][:1])).Glyphs[0]
	}
	before, after := end(runs[0], 0), end(runs[len(runs)-1], 1)
	if b.RTL {
		before, after = after, before
	}
	return float64(before.XBearing) / scale * b.Em, float64(after.Advance-after.XBearing-after.Width) / scale * b.Em
}

// inputOf returns characters in one font for the shaper.
func inputOf(of *face, chars []rune) shaping.Input {
	script := language.Common
	for _, r := range chars {
		if s := language.LookupScript(r); s != language.Common && s != language.Inherited {
			script = s
			break
		}
	}
	direction := di.DirectionLTR
	if script == language.Arabic || script == language.Hebrew {
		direction = di.DirectionRTL
	}
	return shaping.Input{Text: chars, RunEnd: len(chars), Direction: direction, Face: of.Face,
		Size: fixed.Int26_6(scale), Script: script, Language: language.NewLanguage("und")}
}

// art is an emoji in color: shapes over each other. libass draws no font in color, but any shape in one color. A
// gradient is drawn in bands.
type art []shape

// shape is an area of one color.
type shape struct {
	// path are the points of Bézier curves, in ems, downwards from the baseline.
	path    []stroke
	color   canvas.Color
	opacity float64
}

// stroke is a command of a drawing of libass with its points: m, l or b.
type stroke struct {
	command byte
	points  []point
}

type point struct{ x, y float64 }

// artOf returns the drawing of an emoji, or nil if the font has none: then it is drawn in lines of one color.
func (f *Fonts) artOf(emoji []rune) (art, error) {
	if a, ok := f.arts[string(emoji)]; ok {
		return a, nil
	}
	face, err := f.face(script.Colored)
	if err != nil {
		return nil, err
	}
	var a art
	if glyph, ok := f.glyphOf(face, emoji); ok {
		if color, ok := face.GlyphDataColor(glyph); ok {
			unit := 1 / float64(face.Upem())
			p := painter{face: face.Face}
			p.paint(color.Paint, transform{unit, 0, 0, -unit, 0, 0}, 0)
			a = p.art
		}
	}
	if f.arts == nil {
		f.arts = map[string]art{}
	}
	f.arts[string(emoji)] = a
	return a, nil
}

// glyphOf returns the glyph of an emoji, and reports whether it has one: a sequence that the font does not know has
// several.
func (f *Fonts) glyphOf(face *face, emoji []rune) (glyph font.GID, ok bool) {
	out := f.shaper.ShapeNoExtents(inputOf(face, emoji))
	drawn := 0
	for _, g := range out.Glyphs {
		if g.Advance != 0 {
			drawn, glyph = drawn+1, g.GlyphID
		}
	}
	return glyph, drawn == 1
}

// picture is an emoji in color on a line.
type picture struct {
	art art
	// before is the width of the line before it, and width its own, in ems.
	before, width float64
}

// shape draws a shape with its origin at a point. libass aligns a drawing by its corner.
func (s *Script) shape(of shape, x, y, em float64, when Span) {
	corner := point{math.Inf(1), math.Inf(1)}
	for _, part := range of.path {
		for _, p := range part.points {
			corner = point{min(corner.x, p.x), min(corner.y, p.y)}
		}
	}
	var path strings.Builder
	for _, part := range of.path {
		fmt.Fprintf(&path, "%c ", part.command)
		for _, p := range part.points {
			fmt.Fprintf(&path, "%.2f %.2f ", (p.x-corner.x)*em, (p.y-corner.y)*em)
		}
	}
	s.add(1, when, fmt.Sprintf(`{\an7%s\1c%s\1a&H%02X&\p1}%s{\p0}`, s.at(x+corner.x*em, y+corner.y*em),
		assColor(of.color), int((1-of.opacity)*255+0.5), path.String()))
}

// transform maps (x, y) to (xx·x + xy·y + dx, yx·x + yy·y + dy).
type transform struct{ xx, yx, xy, yy, dx, dy float64 }

var identity = transform{1, 0, 0, 1, 0, 0}

// of returns the place of a point.
func (t transform) of(p point) point {
	return point{t.xx*p.x + t.xy*p.y + t.dx, t.yx*p.x + t.yy*p.y + t.dy}
}

// then returns the transform of a part that is within this one.
func (t transform) then(u transform) transform {
	return transform{
		t.xx*u.xx + t.xy*u.yx, t.yx*u.xx + t.yy*u.yx, t.xx*u.xy + t.xy*u.yy, t.yx*u.xy + t.yy*u.yy,
		t.xx*u.dx + t.xy*u.dy + t.dx, t.yx*u.dx + t.yy*u.dy + t.dy,
	}
}

// inverse returns the transform back, and reports whether there is one.
func (t transform) inverse() (transform, bool) {
	det := t.xx*t.yy - t.xy*t.yx
	if math.Abs(det) < 1e-12 {
		return t, false
	}
	i := transform{xx: t.yy / det, yx: -t.yx / det, xy: -t.xy / det, yy: t.xx / det}
	i.dx, i.dy = -i.xx*t.dx-i.xy*t.dy, -i.yx*t.dx-i.yy*t.dy
	return i, true
}

// around returns a transform that leaves a point where it is.
func (t transform) around(x, y int16) transform {
	t.dx, t.dy = float64(x)-t.xx*float64(x)-t.xy*float64(y), float64(y)-t.yx*float64(x)-t.yy*float64(y)
	return t
}

// fixed returns a number of OpenType with 14 binary places (F2DOT14).
func fixed14(f tables.Fixed214) float64 { return float64(f) / (1 << 14) }

func scaling(x, y tables.Fixed214) transform { return transform{fixed14(x), 0, 0, fixed14(y), 0, 0} }

func rotation(angle tables.Fixed214) transform {
	sin, cos := math.Sincos(fixed14(angle) * math.Pi)
	return transform{cos, sin, -sin, cos, 0, 0}
}

func skewing(x, y tables.Fixed214) transform {
	return transform{1, math.Tan(fixed14(y) * math.Pi), -math.Tan(fixed14(x) * math.Pi), 1, 0, 0}
}

// within returns what a paint transforms, and how. It reports whether the paint is a transform.
func within(paint tables.PaintTable) (tables.PaintTable, transform, bool) {
	switch v := paint.(type) {
	case tables.PaintTransform:
		a := v.Transform
		return v.Paint, transform{float64(a.Xx), float64(a.Yx), float64(a.Xy), float64(a.Yy), float64(a.Dx),
			float64(a.Dy)}, true
	case tables.PaintTranslate:
		return v.Paint, transform{1, 0, 0, 1, float64(v.Dx), float64(v.Dy)}, true
	case tables.PaintScale:
		return v.Paint, scaling(v.ScaleX, v.ScaleY), true
	case tables.PaintScaleAroundCenter:
		return v.Paint, scaling(v.ScaleX, v.ScaleY).around(v.CenterX, v.CenterY), true
	case tables.PaintScaleUniform:
		return v.Paint, scaling(v.Scale, v.Scale), true
	case tables.PaintScaleUniformAroundCenter:
		return v.Paint, scaling(v.Scale, v.Scale).around(v.CenterX, v.CenterY), true
	case tables.PaintRotate:
		return v.Paint, rotation(v.Angle), true
	case tables.PaintRotateAroundCenter:
		return v.Paint, rotation(v.Angle).around(v.CenterX, v.CenterY), true
	case tables.PaintSkew:
		return v.Paint, skewing(v.XSkewAngle, v.YSkewAngle), true
	case tables.PaintSkewAroundCenter:
		return v.Paint, skewing(v.XSkewAngle, v.YSkewAngle).around(v.CenterX, v.CenterY), true
	}
	return paint, identity, false
}

// painter collects the shapes of a glyph of the table COLR.
type painter struct {
	face *font.Face
	art  art
}

// maxDepth is the depth to which paints are followed: those of a broken font may refer to each other.
const maxDepth = 24

// paint paints in a transform from the coordinates of the font to ems, downwards.
func (p *painter) paint(paint tables.PaintTable, t transform, depth int) {
	if depth++; depth > maxDepth {
		return
	}
	if inner, how, ok := within(paint); ok {
		p.paint(inner, t.then(how), depth)
		return
	}
	switch v := paint.(type) {
	case tables.PaintColrLayers:
		layers, err := p.face.COLR.LayerList.Resolve(v)
		if err != nil {
			return
		}
		for _, l := range layers {
			p.paint(l, t, depth)
		}
	case tables.PaintColrGlyph:
		if g, ok := p.face.GlyphDataColor(font.GID(v.GlyphID)); ok {
			p.paint(g.Paint, t, depth)
		}
	case tables.PaintGlyph:
		p.fill(font.GID(v.GlyphID), v.Paint, t)
	case tables.PaintComposite:
		p.composite(v, t, depth)
	}
}

// composite paints one paint over another. One in a single color is a mask: it fades the other. The shading of flags,
// a soft light over the same flag, is left out.
func (p *painter) composite(v tables.PaintComposite, t transform, depth int) {
	begin := len(p.art)
	mask, faded := v.BackdropPaint.(tables.PaintSolid)
	switch {
	case v.CompositeMode == tables.CompositeSoftLight:
		p.paint(v.BackdropPaint, t, depth)
	case faded:
		p.paint(v.SourcePaint, t, depth)
		for i := begin; i < len(p.art); i++ {
			p.art[i].opacity *= p.stop(tables.ColorStop{PaletteIndex: mask.PaletteIndex, Alpha: mask.Alpha})[3]
		}
	default:
		p.paint(v.BackdropPaint, t, depth)
		p.paint(v.SourcePaint, t, depth)
	}
}

// outline returns the outline of a glyph in the coordinates of the font. libass draws cubic curves only, and any
// quadratic one is one.
func (p *painter) outline(gid font.GID) (path []stroke) {
	outline, ok := p.face.GlyphDataOutline(gid)
	if !ok {
		return nil
	}
	var at point
	for _, segment := range outline.Segments {
		var points []point
		for _, a := range segment.ArgsSlice() {
			points = append(points, point{float64(a.X), float64(a.Y)})
		}
		end := points[len(points)-1]
		command := byte('b')
		switch segment.Op {
		case opentype.SegmentOpMoveTo:
			command = 'm'
		case opentype.SegmentOpLineTo:
			command = 'l'
		case opentype.SegmentOpQuadTo:
			q := points[0]
			toward := func(a point) point { return point{a.x + (q.x-a.x)*2/3, a.y + (q.y-a.y)*2/3} }
			points = []point{toward(at), toward(end), end}
		}
		at = end
		path = append(path, stroke{command, points})
	}
	return path
}

// fill adds the outline of a glyph in the color of a paint.
func (p *painter) fill(gid font.GID, paint tables.PaintTable, t transform) {
	path := p.outline(gid)
	if path == nil {
		return
	}
	how := identity
	for inner, more, ok := within(paint); ok; inner, more, ok = within(paint) {
		paint, how = inner, how.then(more)
	}
	if v, ok := paint.(tables.PaintSolid); ok {
		p.add(path, t, p.stop(tables.ColorStop{PaletteIndex: v.PaletteIndex, Alpha: v.Alpha}))
		return
	}
	g, ok := p.gradient(paint)
	if !ok {
		return
	}
	back, ok := how.inverse()
	if !ok {
		p.add(path, t, g.at(1))
		return
	}
	for _, b := range g.bands(moved(path, back)) {
		p.add(b.path, t.then(how), b.color)
	}
}

// leastOpacity is the least opacity of what is drawn.
const leastOpacity = 0.02

// add adds a path in one color.
func (p *painter) add(path []stroke, t transform, c rgba) {
	if c[3] < leastOpacity || len(path) == 0 {
		return
	}
	p.art = append(p.art, shape{moved(path, t), canvas.Color{R: uint8(c[0] + 0.5), G: uint8(c[1] + 0.5),
		B: uint8(c[2] + 0.5)}, c[3]})
}

func moved(path []stroke, t transform) []stroke {
	all := make([]stroke, len(path))
	for i, s := range path {
		all[i] = stroke{s.command, make([]point, len(s.points))}
		for k, a := range s.points {
			all[i].points[k] = t.of(a)
		}
	}
	return all
}

// rgba are the parts of a color up to 255, and its opacity up to 1.
type rgba [4]float64

func (p *painter) stop(s tables.ColorStop) rgba {
	if len(p.face.CPAL) == 0 || int(s.PaletteIndex) >= len(p.face.CPAL[0]) {
		return rgba{}
	}
	c := p.face.CPAL[0][s.PaletteIndex]
	return rgba{float64(c.Red), float64(c.Green), float64(c.Blue), fixed14(s.Alpha) * float64(c.Alpha) / 255}
}

// gradient is a color that changes along a line, or from one circle to another.
type gradient struct {
	offsets []float64
	colors  []rgba
	// The line, or the circles if their radii are not 0.
	from, to        point
	radius, radius1 float64
	round           bool
}

// gradient returns the gradient of a paint, and reports whether it is one.
func (p *painter) gradient(paint tables.PaintTable) (g gradient, ok bool) {
	at := func(x, y int16) point { return point{float64(x), float64(y)} }
	var stops []tables.ColorStop
	switch v := paint.(type) {
	case tables.PaintLinearGradient:
		stops = v.ColorLine.ColorStops
		g.from, g.to = at(v.X0, v.Y0), at(v.X1, v.Y1)
		// The colors change along the part of the line that is upright to the third point.
		turn := point{-(float64(v.Y2) - g.from.y), float64(v.X2) - g.from.x}
		if n := turn.x*turn.x + turn.y*turn.y; n > 0 {
			k := ((g.to.x-g.from.x)*turn.x + (g.to.y-g.from.y)*turn.y) / n
			g.to = point{g.from.x + k*turn.x, g.from.y + k*turn.y}
		}
	case tables.PaintRadialGradient:
		stops, g.round = v.ColorLine.ColorStops, true
		g.from, g.to = at(v.X0, v.Y0), at(v.X1, v.Y1)
		g.radius, g.radius1 = float64(v.Radius0), float64(v.Radius1)
	default:
		return g, false
	}
	for _, s := range stops {
		g.offsets, g.colors = append(g.offsets, fixed14(s.StopOffset)), append(g.colors, p.stop(s))
	}
	return g, len(stops) > 0
}

// at returns the color at a place of the color line.
func (g gradient) at(t float64) rgba {
	next := slices.IndexFunc(g.offsets, func(o float64) bool { return o >= t })
	switch {
	case next < 0:
		return g.colors[len(g.colors)-1]
	case next == 0 || g.offsets[next] == g.offsets[next-1]:
		return g.colors[next]
	}
	a, b := g.colors[next-1], g.colors[next]
	part := (t - g.offsets[next-1]) / (g.offsets[next] - g.offsets[next-1])
	var c rgba
	for i := range c {
		c[i] = a[i] + (b[i]-a[i])*part
	}
	return c
}

// place returns the place of the color line at a point: the greatest whose circle has it on its edge.
func (g gradient) place(p point) float64 {
	d := point{g.to.x - g.from.x, g.to.y - g.from.y}
	v := point{p.x - g.from.x, p.y - g.from.y}
	if !g.round {
		return (v.x*d.x + v.y*d.y) / max(d.x*d.x+d.y*d.y, 1e-9)
	}
	dr := g.radius1 - g.radius
	a, b, c := d.x*d.x+d.y*d.y-dr*dr, v.x*d.x+v.y*d.y+g.radius*dr, v.x*v.x+v.y*v.y-g.radius*g.radius
	if math.Abs(a) < 1e-9 {
		return c / (2 * b)
	}
	root := math.Sqrt(max(b*b-a*c, 0))
	return max((b+root)/a, (b-root)/a)
}

// band is a part of a shape in one color.
type band struct {
	path  []stroke
	color rgba
}

// The bounds of the bands of a gradient.
const (
	mostBands = 12
	bandStep  = 20   // the difference of the colors of neighbors, up to 255
	opaque    = 0.98 // the opacity from which a band may lie over another one
)

// bands divides a path, which is in the coordinates of the gradient, into parts of one color.
func (g gradient) bands(path []stroke) []band {
	shape := flat(path)
	low, high := math.Inf(1), math.Inf(-1)
	for _, contour := range shape {
		for _, p := range contour {
			t := g.place(p)
			low, high = min(low, t), max(high, t)
		}
	}
	if g.round { // its middle may be within the shape
		low = 0
	}
	low, high = max(low, 0), min(high, 1)
	if low >= high {
		return []band{{path, g.at(low)}}
	}
	n, clear := g.steps(low, high)
	if n == 1 || g.round && !g.nested() {
		return []band{{path, g.mean(low, high)}}
	}
	edge := func(i int) float64 { return low + (high-low)*float64(i)/float64(n) }
	all := make([]band, 0, n)
	for i := range n {
		b := band{color: g.at((edge(i) + edge(i+1)) / 2)}
		// Bands lie over each other, from the outer ones to the inner ones, so that no seam is between them.
		switch inner := n - 1 - i; {
		case g.round:
			b.color = g.at((edge(inner) + edge(inner+1)) / 2)
			part := shape
			if i > 0 {
				part = g.inside(shape, edge(inner+1))
			}
			if clear && inner > 0 {
				part = append(slices.Clone(part), reversed(g.inside(shape, edge(inner)))...)
			}
			b.path = strokes(part)
		case i == 0 && !clear:
			b.path = path
		default:
			part := shape
			if i > 0 {
				part = g.beyond(part, edge(i), 1)
			}
			if clear && i < n-1 {
				part = g.beyond(part, edge(i+1), -1)
			}
			b.path = strokes(part)
		}
		all = append(all, b)
	}
	return all
}

// steps returns the number of bands between two places, and reports whether what is below is seen through one.
func (g gradient) steps(low, high float64) (n int, clear bool) {
	const samples = 16
	change, last := 0.0, g.at(low)
	for i := range samples + 1 {
		c := g.at(low + (high-low)*float64(i)/samples)
		most := 255 * math.Abs(c[3]-last[3])
		for k := range 3 {
			most = max(most, math.Abs(c[k]-last[k])*max(c[3], last[3]))
		}
		change, last, clear = change+most, c, clear || c[3] < opaque
	}
	return min(max(int(math.Ceil(change/bandStep)), 1), mostBands), clear
}

// mean returns the mean color between two places.
func (g gradient) mean(low, high float64) (sum rgba) {
	const samples = 16
	for i := range samples {
		c := g.at(low + (high-low)*(float64(i)+0.5)/samples)
		for k := range 3 {
			sum[k] += c[k] * c[3]
		}
		sum[3] += c[3]
	}
	for k := range 3 {
		sum[k] /= max(sum[3], 1e-9)
	}
	sum[3] /= samples
	return sum
}

// nested reports whether the first circle is within the second one.
func (g gradient) nested() bool {
	return math.Hypot(g.to.x-g.from.x, g.to.y-g.from.y)+g.radius <= g.radius1
}

// inside returns the part of a shape that is inside the circle of a place.
func (g gradient) inside(shape [][]point, t float64) [][]point {
	const corners = 48
	center := point{g.from.x + (g.to.x-g.from.x)*t, g.from.y + (g.to.y-g.from.y)*t}
	radius := g.radius + (g.radius1-g.radius)*t
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		shape = clipped(shape, func(p point) float64 {
			return radius - (p.x-center.x)*cos - (p.y-center.y)*sin
		})
	}
	return shape
}

// beyond returns the part of a shape after a place of the line, or before it if the sign is negative.
func (g gradient) beyond(shape [][]point, t, sign float64) [][]point {
	return clipped(shape, func(p point) float64 { return (g.place(p) - t) * sign })
}

// clipped returns the part of a shape on the side of a line on which a linear function is not negative.
func clipped(shape [][]point, side func(point) float64) (all [][]point) {
	for _, contour := range shape {
		var out []point
		for i, b := range contour {
			a := contour[(i+len(contour)-1)%len(contour)]
			before, after := side(a), side(b)
			if before < 0 != (after < 0) {
				k := before / (before - after)
				out = append(out, point{a.x + (b.x-a.x)*k, a.y + (b.y-a.y)*k})
			}
			if after >= 0 {
				out = append(out, b)
			}
		}
		if len(out) > 2 {
			all = append(all, out)
		}
	}
	return all
}

// reversed returns contours that run the other way: they are holes of others.
func reversed(shape [][]point) [][]point {
	all := make([][]point, len(shape))
	for i, contour := range shape {
		all[i] = slices.Clone(contour)
		slices.Reverse(all[i])
	}
	return all
}

// flat returns the contours of a path, with lines for its curves.
func flat(path []stroke) (all [][]point) {
	const parts = 8
	for _, s := range path {
		if s.command == 'm' || len(all) == 0 {
			all = append(all, []point{s.points[len(s.points)-1]})
			continue
		}
		last := &all[len(all)-1]
		if s.command == 'l' {
			*last = append(*last, s.points[0])
			continue
		}
		a := (*last)[len(*last)-1]
		b, c, d := s.points[0], s.points[1], s.points[2]
		for i := 1; i <= parts; i++ {
			t := float64(i) / parts
			u := 1 - t
			w, x, y, z := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
			*last = append(*last, point{w*a.x + x*b.x + y*c.x + z*d.x, w*a.y + x*b.y + y*c.y + z*d.y})
		}
	}
	return all
}

// strokes returns the path of contours.
func strokes(shape [][]point) (path []stroke) {
	for _, contour := range shape {
		for i, p := range contour {
			command := byte('l')
			if i == 0 {
				command = 'm'
			}
			path = append(path, stroke{command, []point{p}})
		}
	}
	return path
}
