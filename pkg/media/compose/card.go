package compose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/media/picture"
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

// Offer describes what a product costs, in texts of its market. It is written over the pictures of the product. Any
// member may be empty.
type Offer struct {
	// Price is the price that applies, and Was the price before the promotion.
	Price, Was string
	// Promotion is the name of the promotion.
	Promotion string
	// Shop is the shop's name, and Action its call to action.
	Shop, Action string
}

// priced reports whether an offer has a badge.
func (o *Offer) priced() bool { return o.Price != "" || o.Was != "" || o.Promotion != "" }

// staged returns a canvas with a photo of a product that is not cropped: within a box, on a ground of one color. It
// returns that color, too.
func (r *run) staged(ctx context.Context, path, about string, size image.Point, box image.Rectangle, b *Brand) (
	*image.RGBA, *canvas.Color, error) {
	photo, err := r.within(ctx, path, about, box)
	if err != nil {
		return nil, nil, err
	}
	var color *canvas.Color
	if b != nil && len(b.Colors) > 0 {
		color = &b.Colors[0]
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	ground := canvas.Stage(img, photo, box, color)
	return img, &ground, nil
}

// whole returns a canvas with a picture that is not cropped: within a box, on its own color or its blurred copy.
func (r *run) whole(ctx context.Context, path, about string, size image.Point, box image.Rectangle) (*image.RGBA,
	error) {
	photo, err := r.within(ctx, path, about, box)
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rectangle{Max: size})
	canvas.Ground(img, photo, photo.Rect.Min.Add(box.Min))
	return img, nil
}

// within returns a picture in the size in which it fits into a box.
func (r *run) within(ctx context.Context, path, about string, box image.Rectangle) (*image.NRGBA, error) {
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Within(ctx, box.Size())
	})
	if err != nil {
		return nil, err
	}
	return canvas.Trim(img), nil
}

// unfit reports whether a text cannot be shown in its place.
func unfit(err error) bool {
	return errors.Is(err, text.ErrTooLong) || errors.Is(err, text.ErrScript) || errors.Is(err, text.ErrEmpty)
}

// The parts of a badge, in pixels of a picture that is 1080 wide.
const (
	badgeWide  = 400
	badgePad   = 26
	badgeRound = 22
)

// badge draws the price of an offer, with its right upper corner at a point. Lengths are multiplied by k. It returns
// the drawn rectangle.
func (r *run) badge(s *text.Script, o *Offer, lang string, b *Brand, corner image.Point, k float64, when text.Span) (
	image.Rectangle, error) {
	back := b.second()
	rows := []struct {
		text   string
		em     float64
		lines  int
		struck bool
	}{{o.Promotion, 34, 2, false}, {o.Price, 76, 1, false}, {o.Was, 42, 1, true}}
	blocks := make([]text.Block, len(rows))
	var width, height float64
	for i, row := range rows {
		if row.text == "" {
			continue
		}
		var err error
		blocks[i], err = r.fonts.Fit(row.text, lang, text.Box{Width: (badgeWide - 2*badgePad) * k, Height: 300 * k,
			MaxEm: row.em * k, MinEm: 18 * k, MaxLines: row.lines})
		switch {
		case unfit(err):
			continue // the rest of the badge is still of use
		case err != nil:
			return image.Rectangle{}, ofText("/offer", err)
		}
		width, height = max(width, blocks[i].Width), height+blocks[i].Height
	}
	if height == 0 {
		return image.Rectangle{}, nil
	}
	pad := badgePad * k
	right, top := float64(corner.X), float64(corner.Y)
	left, bottom := right-width-2*pad, top+height+1.2*pad
	s.Box(left, top, right, bottom, badgeRound*k, back, 1, when)
	at := top + 0.6*pad
	for i, row := range rows {
		block := blocks[i]
		if block.Height == 0 {
			continue
		}
		s.Text(block, left, right, at, text.Center, canvas.On(back), when)
		if middle := at + block.Height/2; row.struck {
			x, half := (left+right-block.Width)/2-4*k, 2*k
			s.Over(x, middle-half, x+block.Width+8*k, middle+half, half, canvas.On(back), 1, when)
		}
		at += block.Height
	}
	return image.Rect(int(left), int(top), int(right), int(bottom)+1), nil
}

