package compose

import (
	"fmt"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// The sizes of the texts of scenes, in pixels of a video that is not scaled.
const (
	screenEm    = 76
	screenMinEm = 30
	screenLines = 4
	screenPad   = 30
	screenGap   = 24  // below the logo, or the price
	besideLogo  = 280 // the width of a logo at the side
)

// safe returns the area that no platform covers, below the notice, in pixels of a video that is not scaled.
func (f *videoRun) safe() image.Rectangle { return below(f.area(), f.Notice) }

// area returns the area that no platform covers.
func (f *videoRun) area() image.Rectangle {
	if f.Format == Landscape {
		return SafeLandscape
	}
	return SafePortrait
}

// part returns the factor of lengths in a video that is scaled.
func (f *videoRun) part() float64 { return 1 / float64(max(f.scale, 1)) }

// screen is the text of a scene, laid out, with the edges of its room in pixels.
type screen struct {
	block            text.Block
	left, right, top float64
}

// screen lays out the text of a scene at the top of the area that no platform covers: below the logo and the price, or
// between them where there is room at the sides.
func (f *videoRun) screen(n int, price image.Rectangle) (w screen, err error) {
	words := f.Scenes[n].OnScreen
	if words == "" {
		return w, nil
	}
	k, safe := f.part(), f.safe()
	w.left, w.right, w.top = float64(safe.Min.X)*k, float64(safe.Max.X)*k, float64(safe.Min.Y)*k
	switch aside := max(besideLogo*k, float64(price.Dx())+screenGap*k); {
	case f.Format == Landscape && (f.logo != nil || !price.Empty()):
		w.left, w.right = w.left+aside, w.right-aside
	case f.Format == Portrait:
		if f.logo != nil {
			w.top = float64(f.logo.bottom) + screenGap*k
		}
		if !price.Empty() {
			w.top = max(w.top, float64(price.Max.Y)+screenGap*k)
		}
	}
	em := screenEm * k
	if f.Brand.theme() == Bold {
		em *= 1.25
	}
	box := text.Box{Width: w.right - w.left - 2*screenPad*k, Height: 400 * k, MaxEm: em,
		MinEm: screenMinEm * k, MaxLines: screenLines}
	if w.block, err = f.fonts.Fit(words, f.Language, box); err != nil {
		return w, ofText(fmt.Sprintf("/scenes/%d/on_screen", n), err)
	}
	return w, nil
}

// onScreen draws the text of a scene, until the middle of the cross-fade into the next scene.
func (f *videoRun) onScreen(s *text.Script, n, frames int, price image.Rectangle) error {
	w, err := f.screen(n, price)
	if err != nil || w.block.Height == 0 {
		return err
	}
	back := canvas.White
	if f.Brand != nil && len(f.Brand.Colors) > 1 {
		back = f.Brand.second()
	}
	back = f.Brand.panel(back)
	b, pad := w.block, screenPad*f.part()
	when := text.Span{To: min(timeline.Time(frames-f.scenes[n].after/2), f.ends(n, frames))}
	middle, radius := (w.left+w.right)/2, 0.3*b.Em
	left, right, bottom := middle-b.Width/2-pad, middle+b.Width/2+pad, w.top+b.Height+pad
	if f.Brand.theme() != Calm {
		radius = 0
	}
	s.Moving(f.Brand.moving(left, w.top, right, bottom, b.RTL))
	defer s.Moving(text.Motion{})
	s.Box(left, w.top, right, bottom, radius, back, 1, when)
	if f.Brand.theme() == Editorial {
		s.Box(left, bottom-6*f.part(), right, bottom, 0, f.Brand.accent(back, canvas.LogoContrast), 1, when)
	}
	s.Text(b, w.left, w.right, w.top+pad/2, text.Center, canvas.On(back), when)
	return nil
}
