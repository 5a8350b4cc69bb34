package text

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// art is an emoji in color: shapes over each other. libass draws no font in color, but any shape in one color. A
// gradient is drawn in its mean color.
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

// presented are the characters below U+1F000 that are emoji without a variation selector: Emoji_Presentation of UTS 51,
// as of Unicode 16.
var presented = &unicode.RangeTable{R16: []unicode.Range16{
	{0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x23f0, 0x23f0, 1}, {0x23f3, 0x23f3, 1}, {0x25fd, 0x25fe, 1},
	{0x2614, 0x2615, 1}, {0x2648, 0x2653, 1}, {0x267f, 0x267f, 1}, {0x2693, 0x2693, 1}, {0x26a1, 0x26a1, 1},
	{0x26aa, 0x26ab, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26ce, 0x26ce, 1}, {0x26d4, 0x26d4, 1},
	{0x26ea, 0x26ea, 1}, {0x26f2, 0x26f3, 1}, {0x26f5, 0x26f5, 1}, {0x26fa, 0x26fa, 1}, {0x26fd, 0x26fd, 1},
	{0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1}, {0x274c, 0x274c, 1}, {0x274e, 0x274e, 1},
	{0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2795, 0x2797, 1}, {0x27b0, 0x27b0, 1}, {0x27bf, 0x27bf, 1},
	{0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2b55, 0x2b55, 1},
}}

// pictorial reports whether a cluster is an emoji.
func pictorial(cluster []rune) bool {
	rest := string(cluster[1:])
	return !strings.ContainsRune(rest, '\ufe0e') &&
		(cluster[0] >= 0x1f000 || unicode.Is(presented, cluster[0]) || strings.ContainsRune(rest, '\ufe0f'))
}

// artOf returns the drawing of an emoji, or nil if the font has none: then it is drawn in lines of one color.
func (f *Fonts) artOf(emoji []rune) (art, error) {
	if a, ok := f.arts[string(emoji)]; ok {
		return a, nil
	}
	face, err := f.face(colored)
	if err != nil {
		return nil, err
	}
	out := f.shaper.ShapeNoExtents(shaping.Input{
		Text: emoji, RunEnd: len(emoji), Direction: di.DirectionLTR, Face: face.Face, Size: fixed.Int26_6(scale),
		Script: language.Common, Language: language.NewLanguage("und"),
	})
	var a art
	drawn := 0
	for _, g := range out.Glyphs {
		if g.Advance != 0 {
			drawn++
			if color, ok := face.GlyphDataColor(g.GlyphID); ok {
				p := painter{face: face.Face, unit: 1 / float64(face.Upem())}
				p.paint(color.Paint, transform{1, 0, 0, 1, 0, 0}, 0)
				a = p.art
			}
		}
	}
	if drawn != 1 {
		a = nil // a sequence that the font does not know
	}
	if f.arts == nil {
		f.arts = map[string]art{}
	}
	f.arts[string(emoji)] = a
	return a, nil
}

// transform maps (x, y) to (xx·x + xy·y + dx, yx·x + yy·y + dy).
type transform struct{ xx, yx, xy, yy, dx, dy float64 }

// then returns the transform of a part that is within this one.
func (t transform) then(u transform) transform {
	return transform{
		t.xx*u.xx + t.xy*u.yx, t.yx*u.xx + t.yy*u.yx, t.xx*u.xy + t.xy*u.yy, t.yx*u.xy + t.yy*u.yy,
		t.xx*u.dx + t.xy*u.dy + t.dx, t.yx*u.dx + t.yy*u.dy + t.dy,
	}
}

// around returns a transform that leaves a point where it is.
func (t transform) around(x, y int16) transform {
	t.dx, t.dy = float64(x)-t.xx*float64(x)-t.xy*float64(y), float64(y)-t.yx*float64(x)-t.yy*float64(y)
	return t
}

func rotation(angle tables.Fixed214) transform {
	sin, cos := math.Sincos(float64(angle) * math.Pi)
	return transform{cos, sin, -sin, cos, 0, 0}
}

// painter collects the shapes of a glyph of the table COLR.
type painter struct {
	face *font.Face
	unit float64 // of the font's coordinates, as a part of an em
	art  art
}

// maxDepth is the depth to which paints are followed: those of a broken font may refer to each other.
const maxDepth = 24

