package compose

import (
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// CaptionStyle is how captions look: on a plate, or outlined.
type CaptionStyle string

// The styles. The empty one is Words.
const (
	Words   CaptionStyle = "words"   // on a plate, with the spoken word in another color
	Lines   CaptionStyle = "lines"   // on a plate
	Outline CaptionStyle = "outline" // large letters with an outline, and the spoken word in another color
)

type style struct {
	box text.Box
	// bottom is the end of the lowest caption, and middle the middle of the captions.
	bottom, middle float64
	back, letters  canvas.Color
	opacity        float64
	// spoken is the color of the spoken word. outline is the width of the outline, in ems; letters with one have no
	// plate.
	spoken  canvas.Color
	outline float64
}

// captionOpacity makes any background of captions dark enough for white letters.
const captionOpacity = 0.66

// style returns the style of the captions, within the area that no platform covers.
func (f *videoRun) style() style {
	area := f.area()
	box := text.Box{MaxEm: 68, MaxLines: 2, MaxWords: 7}
	if f.Format == Portrait {
		box.MaxEm, box.MaxWords = 92, 4
	}
	k := f.part()
	s := style{
		bottom: float64(area.Max.Y) * k, middle: float64(area.Min.X+area.Max.X) / 2 * k,
		back: canvas.Black, letters: canvas.White, opacity: captionOpacity,
	}
	box.Width, box.MaxEm = float64(area.Dx()-60)*k, box.MaxEm*k
	s.box = box
	ground := canvas.Black
	theme := f.Brand.theme()
	if f.CaptionStyle == "" && theme == Bold {
		f.CaptionStyle = Outline
	}
	if f.CaptionStyle == Outline {
		s.outline = 0.09
		s.box.MaxEm *= 1.1
	} else if theme == Editorial {
		ground = paper
		s.back, s.letters, s.opacity = ground, canvas.On(ground), 1
	} else if f.Brand != nil && len(f.Brand.Colors) > 0 {
		// The box is opaque, so that the contrast is known.
		ground = f.Brand.color()
		s.back, s.letters, s.opacity = ground, canvas.On(ground), 1
	}
	s.spoken = s.letters
	if f.CaptionStyle == Lines {
		return s
	}
	var ok bool
	if s.spoken, ok = f.Brand.highlight(ground, s.letters); !ok {
		// No color stands out from the letters on the brand's main color: a darker one of the same hue takes yellow.
		s.back, s.letters, s.spoken = canvas.Darker(ground, canvas.MinContrast, yellow), canvas.White, yellow
	}
	return s
}

var yellow = canvas.Color{R: 255, G: 214, B: 10}

// highlights are the colors of the spoken word if the brand has none that fits.
var highlights = []canvas.Color{yellow, {R: 11, G: 61, B: 145}, {R: 120}, canvas.White}

// highlight returns the color of the spoken word: one that can be read on the ground, and told from other letters. If
// there is none, it reports that.
func (b *Brand) highlight(ground, letters canvas.Color) (c canvas.Color, ok bool) {
	choices := highlights
	if b != nil && len(b.Colors) > 1 {
		choices = slices.Concat(b.Colors[1:], highlights)
	}
	for _, c := range choices {
		if canvas.Contrast(c.Luminance(), ground.Luminance()) >= canvas.MinContrast &&
			canvas.Contrast(c.Luminance(), letters.Luminance()) >= 1.25 {
			return c, true
		}
	}
	return letters, false
}

// cue is a caption, laid out.
type cue struct {
	timeline.Cue
	block text.Block
	// words are the times at which the words begin.
	words []time.Duration
}

func (f *videoRun) caption(script string, clock timeline.Clock, frames int) error {
	f.subtitled(script, clock, frames)
	if !f.Captions {
		return nil
	}
	pages, err := f.fonts.Pages(script, f.Language, f.caps.box)
	if err != nil {
		return ofText("/scenes", err)
	}
	times := make([]timeline.Cue, len(pages))
	for i, p := range pages {
		times[i] = timeline.Cue{From: lead + clock.At(p.Begin), To: lead + clock.At(p.End)}
	}
	timeline.Follow(times, timeline.Time(frames))
	for i, c := range times {
		one := cue{Cue: c, block: pages[i].Block}
		for _, w := range one.block.Words() {
			one.words = append(one.words, lead+clock.At(w.Begin))
		}
		f.cues = append(f.cues, one)
	}
	return nil
}

// subtitled makes the captions of the file, which is read by those who turn it on. They are of the text itself, since
// players have fonts that the engine has not. None is of the hook and of what is said after the intro.
func (f *videoRun) subtitled(script string, clock timeline.Clock, frames int) {
	hook := 0
	if f.hooked(1) {
		hook = min(len(f.Scenes[0].Text), len(script))
	}
	add := func(begin, end int) (n int) {
		for _, s := range text.Subtitles(script[begin:end], f.Language) {
			f.written = append(f.written, timeline.Cue{From: lead + clock.At(begin+s.Begin),
				To: lead + clock.At(begin+s.End), Lines: s.Lines})
		}
		return len(f.written)
	}
	f.before = add(0, hook)
	add(hook, len(script))
	timeline.Follow(f.written, timeline.Time(frames))
}

// draw draws a caption in a part of the video.
func (f *videoRun) draw(s *text.Script, c cue, part text.Span) {
	st, b := f.caps, c.block
	within := func(from, to time.Duration) text.Span {
		return text.Span{From: max(from-part.From, 0), To: min(to, part.To) - part.From}
	}
	pad := b.Em * 0.42
	top := st.bottom - b.Height - pad/2
	left, right := st.middle-b.Width/2-pad, st.middle+b.Width/2+pad
	if st.outline == 0 {
		s.Box(left, top-pad/2, right, st.bottom, b.Em*0.3, st.back, st.opacity, within(c.From, c.To))
	}
	if st.spoken == st.letters {
		s.Marked(b, left, right, top, text.Center, st.letters, text.Mark{Outline: st.outline}, within(c.From, c.To))
		return
	}
	for i := range c.words {
		from, to := c.From, c.To
		if i > 0 {
			from = max(c.words[i], c.From)
		}
		if i < len(c.words)-1 {
			to = min(c.words[i+1], c.To)
		}
		if when := within(from, to); when.To > when.From {
			s.Marked(b, left, right, top, text.Center, st.letters,
				text.Mark{Word: i + 1, Color: st.spoken, Outline: st.outline}, when)
		}
	}
}

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
