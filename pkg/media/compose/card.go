package compose

import (
	"context"
	"errors"
	"image"
	"slices"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/media/picture"
)

// card is a picture with a text on it.
type card struct {
	about  string
	layout theme.Layout
	size   image.Point
	// area is the area in which texts may be.
	area  image.Rectangle
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
	// offer is written beside the picture. It may be nil.
	offer *Offer
	// notice is drawn at the top. It may be empty.
	notice string
}

const (
	minEm     = 32 // of all letters: what is smaller cannot be read on a phone
	maxLines  = 9
	barTall   = 10 // of the bar above a heading
	barWide   = 110
	bodyEm    = 44
	bodyLines = 7
	mostBody  = 14 // lines of a body that is too long
	mostLines = 12
	bodyGap   = 26 // between a heading and its body
	textGap   = 46 // between a text and the picture beside it
	boxPad    = 46
	fadeTall  = 260

	actionTall = 150
	markTall   = 104 // of the row of the logo and the number
	labelTall  = 72  // of that row without a logo
	markGap    = 28
	actionGap  = 24
)

// ink is the color of the parts of a brand without colors.
var ink = canvas.Color{R: 17, G: 18, B: 22}

// card draws a picture, and the script of its letters.
func (r *run) card(ctx context.Context, path string, c card) (*image.RGBA, *text.Script, error) {
	if c.whole {
		c.layout = c.brand.look().Product
	}
	if text.RightToLeft(c.text, c.lang) {
		c.layout.Picture, c.layout.Text = mirrored(c.layout.Picture), mirrored(c.layout.Text)
	}
	top := c.area
	c.area = below(c.area, c.notice)
	s := text.NewScript(c.size.X, c.size.Y)
	if c.band {
		c.area.Max.Y = min(c.area.Max.Y, c.size.Y-bandTall-markGap)
	}
	draw := r.plain
	if c.whole {
		draw = r.product
	}
	img, err := draw(ctx, path, c, s)
	if err == nil {
		err = r.marks(ctx, img, s, c)
	}
	if err == nil {
		err = r.notice(s, c.notice, c.lang, top, 1)
	}
	return img, s, err
}

// rest returns the area that the mark of the brand and the number of a slide leave free.
func (c card) rest() image.Rectangle {
	area := c.area
	if c.number != "" || c.brand.marked() && !c.band {
		area.Min.Y += markTall + markGap
	}
	return area
}

// below returns the part of the area of a picture that is below the mark of the brand and the number of a slide, unless
// the picture lies under them.
func (c card) below(frame image.Rectangle) image.Rectangle {
	tall, marked := labelTall, c.brand.marked() && !c.band
	if marked && c.brand.Logo != "" {
		tall = markTall
	}
	if (marked || c.number != "") && frame.Min.Y > c.area.Min.Y+tall/2 {
		frame.Min.Y = max(frame.Min.Y, c.area.Min.Y+tall+markGap)
	}
	return frame
}

// bottom returns the row at which the band begins, or the end of the picture.
func (c card) bottom() int {
	if c.band {
		return c.size.Y - bandTall
	}
	return c.size.Y
}

// room returns the area of the text: the part of that of the layout that is free, and that it grows to if the text is
// too long for it.
func (c card) room() []image.Rectangle {
	free, own := c.rest(), place(c.layout.Text, c.size)
	if c.layout.Plate == "box" {
		free.Min.Y, free.Max.Y = free.Min.Y+boxPad, free.Max.Y-boxPad
	}
	first := own.Intersect(free)
	if first.Dx() < free.Dx()/4 || first.Dy() < 2*minEm {
		first = free
	}
	taller := func(r image.Rectangle) image.Rectangle {
		switch most := free.Dy() * 7 / 10; c.layout.Anchor {
		case "top":
			r.Max.Y = max(first.Max.Y, min(free.Max.Y, first.Min.Y+most))
		default:
			r.Min.Y = min(first.Min.Y, max(free.Min.Y, first.Max.Y-most))
		}
		return r
	}
	wide := first
	wide.Min.X, wide.Max.X = min(first.Min.X, free.Min.X), max(first.Max.X, free.Max.X)
	if c.layout.Plate == "box" {
		wide = first
	}
	all := free // any title that was accepted fits into it
	if c.layout.Plate == "box" {
		all.Min.X, all.Max.X = free.Min.X+boxPad, free.Max.X-boxPad
	}
	rooms := []image.Rectangle{first, taller(wide), all}
	if first.Dx() < free.Dx()/2 { // a column beside the picture stays one, if it can
		rooms = slices.Insert(rooms, 1, taller(first))
	}
	return rooms
}

