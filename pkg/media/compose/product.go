package compose

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
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

// whole returns a canvas with a picture that is not cropped: within a box, on a ground of a fitting color. It also
// returns the color of the ground, or nil if it has several.
func (r *run) whole(ctx context.Context, path, about string, size image.Point, box image.Rectangle) (*image.RGBA,
	*canvas.Color, error) {
	in, err := r.open(ctx, path, about, media.Image)
	if err != nil {
		return nil, nil, err
	}
	fit := box.Size()
	// The padding is transparent, and cut off again: ffmpeg turns photos by their metadata, so that their proportions
	// are known only after it.
	raw, err := r.raw(ctx, in, fmt.Sprintf("scale=%d:%d:force_original_aspect_ratio=decrease:flags=lanczos,"+
		"format=rgba,pad=%d:%d:(ow-iw)/2:(oh-ih)/2:color=black@0", fit.X, fit.Y, fit.X, fit.Y), "rgba")
	if err != nil {
		return nil, nil, err
	}
	padded, err := canvas.FromRGBA(raw, fit.X, fit.Y)
	if err != nil {
		return nil, nil, unreadable(StagePicture, about, err)
	}
	photo := canvas.Trim(padded)
	img := image.NewRGBA(image.Rectangle{Max: size})
	return img, canvas.Ground(img, photo, photo.Rect.Min.Add(box.Min)), nil
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

// The boxes of whole pictures in videos: below the logo and the badge, and above the captions and the buttons of the
// platforms. No motion moves a picture out of the frame.
var (
	wholePortrait  = image.Rect(90, 410, 990, 1250)
	wholeLandscape = image.Rect(420, 90, 1500, 830)
)

// ground replaces the picture of a scene by its whole on a ground, in the size that the motion needs.
func (f *videoRun) ground(ctx context.Context, s *scene, n int) error {
	box := wholePortrait
	if f.Format == Landscape {
		box = wholeLandscape
	}
	width, height := f.stillSize()
	full := f.full()
	scaled := func(p image.Point) image.Point { return image.Pt(p.X*width/full.X, p.Y*height/full.Y) }
	img, _, err := f.run.whole(ctx, f.Scenes[n].Picture, s.about, image.Pt(width, height),
		image.Rectangle{Min: scaled(box.Min), Max: scaled(box.Max)})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("whole%03d.raw", n)
	s.Input = f.drawn(name, image.Pt(width, height))
	s.width, s.height = width, height
	return f.write(StagePicture, name, img.Pix)
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
	if f.Scenes[n].Whole {
		corner := image.Pt(safe.Max.X, safe.Min.Y).Div(max(f.scale, 1))
		if drawn, err = f.badge(s, f.Offer, f.Language, f.Brand, corner, k, when); err != nil {
			return drawn, err
		}
	}
	if !last {
		return drawn, nil
	}
	above := f.caps.bottom - 3*float64(f.caps.box.MaxLines)/2*f.caps.box.MaxEm - 30*k
	left, right := float64(safe.Min.X)*k, float64(safe.Max.X)*k
	return drawn, f.action(s, f.Offer, f.Language, f.Brand, left, right, above, k, when)
}
