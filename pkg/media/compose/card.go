package compose

import (
	"context"
	"errors"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// card is a picture with a text on it.
type card struct {
	about, name string
	size        image.Point
	// area is the area in which the text may be.
	area  image.Rectangle
	maxEm float64
	text  string
	lang  string
	brand *Brand
	// band shows the brand in a band at the bottom. Otherwise its logo is at the top.
	band bool
	// whole shows the picture without cropping it.
	whole bool
	// offer is written over the picture. It may be nil.
	offer *Offer
}

const (
	minEm    = 30
	maxLines = 9
	barTall  = 10 // of the bar above a heading
	wholeEm  = 72 // of a heading below a whole picture
)

// card composes a picture, as a JPEG.
func (r *run) card(ctx context.Context, path string, c card) error {
	s := text.NewScript(c.size.X, c.size.Y)
	if c.band {
		c.area.Max.Y = min(c.area.Max.Y, c.size.Y-bandTall-64)
	}
	// The picture is between its upper parts and its lower ones.
	free := image.Rect(wholeInset, wholeInset, c.size.X-wholeInset, c.size.Y-wholeInset)
	if c.band {
		free.Max.Y = c.size.Y - bandTall - wholeInset
	}
	if c.brand != nil && c.brand.Logo != "" && !c.band {
		free.Min.Y = c.area.Min.Y + logoTall + wholeInset/2
	}
	if c.offer != nil {
		drawn, err := r.badge(s, c.offer, c.lang, c.brand, c.corner(), 1, text.Always)
		if err != nil {
			return err
		}
		free.Min.Y = max(free.Min.Y, drawn.Max.Y+wholeInset/2)
		if !c.band && (c.offer.Action != "" || c.offer.Shop != "") {
			if err := r.action(s, c.offer, c.lang, c.brand, float64(c.area.Min.X), float64(c.area.Max.X),
				float64(c.area.Max.Y), 1, text.Always); err != nil {
				return err
			}
			c.area.Max.Y -= actionTall
			free.Max.Y = c.area.Max.Y
		}
	}
	var block *text.Block
	if c.text != "" {
		b, err := r.fonts.Fit(c.text, c.lang, c.box())
		if c.whole && errors.Is(err, text.ErrTooLong) {
			long := c
			long.whole = false
			b, err = r.fonts.Fit(c.text, c.lang, long.box())
		}
		if err != nil {
			return ofText(c.about, err)
		}
		block = &b
		free.Max.Y = c.area.Max.Y - int(b.Height) - 3*barTall - wholeInset/2
	}
	var img *image.RGBA
	var plain *canvas.Color
	var err error
	if c.whole {
		img, plain, err = r.whole(ctx, path, c.about, c.size, free)
	} else {
		img, err = r.canvas(ctx, path, c.about, c.size)
	}
	if err != nil {
		return err
	}
	if block != nil {
		r.heading(img, s, c, *block, plain)
	}
	if c.brand != nil {
		if err := r.brand(ctx, img, s, c); err != nil {
			return err
		}
	}
	return r.jpeg(ctx, img, s, c.name)
}

// The margins of whole pictures, and the heights of parts that they leave free.
const (
	wholeInset = 40
	actionTall = 150
	logoTall   = 142
	logoWide   = 292
)

// corner returns the right upper corner of the badge.
func (c card) corner() image.Point {
	if c.size.Y == storyTall {
		return image.Pt(c.area.Max.X, c.area.Min.Y)
	}
	return image.Pt(c.size.X-wholeInset, wholeInset)
}

// The parts of the height of the area that a text may take: less if the picture must be seen whole.
const (
	textPart  = 0.6
	wholePart = 0.25
)

// box returns the box of the text: the lower part of the area.
func (c card) box() text.Box {
	b := text.Box{Width: float64(c.area.Dx()), Height: float64(c.area.Dy()) * textPart, MaxEm: c.maxEm, MinEm: minEm,
		MaxLines: maxLines}
	if c.whole {
		b.MaxEm, b.Height = min(c.maxEm, wholeEm), float64(c.area.Dy())*wholePart
	}
	return b
}

// heading writes the text into the lower part of the area. It darkens the picture under the text, unless the ground has
// one color, which decides the color of the letters.
func (r *run) heading(img *image.RGBA, s *text.Script, c card, b text.Block, plain *canvas.Color) {
	top := float64(c.area.Max.Y) - b.Height
	letters, back := canvas.White, ink
	if plain != nil {
		letters, back = canvas.On(*plain), *plain
	} else {
		fade := c.size.Y / 4
		if c.whole {
			fade = wholeInset / 2 // it ends below the picture
		}
		canvas.Scrim(img, image.Rect(0, int(top)-3*barTall, c.size.X, c.area.Max.Y+barTall), fade)
	}
	accent := letters
	if c.brand != nil && c.brand.Color != nil && canvas.Contrast(c.brand.Color.Luminance(), back.Luminance()) >= 3 {
		accent = *c.brand.Color
	}
	// The bar is aligned with the beginning of the lines.
	bar := image.Rect(c.area.Min.X, int(top)-3*barTall, c.area.Min.X+110, int(top)-2*barTall)
	if b.RTL {
		bar = bar.Add(image.Pt(c.area.Dx()-bar.Dx(), 0))
	}
	canvas.Fill(img, bar, accent)
	s.Text(b, float64(c.area.Min.X), float64(c.area.Max.X), top, text.Start, letters, text.Always)
}

// ink is the color of a band if the brand has no color.
var ink = canvas.Color{R: 17, G: 18, B: 22}

// brand shows the brand: in a band at the bottom with its name, or its logo at the top.
func (r *run) brand(ctx context.Context, img *image.RGBA, s *text.Script, c card) error {
	logo, err := r.logo(ctx, c.brand.Logo)
	if err != nil {
		return err
	}
	if !c.band {
		if logo != nil {
			canvas.Stick(img, canvas.Badge(logo, logoWide, logoTall), c.area.Min)
		}
		return nil
	}
	back := ink
	if c.brand.Color != nil {
		back = *c.brand.Color
	}
	band := image.Rect(0, c.size.Y-bandTall, c.size.X, c.size.Y)
	canvas.Fill(img, band, back)
	left := c.area.Min.X
	if logo != nil {
		at := canvas.Within(logo.Bounds().Size(), image.Rect(left, band.Min.Y+28, left+300, band.Max.Y-28), false)
		canvas.Place(img, at, logo)
		left = at.Max.X + 32
	}
	right := c.area.Max.X
	if c.offer != nil && c.offer.Action != "" {
		at, err := r.button(s, c.offer.Action, c.lang, band, right, back)
		if err != nil {
			return err
		}
		right = at - 32
	}
	if c.brand.Name == "" || right < left {
		return nil
	}
	b, err := r.fonts.Fit(c.brand.Name, c.lang, text.Box{Width: float64(right - left), Height: bandTall - 20,
		MaxEm: 46, MinEm: 22, MaxLines: 2})
	if err != nil {
		return ofText("/brand/name", err)
	}
	b.RTL = false // it is next to the logo
	s.Text(b, float64(left), float64(right), float64(band.Min.Y)+(bandTall-b.Height)/2, text.Start,
		canvas.On(back), text.Always)
	return nil
}

// button draws a call to action at the right end of a band, in its colors turned round. It returns the left edge.
func (r *run) button(s *text.Script, words, lang string, band image.Rectangle, right int,
	back canvas.Color) (int, error) {
	const pad = 30
	b, err := r.fonts.Fit(words, lang, text.Box{Width: 400, Height: bandTall - 40, MaxEm: 44, MinEm: 20, MaxLines: 2})
	if unfit(err) {
		return right, nil
	}
	if err != nil {
		return 0, ofText("/offer", err)
	}
	middle, tall := float64(band.Min.Y+band.Max.Y)/2, min(b.Height+24, bandTall-24)
	left := float64(right) - b.Width - 2*pad
	s.Box(left, middle-tall/2, float64(right), middle+tall/2, min(tall/2, 36), canvas.On(back), 1, text.Always)
	s.Text(b, left, float64(right), middle-b.Height/2, text.Center, back, text.Always)
	return int(left), nil
}