// action draws the call to action of an offer, with the shop's name, between two edges and above bottom.
func (r *run) action(s *text.Script, o *Offer, lang string, b *Brand, left, right, bottom, k float64,
	when text.Span) error {
	words := o.Action
	if words == "" {
		words = o.Shop
	} else if o.Shop != "" {
		words += " · " + o.Shop
	}
	if words == "" {
		return nil
	}
	back := b.color()
	pad := 28 * k
	block, err := r.fonts.Fit(words, lang, text.Box{Width: right - left - 2*pad, Height: 150 * k, MaxEm: 50 * k,
		MinEm: 26 * k, MaxLines: 2})
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/offer", err)
	}
	middle, top := (left+right)/2, bottom-block.Height-pad
	s.Box(middle-block.Width/2-pad, top, middle+block.Width/2+pad, bottom, 30*k, back, 1, when)
	s.Text(block, left, right, top+pad/2, text.Center, canvas.On(back), when)
	return nil
}

// The boxes of whole pictures in videos. They are smaller where something is written: below the logo and the badge,
// and above the captions and the buttons of the platforms.
var (
	wholePortrait  = image.Rect(80, 300, 1000, 1400)
	wholeLandscape = image.Rect(420, 70, 1500, 900)
)

const (
	wholeGap  = 28  // between a whole picture and what is above it
	leastTall = 260 // the least height of a whole picture, in pixels
)

// box returns the box of the whole picture of a scene, in pixels of a video that is not scaled. Nothing lies over the
// picture at any view of its motion.
func (f *videoRun) box(n int) (image.Rectangle, error) {
	box, k := wholePortrait, f.part()
	if f.Format == Landscape {
		box = wholeLandscape
	}
	top := float64(box.Min.Y) * k
	if f.Format == Portrait && f.logo != nil {
		top = max(top, float64(f.logo.bottom)+wholeGap*k)
	}
	draft := text.NewScript(f.width, f.height)
	price, err := f.price(draft, n, text.Always)
	if err != nil {
		return box, err
	}
	if f.Format == Portrait && !price.Empty() {
		top = max(top, float64(price.Max.Y)+wholeGap*k)
	}
	words, err := f.screen(n, price)
	if err != nil {
		return box, err
	}
	if words.block.Height > 0 {
		top = max(top, words.top+words.block.Height+(screenPad+wholeGap)*k)
	}
	bottom := f.caps.bottom - 40*k
	switch action := f.Offer != nil && f.Offer.Action+f.Offer.Shop != ""; {
	case action && n == len(f.Scenes)-1:
		bottom = f.above() - actionTall*k
	case f.Captions:
		bottom = f.above()
	}
	box.Max.Y = int(bottom / k)
	if f.Format == Landscape && !price.Empty() {
		right := float64(price.Min.X)/k - wholeGap
		middle := float64(f.full().X) / 2
		box.Max.X = min(box.Max.X, int(middle+(right-middle)*Zoom))
		box.Min.X = f.full().X - box.Max.X
	}
	// The nearest view enlarges the picture from the middle of the frame.
	middle := float64(f.full().Y) / 2
	box.Min.Y = int(middle - (middle-top/k)*Zoom)
	box.Max.Y = int(middle + (float64(box.Max.Y)-middle)*Zoom)
	box.Max.Y = max(box.Max.Y, box.Min.Y+leastTall)
	return box, nil
}

// ground draws the whole picture of a scene on a ground, in a size.
func (f *videoRun) ground(ctx context.Context, n int, size image.Point) (*image.RGBA, error) {
	box, err := f.box(n)
	if err != nil {
		return nil, err
	}
	full := f.full()
	scaled := func(p image.Point) image.Point { return image.Pt(p.X*size.X/full.X, p.Y*size.Y/full.Y) }
	img, _, err := f.staged(ctx, f.Scenes[n].Picture, f.scenes[n].about, size,
		image.Rectangle{Min: scaled(box.Min), Max: scaled(box.Max)}, f.Brand)
	return img, err
}

