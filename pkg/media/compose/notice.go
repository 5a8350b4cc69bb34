package compose

import (
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
)

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