func (p *painter) paint(paint tables.PaintTable, t transform, depth int) {
	if depth++; depth > maxDepth {
		return
	}
	scaled := func(x, y tables.Fixed214) transform { return transform{float64(x), 0, 0, float64(y), 0, 0} }
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
	case tables.PaintTransform:
		a := v.Transform
		p.paint(v.Paint, t.then(transform{float64(a.Xx), float64(a.Yx), float64(a.Xy), float64(a.Yy), float64(a.Dx),
			float64(a.Dy)}), depth)
	case tables.PaintTranslate:
		p.paint(v.Paint, t.then(transform{1, 0, 0, 1, float64(v.Dx), float64(v.Dy)}), depth)
	case tables.PaintScale:
		p.paint(v.Paint, t.then(scaled(v.ScaleX, v.ScaleY)), depth)
	case tables.PaintScaleAroundCenter:
		p.paint(v.Paint, t.then(scaled(v.ScaleX, v.ScaleY).around(v.CenterX, v.CenterY)), depth)
	case tables.PaintScaleUniform:
		p.paint(v.Paint, t.then(scaled(v.Scale, v.Scale)), depth)
	case tables.PaintScaleUniformAroundCenter:
		p.paint(v.Paint, t.then(scaled(v.Scale, v.Scale).around(v.CenterX, v.CenterY)), depth)
	case tables.PaintRotate:
		p.paint(v.Paint, t.then(rotation(v.Angle)), depth)
	case tables.PaintRotateAroundCenter:
		p.paint(v.Paint, t.then(rotation(v.Angle).around(v.CenterX, v.CenterY)), depth)
	case tables.PaintComposite:
		p.composite(v, t, depth)
	}
}

// composite paints one paint over another. One in a single color is a mask: it fades the other.
func (p *painter) composite(v tables.PaintComposite, t transform, depth int) {
	begin := len(p.art)
	_, opacity, mask := p.color(v.BackdropPaint)
	if !mask {
		p.paint(v.BackdropPaint, t, depth)
	}
	p.paint(v.SourcePaint, t, depth)
	if mask {
		for i := begin; i < len(p.art); i++ {
			p.art[i].opacity *= opacity
		}
	}
}

// fill adds the outline of a glyph in the color of a paint.
func (p *painter) fill(gid font.GID, paint tables.PaintTable, t transform) {
	c, opacity, ok := p.color(paint)
	outline, drawn := p.face.GlyphDataOutline(gid)
	if !ok || !drawn || opacity < 0.02 {
		return
	}
	s := shape{color: c, opacity: opacity}
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
		case opentype.SegmentOpQuadTo: // libass draws cubic curves only, and any quadratic one is one
			q := points[0]
			toward := func(a point) point { return point{a.x + (q.x-a.x)*2/3, a.y + (q.y-a.y)*2/3} }
			points = []point{toward(at), toward(end), end}
		}
		at = end
		for i, a := range points {
			points[i] = point{(t.xx*a.x + t.xy*a.y + t.dx) * p.unit, -(t.yx*a.x + t.yy*a.y + t.dy) * p.unit}
		}
		s.path = append(s.path, stroke{command, points})
	}
	p.art = append(p.art, s)
}

// color returns the color of a paint, and the mean one of a gradient. It reports whether it has one.
func (p *painter) color(paint tables.PaintTable) (c canvas.Color, opacity float64, ok bool) {
	switch v := paint.(type) {
	case tables.PaintSolid:
		return p.mean([]tables.ColorStop{{PaletteIndex: v.PaletteIndex, Alpha: v.Alpha}})
	case tables.PaintLinearGradient:
		return p.mean(v.ColorLine.ColorStops)
	case tables.PaintRadialGradient:
		return p.mean(v.ColorLine.ColorStops)
	case tables.PaintSweepGradient:
		return p.mean(v.ColorLine.ColorStops)
	case tables.PaintTransform:
		return p.color(v.Paint)
	case tables.PaintTranslate:
		return p.color(v.Paint)
	case tables.PaintScale:
		return p.color(v.Paint)
	case tables.PaintScaleUniform:
		return p.color(v.Paint)
	case tables.PaintRotate:
		return p.color(v.Paint)
	}
	return canvas.Color{}, 0, false
}

// mean returns the mean color of stops, of which each counts as much as it is opaque.
func (p *painter) mean(stops []tables.ColorStop) (c canvas.Color, opacity float64, ok bool) {
	if len(p.face.CPAL) == 0 || len(stops) == 0 {
		return c, 0, false
	}
	var r, g, b float64
	for _, s := range stops {
		if int(s.PaletteIndex) >= len(p.face.CPAL[0]) {
			return c, 0, false
		}
		of := p.face.CPAL[0][s.PaletteIndex]
		a := float64(s.Alpha) * float64(of.Alpha) / 255
		r, g, b, opacity = r+float64(of.Red)*a, g+float64(of.Green)*a, b+float64(of.Blue)*a, opacity+a
	}
	if opacity == 0 {
		return c, 0, true
	}
	c = canvas.Color{R: uint8(r/opacity + 0.5), G: uint8(g/opacity + 0.5), B: uint8(b/opacity + 0.5)}
	return c, opacity / float64(len(stops)), true
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
