package compose

import (
	"cmp"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// paper is the ground of texts that look printed.
var paper = canvas.Color{R: 250, G: 247, B: 240}

// design returns the design of a brand: its own, or the theme of the service that it names. It reports whether there is
// one of that name.
func (b *Brand) design() (*theme.Theme, bool) {
	switch {
	case b == nil:
		return theme.Own("")
	case b.Design != nil:
		return b.Design, true
	}
	return theme.Own(b.Theme)
}

// look returns the design of a brand that was checked.
func (b *Brand) look() *theme.Theme {
	t, ok := b.design()
	if !ok {
		t, _ = theme.Own("")
	}
	return t
}

// font returns the family of a brand, or that of its design.
func (b *Brand) font() string {
	if b == nil {
		return ""
	}
	return cmp.Or(b.Font, b.look().Font)
}

// in returns a color of a design in the colors of the brand.
func (b *Brand) in(c theme.Color) canvas.Color {
	colored := b != nil && len(b.Colors) > 0
	switch c {
	case theme.Main:
		return b.color()
	case theme.Second:
		return b.second()
	case theme.Tint:
		if !colored {
			return canvas.StudioColor
		}
		return canvas.Tint(b.color(), 0.16)
	case theme.Soft:
		if !colored {
			return canvas.Color{R: 222, G: 222, B: 218}
		}
		return canvas.Tint(b.color(), 0.36)
	case theme.Deep:
		return canvas.Deep(b.color())
	case theme.Paper:
		return paper
	case theme.Ink:
		return ink
	case theme.Black:
		return canvas.Black
	}
	if own, err := canvas.ParseColor(string(c)); err == nil {
		return own
	}
	return canvas.White
}

// letters returns the color of text on a ground: that of the design if it can be read there, or else black or white.
func (b *Brand) letters(c theme.Color, ground canvas.Color) canvas.Color {
	if c != "" {
		if own := b.in(c); contrast(own, ground) >= canvas.MinContrast {
			return own
		}
	}
	return canvas.On(ground)
}

// apart returns the first of some colors that can be told from a ground, or black or white.
func apart(ground canvas.Color, least float64, choices ...canvas.Color) canvas.Color {
	for _, c := range choices {
		if contrast(c, ground) >= least {
			return c
		}
	}
	return canvas.On(ground)
}

func contrast(a, b canvas.Color) float64 { return canvas.Contrast(a.Luminance(), b.Luminance()) }

// decorated returns the color of the decoration of a ground: a little darker in the hue of the brand on a light one,
// and a little lighter on another. Where letters could not be read on it, it is further from them.
func (b *Brand) decorated(ground, letters canvas.Color) canvas.Color {
	c := canvas.Mixed(ground, canvas.White, 0.16)
	if least := min(ground.R, ground.G, ground.B); least > 190 {
		c = canvas.Mixed(ground, b.in(theme.Main), 0.15)
	}
	switch {
	case contrast(c, letters) >= canvas.MinContrast:
	case letters.Luminance() > ground.Luminance():
		c = canvas.Mixed(ground, canvas.Black, 0.16)
	default:
		c = canvas.Mixed(ground, canvas.White, 0.16)
	}
	return c
}

// mirrored returns an area on the other side of a picture, for texts from right to left.
func mirrored(a theme.Area) theme.Area {
	a.X = 100 - a.X - a.Width
	return a
}

// place returns an area in the pixels of a picture.
func place(a theme.Area, size image.Point) image.Rectangle {
	at := func(part float64, of int) int { return int(part*float64(of)/100 + 0.5) }
	return image.Rect(at(a.X, size.X), at(a.Y, size.Y), at(a.X+a.Width, size.X), at(a.Y+a.Height, size.Y))
}

// moving returns the motion with which the text of a scene appears.
func (b *Brand) moving(left, top, right, bottom float64, rtl bool) text.Motion {
	m := text.Motion{Left: left, Top: top, Right: right, Bottom: bottom, RTL: rtl}
	switch b.look().Motion {
	case "slide":
		if m.Kind, m.From = text.Slides, left-right; rtl {
			m.From = right - left
		}
	case "unveil":
		m.Kind = text.Unveils
	case "rise":
		m.Kind, m.From = text.Rises, (bottom-top)/2
	case "fade":
		m.Kind = text.Fades
	}
	return m
}
