package compose

import (
	"bytes"
	"context"
	"image"
	"image/png"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// The rooms of logos: in a corner of a picture or video, in the band, and on the end card.
var (
	cornerLogo = canvas.LogoRoom{Area: 22_000, Wide: 560, Tall: 112, Least: 44, Pad: 16}
	bandLogo   = canvas.LogoRoom{Area: 24_000, Wide: 440, Tall: 104, Least: 44, Pad: 16}
	endLogo    = canvas.LogoRoom{Area: 120_000, Wide: 520, Tall: 220, Least: 56, Pad: 20}
)

// plateContrast is the least contrast of a plate of the name or the number with what is behind it.
const plateContrast = 1.5

// wordmark is the ratio from which a logo is taken to have letters: the name is not written beside it.
const wordmark = 2.2

// marked reports whether a brand has a logo or a name to show.
func (b *Brand) marked() bool { return b != nil && (b.Logo != "" || b.Name != "") }

// named reports whether a logo says the name of its brand.
func named(logo image.Image) bool {
	if logo == nil {
		return false
	}
	size := logo.Bounds().Size()
	return float64(size.X) >= wordmark*float64(size.Y)
}

// marks shows the brand, in a band at the bottom or as a mark at the top, and the number of a slide.
func (r *run) marks(ctx context.Context, img *image.RGBA, s *text.Script, c card) error {
	// The number is opposite to the mark.
	right := c.brand != nil && c.brand.Right
	edges := map[bool]int{false: c.area.Min.X, true: c.area.Max.X}
	if c.number != "" {
		if err := r.label(img, s, c.number, "", edges[!right], c.area.Min.Y, ink, !right); err != nil {
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
		side := canvas.After
		if right {
			side = canvas.Before
		}
		canvas.Logo(img, logo, image.Pt(edges[right], c.area.Min.Y), side, cornerLogo, c.brand.Colors)
		return nil
	case c.brand.Name != "":
		return r.label(img, s, c.brand.Name, c.lang, edges[right], c.area.Min.Y, c.brand.color(), right)
	}
	return nil
}

// label draws a short text on a plate over a picture, with a corner at a point: the left one, or the right one. It
// draws nothing if the text is too long.
func (r *run) label(img *image.RGBA, s *text.Script, words, lang string, x, y int, back canvas.Color,
	right bool) error {
	const pad = 22
	b, err := r.fonts.Fit(words, lang, text.Box{Width: 520, Height: 104, MaxEm: 36, MinEm: minEm, MaxLines: 2})
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
	behind := canvas.Mean(img, image.Rect(int(left), y, int(left+b.Width)+2*pad, int(top+b.Height)+pad))
	back = apart(behind, plateContrast, back, ink, canvas.White)
	s.Box(left, top, left+b.Width+2*pad, top+b.Height+pad, 20, back, 1, text.Always)
	s.Text(b, left, left+b.Width+2*pad, top+pad/2, text.Center, canvas.On(back), text.Always)
	return nil
}

// band shows the brand in a band at the bottom: its logo, its name and the call to action of the offer.
func (r *run) band(img *image.RGBA, s *text.Script, c card, logo image.Image) error {
	back := c.brand.in(c.brand.look().Band)
	band := image.Rect(0, c.size.Y-bandTall, c.size.X, c.size.Y)
	canvas.Fill(img, band, back)
	left := c.area.Min.X
	if logo != nil {
		at := canvas.Logo(img, logo, image.Pt(left, (band.Min.Y+band.Max.Y)/2), canvas.Beside, bandLogo, c.brand.Colors)
		left = at.Max.X + 32
	}
	right := c.area.Max.X
	if c.offer != nil && c.offer.Action != "" {
		at, err := r.button(s, c, band, right, back)
		if err != nil {
			return err
		}
		right = at - 32
	}
	if c.brand.Name == "" || named(logo) || right < left {
		return nil
	}
	b, err := r.fonts.Fit(c.brand.Name, c.lang, text.Box{Width: float64(right - left), Height: bandTall - 40,
		MaxEm: 46, MinEm: minEm, MaxLines: 2})
	if unfit(err) && (logo != nil || c.offer != nil && c.offer.Action != "") {
		return nil // the logo and the call to action left no room for it
	}
	if err != nil {
		return ofText("/brand/name", err)
	}
	b.RTL = false // it is next to the logo
	s.Text(b, float64(left), float64(right), float64(band.Min.Y)+(bandTall-b.Height)/2, text.Start,
		canvas.On(back), text.Always)
	return nil
}

// button draws a call to action at the right end of a band, in a color that stands out from it. It returns the left
// edge.
func (r *run) button(s *text.Script, c card, band image.Rectangle, right int, back canvas.Color) (int, error) {
	const pad = 36
	b, err := r.fonts.Fit(c.offer.Action, c.lang, text.Box{Width: 420, Height: bandTall - 40, MaxEm: 44, MinEm: minEm,
		MaxLines: 2})
	if unfit(err) {
		return right, nil
	}
	if err != nil {
		return 0, ofText("/offer", err)
	}
	middle, tall := float64(band.Min.Y+band.Max.Y)/2, min(b.Height+28, bandTall-24)
	left := float64(right) - b.Width - 2*pad
	plate := apart(back, canvas.LogoContrast, c.brand.in(c.brand.look().EndCard.Accent), c.brand.in(theme.Main))
	c.brand.buttoned(s, left, middle-tall/2, float64(right), middle+tall/2, 1, plate, text.Always)
	s.Text(b, left, float64(right), middle-b.Height/2, text.Center, canvas.On(plate), text.Always)
	return int(left), nil
}

// placedLogo is a logo with its position on a video.
type placedLogo struct {
	path string
	at   image.Point
	// wide is its width, and bottom its lower edge.
	wide, bottom int
}

// writeLogo writes the logo in its size on the video: in a corner of the area that no platform covers.
func (f *videoRun) writeLogo(ctx context.Context) error {
	logo, err := f.run.logo(ctx, f.Brand.Logo)
	if err != nil {
		return err
	}
	corner := image.Pt(int(float64(f.safe().Min.X)*f.part()), int(float64(f.safe().Min.Y)*f.part()))
	badge := canvas.Badge(logo, cornerLogo, f.part(), f.Brand.Colors)
	if f.Brand.Right && !f.Offer.priced() {
		corner.X = int(float64(f.safe().Max.X)*f.part()) - badge.Rect.Dx()
	}
	var out bytes.Buffer
	if err := png.Encode(&out, badge); err != nil {
		return internal(StagePicture, err)
	}
	f.logo = &placedLogo{f.path("logo.png"), corner, badge.Rect.Dx(), corner.Y + badge.Rect.Dy()}
	return f.write(StagePicture, "logo.png", out.Bytes())
}

// The letters of a notice, its margin and the greatest number of its lines.
const (
	noticeEm    = 36
	noticePad   = 22
	noticeLines = 4
)

// noticeAt is the place of a notice on a music clip.
var noticeAt = image.Rect(65, 270, 1080-164, 270+4*noticeEm)

// noticeTall returns the height that a notice takes in an area, with the gap below it.
func noticeTall(area image.Rectangle, notice string) int {
	lines := int(script.Width(notice)*noticeEm*1.1/float64(area.Dx()-2*noticePad)) + 1
	return min(lines, noticeLines)*noticeEm*3/2 + noticePad + 12
}

// below returns the part of an area that is below a notice, if there is one.
func below(area image.Rectangle, notice string) image.Rectangle {
	if notice != "" {
		area.Min.Y += noticeTall(area, notice)
	}
	return area
}

// notice draws a short text on a plate at the top of an area, for as long as the picture or video is seen. k is the
// factor of lengths. It fails if the text does not fit, since a rule of law may require it.
func (r *run) notice(s *text.Script, words, lang string, area image.Rectangle, k float64) error {
	if words == "" {
		return nil
	}
	pad := noticePad * k
	b, err := r.fonts.Fit(words, lang, text.Box{Width: float64(area.Dx())*k - 2*pad,
		Height: float64(noticeTall(area, words))*k - pad, MaxEm: noticeEm * k, MinEm: minEm * k, MaxLines: noticeLines})
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
