package compose

import (
	"context"
	"errors"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// layout is the arrangement of a picture and its text.
type layout int

const (
	cover   layout = iota // the text lies on the picture, which is darkened
	split                 // the text lies on a panel below the picture
	boxed                 // the text lies in a box on the picture
	closing               // picture and text lie on the brand's color
)

// card is a picture with a text on it.
type card struct {
	about, name string
	layout      layout
	size        image.Point
	// area is the area in which the text may be.
	area  image.Rectangle
	maxEm float64
	text  string
	body  string // below the text, in smaller letters; it may be empty
	lang  string
	brand *Brand
	// band shows the brand in a band at the bottom. Otherwise its mark is at the top.
	band bool
	// number is the number of a slide, or empty.
	number string
	// whole shows the picture without cropping it.
	whole bool
	// offer is written over the picture. It may be nil.
	offer *Offer
	// notice is drawn at the top. It may be empty.
	notice string
	// lifted keeps all of the text within the area: its box is not at the edge of the picture.
	lifted bool
}

const (
	minEm    = 30
	maxLines = 9
	barTall  = 10 // of the bar above a heading
	wholeEm  = 72 // of a heading below a whole picture
	boxedEm  = 28 // the smallest letters in a box, whose lines are shorter

	headEm    = 68 // of a heading above a body
	bodyEm    = 44
	bodyMinEm = 26
	bodyLines = 6
	bodyGap   = 26 // between a heading and its body

	panelPad   = 64 // of a panel below a picture
	boxInset   = 60 // of a box on a picture
	boxPad     = 50
	wholeInset = 40
	actionTall = 150
	logoTall   = 142
	logoWide   = 292
	markTall   = 104 // of the logo on a slide
	labelTall  = 66  // of the number of a slide
)

// ink is the color of the parts of a brand without colors.
var ink = canvas.Color{R: 17, G: 18, B: 22}

// card composes a picture, as a JPEG.
func (r *run) card(ctx context.Context, path string, c card) error {
	if c.whole {
		c.layout = cover
	}
	c = c.themed()
	top := c.area
	c.area = below(c.area, c.notice)
	s := text.NewScript(c.size.X, c.size.Y)
	if c.band {
		c.area.Max.Y = min(c.area.Max.Y, c.size.Y-bandTall-64)
	}
	free, err := r.offered(s, &c)
	if err != nil {
		return err
	}
	var w wording
	if c.text != "" {
		if w, err = r.wording(c); err != nil {
			return err
		}
		free.Max.Y = min(free.Max.Y, c.area.Max.Y-int(w.height())-3*barTall-wholeInset/2)
	}
	img, err := r.arrange(ctx, path, c, w, free, s)
	if err != nil {
		return err
	}
	if err := r.marks(ctx, img, s, c); err != nil {
		return err
	}
	if err := r.notice(s, c.notice, c.lang, top, 1); err != nil {
		return err
	}
	return r.jpeg(ctx, img, s, c.name)
}

// wording is the text of a card, laid out.
type wording struct{ heading, body text.Block }

// height returns the height of the heading and the body with the gap between them.
func (w wording) height() float64 {
	if w.body.Height == 0 {
		return w.heading.Height
	}
	return w.heading.Height + bodyGap + w.body.Height
}

// wording lays out the text of a card. A text that is too long for its layout takes more of the area.
func (r *run) wording(c card) (w wording, err error) {
	for _, box := range c.boxes() {
		about := c.about
		err = nil
		if c.body != "" {
			about += "/body"
			small := box
			small.Height, small.MaxEm, small.MinEm, small.MaxLines = box.Height*bodyPart, bodyEm, bodyMinEm, bodyLines
			if w.body, err = r.fonts.Fit(c.body, c.lang, small); err == nil {
				about = c.about
				box.Height, box.MaxEm = box.Height-w.body.Height-bodyGap, min(box.MaxEm, headEm)
			}
		}
		if err == nil {
			w.heading, err = r.fonts.Fit(c.text, c.lang, box)
		}
		if err == nil {
			return w, nil
		}
		if err = ofText(about, err); !errors.Is(err, text.ErrTooLong) {
			return w, err
		}
	}
	return w, err
}

// offered draws the offer, and returns the rectangle that it and the brand leave free.
func (r *run) offered(s *text.Script, c *card) (free image.Rectangle, err error) {
	free = image.Rect(wholeInset, wholeInset, c.size.X-wholeInset, c.size.Y-wholeInset)
	if c.band {
		free.Max.Y = c.size.Y - bandTall - wholeInset
	}
	if c.brand.marked() && !c.band {
		free.Min.Y = c.area.Min.Y + logoTall + wholeInset/2
	}
	if c.number != "" && (c.offer == nil || !c.offer.priced()) {
		free.Min.Y = max(free.Min.Y, c.area.Min.Y+labelTall+wholeInset/2)
	}
	if c.offer == nil {
		return free, nil
	}
	drawn, err := r.badge(s, c.offer, c.lang, c.brand, c.corner(), 1, text.Always)
	if err != nil {
		return free, err
	}
	if !drawn.Empty() {
		c.number = ""
	}
	free.Min.Y = max(free.Min.Y, drawn.Max.Y+wholeInset/2)
	if c.band || c.offer.Action == "" && c.offer.Shop == "" {
		return free, nil
	}
	err = r.action(s, c.offer, c.lang, c.brand, float64(c.area.Min.X), float64(c.area.Max.X), float64(c.area.Max.Y), 1,
		text.Always)
	c.area.Max.Y -= actionTall
	free.Max.Y = c.area.Max.Y
	return free, err
}

// arrange draws the picture and the text.
func (r *run) arrange(ctx context.Context, path string, c card, w wording, free image.Rectangle, s *text.Script) (
	*image.RGBA, error) {
	full := image.Rectangle{Max: c.size}
	switch {
	case c.whole:
		img, plain, err := r.staged(ctx, path, c.about, c.size, free, c.brand)
		if err == nil && c.text != "" {
			c.heading(img, s, w, plain)
		}
		return img, err
	case c.text == "" || c.layout == cover:
		img, err := r.canvas(ctx, path, c.about, c.size)
		if err == nil && c.text != "" {
			c.heading(img, s, w, nil)
		}
		return img, err
	case c.layout == split:
		back := c.brand.panel(c.brand.color())
		panel := full
		if c.band {
			panel.Max.Y -= bandTall
		}
		panel.Min.Y = panel.Max.Y - int(w.height()) - 2*panelPad - 2*barTall
		img, err := r.framed(ctx, path, c, image.Rect(0, 0, c.size.X, panel.Min.Y), back, 0)
		if err == nil {
			c.write(img, s, w, float64(panel.Min.Y+panelPad+2*barTall), c.area, back)
		}
		return img, err
	case c.layout == boxed:
		img, err := r.canvas(ctx, path, c.about, c.size)
		if err != nil {
			return nil, err
		}
		box := full.Inset(boxInset)
		switch {
		case c.lifted:
			box.Max.Y = c.area.Max.Y
		case c.band:
			box.Max.Y -= bandTall
		}
		box.Min.Y = box.Max.Y - int(w.height()) - 2*boxPad - 2*barTall
		back := canvas.White
		if c.brand != nil && len(c.brand.Colors) > 1 {
			back = c.brand.second()
		}
		back = c.brand.panel(back)
		canvas.Round(img, box, 36, back)
		c.write(img, s, w, float64(box.Min.Y+boxPad+2*barTall), box.Inset(boxPad), back)
		return img, nil
	}
	back := c.brand.panel(c.brand.color())
	top := c.area.Max.Y - int(w.height())
	frame := image.Rect(c.area.Min.X, c.area.Min.Y+labelTall+wholeInset/2, c.area.Max.X, top-3*barTall-56)
	img, err := r.framed(ctx, path, c, frame, back, 36)
	if err == nil {
		c.write(img, s, w, float64(top), c.area, back)
	}
	return img, err
}

// framed returns a canvas of a color with a picture in a frame, whose corners are round.
func (r *run) framed(ctx context.Context, path string, c card, frame image.Rectangle, back canvas.Color, radius int) (
	*image.RGBA, error) {
	picture, err := r.canvas(ctx, path, c.about, frame.Size())
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rectangle{Max: c.size})
	canvas.Fill(img, img.Rect, back)
	canvas.Frame(img, frame, radius, picture)
	return img, nil
}

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
	panelPart = 0.42
	wholePart = 0.25
	longPart  = 0.7 // of a text with a body that needs it
	bodyPart  = 0.5 // of the height of the text, for its body
)