// drawn returns the input of a temporary file with the pixels of a canvas.
func (r *run) drawn(name string, size image.Point) ffmpeg.Input {
	return ffmpeg.Input{Path: r.path(name), Format: "rawvideo", Options: []string{"-pixel_format", "rgb0",
		"-video_size", fmt.Sprintf("%dx%d", size.X, size.Y)}}
}

// offer draws the offer on a scene: its price if the scene shows the product, and its call to action at the end. It
// returns the rectangle of the price.
func (f *videoRun) offer(s *text.Script, n, frames int) (drawn image.Rectangle, err error) {
	if f.Offer == nil {
		return drawn, nil
	}
	safe, k := f.safe(), f.part()
	last := n == len(f.scenes)-1
	when := text.Always
	if !last && !f.Scenes[n+1].Whole {
		when.To = timeline.Time(frames - f.scenes[n].after/2)
	}
	when.To = min(when.To, f.ends(n, frames))
	if drawn, err = f.price(s, n, when); err != nil || !last {
		return drawn, err
	}
	left, right := float64(safe.Min.X)*k, float64(safe.Max.X)*k
	return drawn, f.action(s, f.Offer, f.Language, f.Brand, left, right, f.above(), k, when)
}

// above returns the end of what may lie above the captions.
func (f *videoRun) above() float64 {
	return f.caps.bottom - 1.4*float64(f.caps.box.MaxLines)*f.caps.box.MaxEm - 30*f.part()
}

// price draws the price of the offer on a scene that shows the product, and returns its rectangle.
func (f *videoRun) price(s *text.Script, n int, when text.Span) (drawn image.Rectangle, err error) {
	if f.Offer == nil || !f.Scenes[n].Whole {
		return drawn, nil
	}
	safe := f.safe()
	corner := image.Pt(safe.Max.X, safe.Min.Y).Div(max(f.scale, 1))
	return f.badge(s, f.Offer, f.Language, f.Brand, corner, f.part(), when)
}

// marked reports whether a brand has a logo or a name to show.
func (b *Brand) marked() bool { return b != nil && (b.Logo != "" || b.Name != "") }

// marks shows the brand, in a band at the bottom or as a mark at the top, and the number of a slide.
func (r *run) marks(ctx context.Context, img *image.RGBA, s *text.Script, c card) error {
	// The number is opposite to the mark, and the badge of an offer is always on the right.
	right := c.brand != nil && c.brand.Right && (c.offer == nil || !c.offer.priced())
	edges := map[bool]int{false: c.area.Min.X, true: c.area.Max.X}
	if c.number != "" {
		if err := r.label(s, c.number, "", edges[!right], c.area.Min.Y, ink, !right); err != nil {
			return err
		}
	}
	if c.brand == nil {
		return nil
	}
	logo, err := r.logo(ctx, c.brand.Logo)
	switch {
	case err != nil:
		return err
	case c.band:
		return r.band(img, s, c, logo)
	case logo != nil:
		box := image.Rect(0, 0, logoWide, logoTall)
		if c.number != "" {
			box.Max.Y = markTall
		}
		box = box.Add(c.area.Min)
		if right {
			box = box.Add(image.Pt(c.area.Dx()-box.Dx(), 0))
		}
		canvas.Logo(img, logo, box, right, c.brand.Colors)
		return nil
	case c.brand.Name != "":
		return r.label(s, c.brand.Name, c.lang, edges[right], c.area.Min.Y, c.brand.color(), right)
	}
	return nil
}

// label draws a short text on a plate, with a corner at a point: the left one, or the right one. It draws nothing if
// the text is too long.
func (r *run) label(s *text.Script, words, lang string, x, y int, back canvas.Color, right bool) error {
	const pad = 22
	b, err := r.fonts.Fit(words, lang, text.Box{Width: 520, Height: 120, MaxEm: 36, MinEm: 20, MaxLines: 2})
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/brand/name", err)
	}
	left, top := float64(x), float64(y)
	if right {
		left -= b.Width + 2*pad
	}
	s.Box(left, top, left+b.Width+2*pad, top+b.Height+pad, 20, back, 1, text.Always)
	s.Text(b, left, left+b.Width+2*pad, top+pad/2, text.Center, canvas.On(back), text.Always)
	return nil
}

