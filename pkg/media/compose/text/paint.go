package text

import (
	"math"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

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

// moved returns a path in a transform.
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

// stop returns the color of a stop.
func (p *painter) stop(s tables.ColorStop) rgba {
	if len(p.face.CPAL) == 0 || int(s.PaletteIndex) >= len(p.face.CPAL[0]) {
		return rgba{}
	}
	c := p.face.CPAL[0][s.PaletteIndex]
	return rgba{float64(c.Red), float64(c.Green), float64(c.Blue), fixed14(s.Alpha) * float64(c.Alpha) / 255}
}
