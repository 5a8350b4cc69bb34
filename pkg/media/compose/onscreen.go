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

// onScreen draws the text of a scene at the top of the area that no platform covers: below the logo and the price, or
// between them where there is room at the sides. It is seen until the middle of the cross-fade into the next scene.
func (f *videoRun) onScreen(s *text.Script, n, frames int, price image.Rectangle) error {
	words := f.Scenes[n].OnScreen
	if words == "" {
		return nil
	}
	k, safe := f.part(), f.safe()
	left, right, top := float64(safe.Min.X)*k, float64(safe.Max.X)*k, float64(safe.Min.Y)*k
	switch aside := max(besideLogo*k, float64(price.Dx())+screenGap*k); {
	case f.Format == Landscape && (f.logo != nil || !price.Empty()):
		left, right = left+aside, right-aside
	case f.Format == Portrait:
		if f.logo != nil {
			top = float64(f.logo.bottom) + screenGap*k
		}
		if !price.Empty() {
			top = max(top, float64(price.Max.Y)+screenGap*k)
		}
	}
	pad := screenPad * k
	box := text.Box{Width: right - left - 2*pad, Height: 400 * k, MaxEm: screenEm * k, MinEm: screenMinEm * k,
		MaxLines: screenLines}
	b, err := f.fonts.Fit(words, f.Language, box)
	if err != nil {
		return ofText(fmt.Sprintf("/scenes/%d/on_screen", n), err)
	}
	back := canvas.White
	if f.Brand != nil && len(f.Brand.Colors) > 1 {
		back = f.Brand.second()
	}
	when := text.Span{To: timeline.Time(frames - f.scenes[n].after/2)}
	middle := (left + right) / 2
	s.Box(middle-b.Width/2-pad, top, middle+b.Width/2+pad, top+b.Height+pad, 0.3*b.Em, back, 1, when)
	s.Text(b, left, right, top+pad/2, text.Center, canvas.On(back), when)
	return nil
}
