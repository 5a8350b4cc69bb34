package compose

import (
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// Theme is the manner of headings, captions and texts on pictures.
type Theme string

// The themes. The empty one is Calm.
const (
	Calm      Theme = "calm"      // texts on plates with round corners, which fade in
	Bold      Theme = "bold"      // large texts on the main color, which slide in, and outlined captions
	Editorial Theme = "editorial" // texts with serifs on paper, which are unveiled
)

// Themes are all of the themes, the default first.
var Themes = []Theme{Calm, Bold, Editorial}

// paper is the ground of texts in the theme Editorial.
var paper = canvas.Color{R: 250, G: 247, B: 240}

// theme returns the theme of a brand, or Calm.
func (b *Brand) theme() Theme {
	if b == nil || b.Theme == "" {
		return Calm
	}
	return b.Theme
}

// font returns the family of a brand, or that of its theme.
func (b *Brand) font() string {
	switch {
	case b == nil:
		return ""
	case b.Font != "":
		return b.Font
	case b.Theme == Bold:
		return "montserrat"
	case b.Theme == Editorial:
		return "lora"
	}
	return ""
}

// panel returns the color of the panels and boxes that texts lie on, of which the theme Calm has its own.
func (b *Brand) panel(calm canvas.Color) canvas.Color {
	switch b.theme() {
	case Bold:
		return b.color()
	case Editorial:
		return paper
	}
	return calm
}

// themed returns the layout of a card in the theme of its brand: Bold has no text on a picture, and Editorial a box.
func (c card) themed() card {
	switch theme := c.brand.theme(); {
	case c.whole || c.text == "" || c.layout == closing:
	case theme != Calm && c.lifted:
		c.layout = boxed
	case theme == Bold && c.layout != split:
		c.layout, c.maxEm = split, c.maxEm*1.1
	case theme == Editorial && c.layout == cover:
		c.layout = boxed
	}
	return c
}

// moving returns the motion with which the text of a scene appears, and the size of its letters and the roundness of
// its plate relative to those of Calm.
func (b *Brand) moving(left, top, right, bottom float64, rtl bool) text.Motion {
	m := text.Motion{Left: left, Top: top, Right: right, Bottom: bottom, RTL: rtl}
	switch b.theme() {
	case Bold:
		if m.Kind, m.From = text.Slides, left-right; rtl {
			m.From = right - left
		}
	case Editorial:
		m.Kind = text.Unveils
	default:
		m.Kind = text.Fades
	}
	return m
}
