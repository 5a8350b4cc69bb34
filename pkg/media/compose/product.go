package compose

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/media/picture"
)

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
