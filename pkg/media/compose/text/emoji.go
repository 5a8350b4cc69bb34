package text

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

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
	out := f.shaper.ShapeNoExtents(shaping.Input{
		Text: emoji, RunEnd: len(emoji), Direction: di.DirectionLTR, Face: face.Face, Size: fixed.Int26_6(scale),
		Script: language.Common, Language: language.NewLanguage("und"),
	})
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