// wording is the text of a card, laid out.
type wording struct {
	heading, body text.Block
	// at is the place of the text.
	at image.Rectangle
	// bar is the height that the bar takes.
	bar int
}

// height returns the height of the heading and the body with the gap between them.
func (w wording) height() float64 {
	if w.body.Height == 0 {
		return w.heading.Height
	}
	return w.heading.Height + bodyGap + w.body.Height
}

// wording lays out the text of a card. A text that is too long for its area takes more of the picture.
func (r *run) wording(c card) (w wording, err error) {
	rooms := c.room()
	for i, area := range rooms {
		w, err = r.worded(c, area, i > 0, i == len(rooms)-1)
		if err == nil || !errors.Is(err, text.ErrTooLong) {
			return w, err
		}
	}
	return w, err
}

// worded lays out the text of a card in an area. Only the last one that is tried divides words.
func (r *run) worded(c card, area image.Rectangle, tight, last bool) (w wording, err error) {
	if c.layout.Bar {
		w.bar = 3 * barTall
	}
	box := text.Box{Width: float64(area.Dx()), Height: float64(area.Dy() - w.bar), MaxEm: float64(c.layout.Heading),
		MinEm: minEm, MaxLines: maxLines, Whole: !last}
	if !tight {
		// A heading of more letters is better in a larger area than in small ones.
		box.MinEm = max(minEm, 0.44*box.MaxEm)
	}
	if last {
		box.MaxLines = mostLines
	}
	if c.body != "" {
		small := box
		small.Height, small.MaxEm = box.Height*0.55, max(float64(c.layout.Body), bodyEm)
		small.MinEm, small.MaxLines = bodyEm, bodyLines
		if tight {
			small.MinEm, small.MaxLines = minEm, mostBody
		}
		if w.body, err = r.fonts.Fit(c.body, c.lang, small); err != nil {
			return w, ofText(c.about+"/body", err)
		}
		box.Height -= w.body.Height + bodyGap
	}
	if w.heading, err = r.fonts.Fit(c.text, c.lang, box); err != nil {
		return w, ofText(c.about, err)
	}
	tall := int(w.height()) + w.bar
	w.at = area
	switch c.layout.Anchor {
	case "top":
		w.at.Max.Y = area.Min.Y + tall
	case "middle":
		w.at.Min.Y += (area.Dy() - tall) / 2
		w.at.Max.Y = w.at.Min.Y + tall
	default:
		w.at.Min.Y = area.Max.Y - tall
	}
	return w, nil
}

// plain draws a picture that may be cropped, and its text.
func (r *run) plain(ctx context.Context, path string, c card, s *text.Script) (*image.RGBA, error) {
	c.area.Max.Y -= c.acted()
	if err := r.calls(s, c, c.brand.in(c.layout.Ground)); err != nil {
		return nil, err
	}
	if c.text == "" {
		return r.canvas(ctx, path, c.about, c.size)
	}
	w, err := r.wording(c)
	if err != nil {
		return nil, err
	}
	l, b := c.layout, c.brand
	ground, frame := b.in(l.Ground), place(l.Picture, c.size)
	frame.Max.Y = min(frame.Max.Y, c.bottom())
	frame = c.below(frame)
	if l.Plate == "" || l.Plate == "none" {
		frame = beside(frame, w.at)
	}
	img := staged(c.size, c.bottom(), ground, l.Decor, b.decorated(ground, b.letters(l.Letters, ground)))
	if frame.Dx() >= 2*textGap && frame.Dy() >= 2*textGap {
		seen, err := r.canvas(ctx, path, c.about, frame.Size())
		if err != nil {
			return nil, err
		}
		canvas.Frame(img, frame, min(l.Round, frame.Dx()/2, frame.Dy()/2), seen)
	}
	switch l.Plate {
	case "box":
		ground = b.in(l.PlateColor)
		box := image.Rect(w.at.Min.X-boxPad, w.at.Min.Y-boxPad, w.at.Max.X+boxPad, w.at.Max.Y+boxPad)
		canvas.Round(img, box, min(b.look().Round, box.Dy()/2), ground)
	case "fade":
		tone := b.in(l.PlateColor)
		if b == nil || len(b.Colors) == 0 {
			tone = canvas.Deep(canvas.Mean(img, image.Rect(0, w.at.Min.Y, c.size.X, w.at.Max.Y)))
		}
		ground = canvas.Blended(tone)
		canvas.Fade(img, w.at.Min.Y-textGap, w.at.Max.Y+textGap, fadeTall, tone)
	}
	c.write(img, s, w, ground)
	return img, nil
}

