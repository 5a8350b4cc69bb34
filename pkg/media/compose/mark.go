package compose

import (
	"bytes"
	"context"
	"image"
	"image/png"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
)

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

// placed is a logo with its position on a video.
type placed struct {
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
	f.logo = &placed{f.path("logo.png"), corner, corner.Y + badge.Rect.Dy()}
	return f.write(StagePicture, "logo.png", out.Bytes())
}