// band shows the brand in a band at the bottom: its logo, its name and the call to action of the offer.
func (r *run) band(img *image.RGBA, s *text.Script, c card, logo image.Image) error {
	back := c.brand.color()
	band := image.Rect(0, c.size.Y-bandTall, c.size.X, c.size.Y)
	canvas.Fill(img, band, back)
	left := c.area.Min.X
	if logo != nil {
		at := canvas.Logo(img, logo, image.Rect(left, band.Min.Y+20, left+300, band.Max.Y-20), false,
			c.brand.Colors)
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
	if unfit(err) && c.offer != nil && c.offer.Action != "" {
		return nil // the call to action left no room for it
	}
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

// placedLogo is a logo with its position on a video.
type placedLogo struct {
	path string
	at   image.Point
	// bottom is its lower edge.
	bottom int
}

// writeLogo writes the logo in its size on the video: in a corner of the area that no platform covers.
func (f *videoRun) writeLogo(ctx context.Context) error {
	logo, err := f.run.logo(ctx, f.Brand.Logo)
	if err != nil {
		return err
	}
	safe := f.safe()
	corner := safe.Min
	badge := canvas.Badge(logo, 252, 132, f.Brand.Colors)
	if f.Brand.Right && (f.Offer == nil || !f.Offer.priced()) {
		corner.X = safe.Max.X - badge.Rect.Dx()
	}
	if f.scale > 1 {
		small := image.NewRGBA(image.Rect(0, 0, badge.Rect.Dx()/f.scale, badge.Rect.Dy()/f.scale))
		canvas.Place(small, small.Rect, badge)
		badge, corner = small, corner.Div(f.scale)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, badge); err != nil {
		return internal(StagePicture, err)
	}
	f.logo = &placedLogo{f.path("logo.png"), corner, corner.Y + badge.Rect.Dy()}
	return f.write(StagePicture, "logo.png", out.Bytes())
}

// noticeTall is the height that a notice takes at the top of an area.
const noticeTall = 84

// noticeAt is the place of a notice on a music clip: above the cover and the logo.
var noticeAt = image.Rect(60, 60, 1020, 60+noticeTall)

// below returns the part of an area that is below a notice, if there is one.
func below(area image.Rectangle, notice string) image.Rectangle {
	if notice != "" {
		area.Min.Y += noticeTall
	}
	return area
}

// notice draws a short text on a plate at the top of an area, for as long as the picture or video is seen. k is the
// factor of lengths. It fails if the text does not fit, since a rule of law may require it.
func (r *run) notice(s *text.Script, words, lang string, area image.Rectangle, k float64) error {
	if words == "" {
		return nil
	}
	pad := 22 * k
	b, err := r.fonts.Fit(words, lang, text.Box{Width: float64(area.Dx())*k - 2*pad, Height: noticeTall*k - pad,
		MaxEm: 38 * k, MinEm: 14 * k, MaxLines: 2})
	if err != nil {
		return ofText("/notice", err)
	}
	left, top := float64(area.Min.X)*k, float64(area.Min.Y)*k
	s.Box(left, top, left+b.Width+2*pad, top+b.Height+pad/2, 14*k, ink, 1, text.Always)
	s.Text(b, left, left+b.Width+2*pad, top+pad/4, text.Center, canvas.On(ink), text.Always)
	return nil
}

// noticed returns the filter that draws the notice of a video on a part of it, or an empty text.
func (f *videoRun) noticed(name string) (string, error) {
	if f.Notice == "" {
		return "", nil
	}
	s := text.NewScript(f.width, f.height)
	if err := f.notice(s, f.Notice, f.Language, f.area(), f.part()); err != nil {
		return "", err
	}
	draw, err := f.subtitles(StagePicture, name, s)
	return "," + draw, err
}

// The areas of a video that no platform covers with its own buttons and texts: inside the greatest margins of the
// interfaces that docs/media.md lists with their sources.
var (
	SafePortrait  = image.Rect(65, 270, 1080-164, 1920-480)
	SafeLandscape = image.Rect(96, 54, 1920-96, 1080-64)
)
