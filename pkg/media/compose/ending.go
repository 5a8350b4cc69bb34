package compose

import (
	"cmp"
	"time"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// endCard is the time for which the end of a video shows its call to action: within the last sentence.
const endCard = 1600 * time.Millisecond

// ending returns the texts of the end card: the call to action, and the name of the brand or the shop. If a video
// has an outro, it has none.
func (f *videoRun) ending() (call, name string) {
	if f.outro.frames > 0 || f.Narration == "" {
		return "", ""
	}
	if f.Offer != nil {
		call, name = f.Offer.Action, f.Offer.Shop
	}
	if f.Brand != nil {
		name = cmp.Or(name, f.Brand.Name)
		call = cmp.Or(call, f.Brand.Call)
	}
	return call, name
}

// ends returns the time within a scene at which its texts end: with the end card, if it has one.
func (f *videoRun) ends(n, frames int) time.Duration {
	call, name := f.ending()
	if n < len(f.scenes)-1 || call+name == "" {
		return text.Always.To
	}
	length := timeline.Time(frames)
	return max(length-endCard, length/2)
}

// end draws the end card over the end of the last scene: the call to action in large letters on the main color, and the
// name below it.
func (f *videoRun) end(s *text.Script, n, frames int) error {
	call, name := f.ending()
	if n < len(f.scenes)-1 || call+name == "" {
		return nil
	}
	if call == "" {
		call, name = name, ""
	}
	k, safe := f.part(), f.safe()
	when := text.Span{From: f.ends(n, frames), To: text.Always.To}
	back := f.Brand.panel(f.Brand.color())
	width := float64(safe.Dx()) * k
	large := text.Box{Width: width, Height: 420 * k, MaxEm: 124 * k, MinEm: 40 * k, MaxLines: 3}
	b, err := f.fonts.Fit(call, f.Language, large)
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/offer", err)
	}
	left, right := float64(safe.Min.X)*k, float64(safe.Max.X)*k
	top := float64(f.full().Y)*k*0.4 - b.Height/2
	s.Moving(text.Motion{Kind: text.Fades})
	s.Box(0, 0, float64(f.width), float64(f.height), 0, back, 0.94, when)
	s.Moving(f.Brand.moving(left, top, right, top+b.Height, b.RTL))
	s.Text(b, left, right, top, text.Center, canvas.On(back), when)
	s.Moving(text.Motion{Kind: text.Fades})
	defer s.Moving(text.Motion{})
	if name == "" {
		return nil
	}
	small, err := f.fonts.Fit(name, f.Language, text.Box{Width: width, Height: 160 * k, MaxEm: 60 * k, MinEm: 24 * k,
		MaxLines: 2})
	if unfit(err) {
		return nil
	}
	if err != nil {
		return ofText("/brand/name", err)
	}
	s.Text(small, left, right, top+b.Height+36*k, text.Center, f.Brand.accent(back, canvas.MinContrast), when)
	return nil
}