// boxes returns the boxes that a text may have: that of the layout, and larger ones for longer texts.
func (c card) boxes() []text.Box {
	all := []text.Box{c.box()}
	if c.whole {
		long := c
		long.whole = false
		all = append(all, long.box())
	}
	if c.body != "" {
		most := all[len(all)-1]
		most.Height = float64(c.area.Dy()) * longPart
		all = append(all, most)
	}
	return all
}

// box returns the box of the text: the lower part of the area.
func (c card) box() text.Box {
	b := text.Box{Width: float64(c.area.Dx()), Height: float64(c.area.Dy()) * textPart, MaxEm: c.maxEm, MinEm: minEm,
		MaxLines: maxLines}
	switch {
	case c.whole:
		b.MaxEm, b.Height = min(c.maxEm, wholeEm), float64(c.area.Dy())*wholePart
	case c.layout == boxed:
		b.Width, b.MinEm, b.MaxEm = float64(c.size.X-2*boxInset-2*boxPad), boxedEm, min(c.maxEm, wholeEm)
		if b.Height = float64(c.area.Dy()) * panelPart; c.lifted {
			b.MaxEm = 0.85 * c.maxEm
		}
	case c.layout != cover:
		b.Height = float64(c.area.Dy()) * panelPart
	}
	return b
}