// beside returns the part of the area of a picture that a text leaves free: above or below it, or beside a narrow one.
func beside(frame, words image.Rectangle) image.Rectangle {
	taken := words.Inset(-textGap)
	if !image.Rect(words.Min.X, taken.Min.Y, words.Max.X, taken.Max.Y).Overlaps(frame) {
		return frame
	}
	above, below, before, after := frame, frame, frame, frame
	above.Max.Y, below.Min.Y, before.Max.X, after.Min.X = taken.Min.Y, taken.Max.Y, taken.Min.X, taken.Max.X
	best := above
	if words.Min.Y+words.Max.Y < frame.Min.Y+frame.Max.Y {
		best = below
	}
	for _, side := range []image.Rectangle{before, after} {
		if side.Dx() > frame.Dx()/3 && side.Dx()*side.Dy() > best.Dx()*max(best.Dy(), 0) {
			best = side
		}
	}
	return best
}

// write writes the text on a ground of a color, with the bar of the layout above it.
func (c card) write(img *image.RGBA, s *text.Script, w wording, ground canvas.Color) {
	align := text.Start
	if c.layout.Align == "center" {
		align = text.Center
	}
	letters := c.brand.letters(c.layout.Letters, ground)
	if w.bar > 0 {
		bar := image.Rect(w.at.Min.X, w.at.Min.Y, w.at.Min.X+barWide, w.at.Min.Y+barTall)
		switch {
		case align == text.Center:
			bar = bar.Add(image.Pt((w.at.Dx()-barWide)/2, 0))
		case w.heading.RTL:
			bar = bar.Add(image.Pt(w.at.Dx()-barWide, 0))
		}
		canvas.Fill(img, bar, c.brand.accent(ground, canvas.LogoContrast))
	}
	left, right, top := float64(w.at.Min.X), float64(w.at.Max.X), float64(w.at.Min.Y+w.bar)
	s.Text(w.heading, left, right, top, align, letters, text.Always)
	if w.body.Height > 0 {
		s.Text(w.body, left, right, top+w.heading.Height+bodyGap, align, letters, text.Always)
	}
}

// acted returns the height that the call to action of an offer takes, which is in the band if there is one.
func (c card) acted() int {
	if c.offer == nil || c.band || c.offer.Action == "" && c.offer.Shop == "" {
		return 0
	}
	return actionTall + actionGap
}

// calls draws the call to action of an offer below the area, on a ground.
func (r *run) calls(s *text.Script, c card, ground canvas.Color) error {
	if c.acted() == 0 {
		return nil
	}
	bottom := float64(c.area.Max.Y + c.acted())
	left, right := float64(c.area.Min.X), float64(c.area.Max.X)
	return r.action(s, c.offer, c.lang, c.brand, ground, left, right, bottom, 1, text.Always)
}

// canvas returns a part as a picture that covers a size: the part of it that has most to see. What is transparent in it
// shows the ground of pictures that are cut out.
func (r *run) canvas(ctx context.Context, path, about string, size image.Point) (*image.RGBA, error) {
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		wide, tall := d.Shown(size)
		if wide > 0.97 && tall > 0.97 {
			return d.Cover(ctx, size)
		}
		small, err := d.Within(ctx, image.Pt(salientSize, salientSize))
		if err != nil {
			return nil, err
		}
		x, y := canvas.Salient(small.Pix, small.Stride, small.Rect.Size()).Window(wide, tall)
		return d.CoverFrom(ctx, size, x, y)
	})
	if err != nil {
		return nil, err
	}
	return picture.Flat(img, canvas.Studio), nil
}

// whole returns a canvas with a picture that is not cropped: on its own color or its blurred copy.
func (r *run) whole(ctx context.Context, path, about string, size image.Point) (*image.RGBA, error) {
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Within(ctx, size)
	})
	if err != nil {
		return nil, err
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	photo := canvas.Trim(img)
	canvas.Ground(out, photo, size.Sub(photo.Rect.Size()).Div(2))
	return out, nil
}

// salientSize is the size of the copy of a picture in which its subject is found.
const salientSize = 96

// unfit reports whether a text cannot be shown in its place.
func unfit(err error) bool {
	return errors.Is(err, text.ErrTooLong) || errors.Is(err, text.ErrScript) || errors.Is(err, text.ErrEmpty)
}
