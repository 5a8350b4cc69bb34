package compose

import (
	"errors"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// style is the style of captions.
type style struct {
	box text.Box
	// bottom is the end of the lowest caption, and middle the middle of the captions.
	bottom, middle float64
	back, letters  canvas.Color
	opacity        float64
}

// captionOpacity makes any background of captions dark enough for white letters.
const captionOpacity = 0.66

// style returns the style of the captions, within the area that no platform covers.
func (f *videoRun) style() style {
	area := SafeLandscape
	em := 52.0
	if f.Format == Portrait {
		area, em = SafePortrait, 62
	}
	k := 1 / float64(max(f.scale, 1))
	s := style{
		box:    text.Box{Width: float64(area.Dx()-60) * k, MaxEm: em * k, MaxLines: 2},
		bottom: float64(area.Max.Y) * k, middle: float64(area.Min.X+area.Max.X) / 2 * k,
		back: canvas.Black, letters: canvas.White, opacity: captionOpacity,
	}
	if f.Brand != nil && len(f.Brand.Colors) > 0 {
		// The box is opaque, so that the contrast is known.
		s.back, s.letters, s.opacity = f.Brand.color(), canvas.On(f.Brand.color()), 1
	}
	return s
}

// cue is a caption, laid out.
type cue struct {
	timeline.Cue
	block text.Block
}

// caption divides the script into captions.
func (f *videoRun) caption(script string, clock timeline.Clock, frames int) error {
	pages, err := f.fonts.Pages(script, f.Language, f.caps.box)
	if errors.Is(err, text.ErrScript) && !f.Captions {
		return nil // they cannot be laid out, and need not be
	}
	if err != nil {
		return ofText("/scenes", err)
	}
	times := make([]timeline.Cue, len(pages))
	for i, p := range pages {
		times[i] = timeline.Cue{From: lead + clock.At(p.Begin), To: lead + clock.At(p.End), Lines: p.Lines()}
	}
	timeline.Follow(times, timeline.Time(frames))
	for i, c := range times {
		f.cues = append(f.cues, cue{c, pages[i].Block})
	}
	return nil
}

// draw draws a caption on its background.
func (f *videoRun) draw(s *text.Script, c cue, when text.Span) {
	st, b := f.caps, c.block
	pad := b.Em * 0.42
	top := st.bottom - b.Height - pad/2
	left, right := st.middle-b.Width/2-pad, st.middle+b.Width/2+pad
	s.Box(left, top-pad/2, right, st.bottom, b.Em*0.3, st.back, st.opacity, when)
	s.Text(b, left, right, top, text.Center, st.letters, when)
}