// heading writes the text into the lower part of the area. It darkens the picture under the text, unless the ground has
// one color, which decides the color of the letters.
func (c card) heading(img *image.RGBA, s *text.Script, w wording, plain *canvas.Color) {
	top := float64(c.area.Max.Y) - w.height()
	if plain != nil {
		c.write(img, s, w, top, c.area, *plain)
		return
	}
	fade := c.size.Y / 4
	if c.whole {
		fade = wholeInset / 2 // it ends below the picture
	}
	under := image.Rect(0, int(top)-3*barTall, c.size.X, c.area.Max.Y+barTall)
	tint := canvas.Deep(canvas.Mean(img, under))
	if c.brand != nil && len(c.brand.Colors) > 0 {
		tint = canvas.Deep(c.brand.color())
	}
	canvas.Scrim(img, under, fade, tint)
	c.write(img, s, w, top, c.area, ink)
}

// write writes the text, and a bar above it, on a ground of a color.
func (c card) write(img *image.RGBA, s *text.Script, w wording, top float64, within image.Rectangle,
	back canvas.Color) {
	// The bar is aligned with the beginning of the lines.
	bar := image.Rect(within.Min.X, int(top)-3*barTall, within.Min.X+110, int(top)-2*barTall)
	if w.heading.RTL {
		bar = bar.Add(image.Pt(within.Dx()-bar.Dx(), 0))
	}
	canvas.Fill(img, bar, c.brand.accent(back, canvas.LogoContrast))
	left, right := float64(within.Min.X), float64(within.Max.X)
	s.Text(w.heading, left, right, top, text.Start, canvas.On(back), text.Always)
	if w.body.Height > 0 {
		s.Text(w.body, left, right, top+w.heading.Height+bodyGap, text.Start, canvas.On(back), text.Always)
	}
}
