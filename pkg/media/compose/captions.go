package compose

import (
	"context"
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
	Words   CaptionStyle = "words"   // on a plate, with a box behind the spoken word
	Lines   CaptionStyle = "lines"   // on a plate
	Outline CaptionStyle = "outline" // letters with an outline, and a box behind the spoken word
)

type style struct {
	box text.Box
	// bottom is the end of the lowest caption, and axis the middle of captions within the area within. Longer ones are
	// around middle, which is that of the whole free area.
	bottom, axis, middle float64
	within               image.Rectangle
	back, letters        canvas.Color
	bare                 bool // whether the ground has the color of the plate, which is not drawn
	// outline is the width of the outline, in ems; letters with one have no plate. round is the radius of the plate.
	outline, round float64
	// spoken is the color of the box behind the spoken word, if it is marked. It is the first of choices that fits.
	spoken  canvas.Color
	choices []canvas.Color
	marked  bool
}

// captionPad is the margin of the plate of captions, in ems.
const captionPad = 0.42

// heroCaption is the size of captions relative to that of the design, in upright videos that show a product.
const heroCaption = 0.84

// style returns the style of the captions, within the area that no platform covers.
func (f *videoRun) style() style {
	area, plate := f.area(), f.Brand.look().Captions
	box := text.Box{MaxEm: float64(plate.Size) * 0.74, MaxLines: 2, MaxWords: 7}
	if f.Format == Portrait {
		box.MaxEm, box.MaxWords = float64(plate.Size), 4
		if slices.ContainsFunc(f.Scenes, func(s Scene) bool { return s.Whole && s.Picture != "" }) {
			// The product has the room of the second line.
			box.MaxLines, box.MaxWords, box.MaxEm = 1, 3, heroCaption*box.MaxEm
		}
	}
	k := f.part()
	box.Width, box.MaxEm = (float64(area.Dx())-captionPad*2*box.MaxEm-8)*k, box.MaxEm*k
	if f.CaptionStyle == "" && plate.Shape == "none" {
		f.CaptionStyle = Outline
	}
	s := style{box: box, bottom: float64(area.Max.Y) * k, middle: float64(area.Min.X+area.Max.X) / 2 * k,
		axis: float64(f.full().X) / 2 * k, within: axis(area, f.full().X), back: f.Brand.in(plate.Color), round: 0.3}
	if plate.Shape == "pill" {
		s.round = 0.6
	} else if f.Brand.look().Round == 0 {
		s.round = 0
	}
	if f.CaptionStyle == Outline {
		s.outline, s.back = 0.09, canvas.Black
	}
	s.letters = canvas.On(s.back)
	if f.CaptionStyle == Lines {
		return s
	}
	// The word that is spoken lies on a box of its own, which can be told from what is around it.
	choices := []canvas.Color{f.Brand.in(plate.Accent)}
	if f.Brand != nil && len(f.Brand.Colors) > 1 {
		choices = append(choices, f.Brand.Colors[1:]...)
	}
	s.choices = append(choices, yellow, canvas.White, ink)
	s.spoken = apart(s.back, canvas.LogoContrast, s.choices...)
	s.marked = true
	return s
}

// photoContrast is the least contrast of the box of the spoken word with the mean color of a picture behind it, on
// which the line around it is seen as well.
const photoContrast = 2.0

// on returns the style of the captions of a scene, which is drawn. Letters without a plate lie on the scene itself, so
// the box of the spoken word can be told from it, too. The colors of a clip are not known.
func (f *videoRun) on(n int) style {
	if h := f.heroes[n]; h != nil {
		st := f.caps.on(canvas.LogoContrast, h.ground, f.Brand.decorated(h.ground, h.letters))
		st.bare = contrast(st.back, h.ground) < 1.05
		return st
	}
	return f.caps.on(photoContrast, f.scenes[n].behind...)
}

// on returns the style on grounds. The box has the first color that has a contrast with them, and, if there is one,
// with the outline of the other words.
func (s style) on(least float64, grounds ...canvas.Color) style {
	if len(grounds) == 0 || s.outline == 0 {
		return s
	}
	far := func(c canvas.Color) bool {
		return !slices.ContainsFunc(grounds, func(g canvas.Color) bool { return contrast(c, g) < least })
	}
	lined := func(c canvas.Color) bool { return contrast(c, s.back) >= canvas.LogoContrast && far(c) }
	for _, fits := range []func(canvas.Color) bool{lined, far} {
		if i := slices.IndexFunc(s.choices, fits); i >= 0 {
			s.spoken = s.choices[i]
			break
		}
	}
	return s
}

// captioned returns the part of a picture that is behind the captions, if it fills the frame.
func (f *videoRun) captioned(size image.Point) image.Rectangle {
	at := func(y float64) int { return int(y / float64(f.height) * float64(size.Y)) }
	side := size.X / 8
	return image.Rect(side, at(f.above()), size.X-side, at(f.caps.bottom))
}

var yellow = canvas.Color{R: 255, G: 214, B: 10}

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
			f.told = append(f.told, timeline.Cue{From: lead + clock.At(begin+s.Begin),
				To: lead + clock.At(begin+s.End), Lines: s.Lines})
		}
		return len(f.told)
	}
	f.before = add(0, hook)
	add(hook, len(script))
	timeline.Follow(f.told, timeline.Time(frames))
}

// draw draws a caption in a style, in a part of the video.
func (f *videoRun) draw(s *text.Script, st style, c cue, part text.Span) {
	b := c.block
	within := func(from, to time.Duration) text.Span {
		return text.Span{From: max(from-part.From, 0), To: min(to, part.To) - part.From}
	}
	pad := b.Em * captionPad
	middle := st.axis
	if b.Width+2*pad > float64(st.within.Dx())*f.part() {
		middle = st.middle
	}
	top := st.bottom - b.Height - pad/2
	left, right := middle-b.Width/2-pad, middle+b.Width/2+pad
	if st.outline == 0 && !st.bare {
		s.Box(left, top-pad/2, right, st.bottom, b.Em*st.round, st.back, 1, within(c.From, c.To))
	}
	if !st.marked {
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
		when := within(from, to)
		if when.To <= when.From {
			continue
		}
		l, t, r, below := b.Place(i+1, left, right, top, text.Center)
		before, after := boxSides(b, i+1, len(c.words), left, right, top)
		inset := 0.06 * b.Em
		radius, line := b.Em*min(st.round, 0.26), b.Em*st.outline
		if line > 0 { // as the other letters have, so that it is seen on any picture
			color := apart(st.spoken, canvas.LogoContrast, canvas.Black)
			s.Box(l-before-line, t+inset-line, r+after+line, below-inset+line, radius+line, color, 1, when)
		}
		s.Box(l-before, t+inset, r+after, below-inset, radius, st.spoken, 1, when)
		s.Marked(b, left, right, top, text.Center, st.letters,
			text.Mark{Word: i + 1, Color: canvas.On(st.spoken), Outline: st.outline}, when)
	}
}

// boxSides returns by how much the box of the spoken word is wider than the word number n of a block of count words, on
// its left and on its right. Scripts without spaces have words next to each other, which it does not reach.
func boxSides(b text.Block, n, count int, left, right, top float64) (before, after float64) {
	before, after = 0.14*b.Em, 0.14*b.Em
	l, t, r, _ := b.Place(n, left, right, top, text.Center)
	for _, other := range []int{n - 1, n + 1} {
		if other < 1 || other > count {
			continue
		}
		from, above, to, _ := b.Place(other, left, right, top, text.Center)
		const touching = 0.1
		switch gap := max(l-to, from-r, 0); {
		case above != t || gap > touching*b.Em:
		case from+to < l+r:
			before = gap / 2
		default:
			after = gap / 2
		}
	}
	return before, after
}

// The sizes of the texts of scenes, in pixels of a video that is not scaled.
const (
	screenLines = 4
	screenPad   = 30
	screenGap   = 24 // below the logo or the price, or beside it
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

// screen lays out the text of a scene at the top of the area that no platform covers: below the logo and the price, or
// between them where there is room at the sides.
func (f *videoRun) screen(n int, price image.Rectangle) (b text.Block, at image.Rectangle, err error) {
	k, safe, plate := f.part(), f.safe(), f.Brand.look().Scene
	if f.Format == Portrait {
		safe = axis(safe, f.full().X)
	}
	part := func(v int) int { return int(float64(v) * k) }
	at = image.Rect(part(safe.Min.X), part(safe.Min.Y), part(safe.Max.X), part(safe.Max.Y))
	aside := price.Dx() + part(screenGap)
	if f.logo != nil {
		aside = max(aside, f.logo.wide+part(screenGap))
	}
	switch {
	case f.Format == Landscape && (f.logo != nil || !price.Empty()):
		at.Min.X, at.Max.X = at.Min.X+aside, at.Max.X-aside
	case f.Format == Portrait:
		if f.logo != nil {
			at.Min.Y = f.logo.bottom + part(screenGap)
		}
		if !price.Empty() {
			at.Min.Y = max(at.Min.Y, price.Max.Y+part(screenGap))
		}
	}
	pad := screenPad * k
	box := text.Box{Width: float64(at.Dx()) - 2*pad, Height: 420 * k, MaxEm: float64(max(plate.Size, 60)) * k,
		MinEm: minEm * k, MaxLines: screenLines}
	if b, err = f.fonts.Fit(f.Scenes[n].OnScreen, f.Language, box); err != nil {
		return b, at, ofText(fmt.Sprintf("/scenes/%d/on_screen", n), err)
	}
	middle, half := (at.Min.X+at.Max.X)/2, int(b.Width/2+pad)
	return b, image.Rect(middle-half, at.Min.Y, middle+half, at.Min.Y+int(b.Height+pad)), nil
}

// onScreen draws the text of a scene, until the middle of the cross-fade into the next scene: beside its product, or on
// a plate.
func (f *videoRun) onScreen(ctx context.Context, s *text.Script, n, frames int, price image.Rectangle) error {
	if f.Scenes[n].OnScreen == "" {
		return nil
	}
	when := text.Span{To: timeline.Time(frames - f.scenes[n].after/2)}
	h, err := f.hero(ctx, n)
	if err != nil {
		return err
	}
	defer s.Moving(text.Motion{})
	if h != nil {
		left, right, top := float64(h.words.Min.X), float64(h.words.Max.X), float64(h.words.Min.Y)
		s.Moving(f.Brand.moving(left, top, right, top+h.heading.Height, h.heading.RTL))
		s.Text(h.heading, left, right, top, h.align, h.letters, when)
		return nil
	}
	b, at, err := f.screen(n, price)
	if err != nil {
		return err
	}
	left, top, right, bottom := float64(at.Min.X), float64(at.Min.Y), float64(at.Max.X), float64(at.Max.Y)
	s.Moving(f.Brand.moving(left, top, right, bottom, b.RTL))
	design, k := f.Brand.look(), f.part()
	back := f.Brand.in(design.Scene.Color)
	letters, outline, radius := canvas.On(back), 0.0, min(float64(design.Round)*k, 0.36*b.Em)
	switch design.Scene.Shape {
	case "none":
		letters, outline = canvas.White, 0.09
	case "pill":
		s.Box(left, top, right, bottom, min((bottom-top)/2, 0.7*b.Em), back, 1, when)
	case "label":
		line := stickerLine * k
		s.Box(left, top, right, bottom, radius, letters, 1, when)
		s.Box(left+line, top+line, right-line, bottom-line, max(radius-line, 0), back, 1, when)
	default:
		s.Box(left, top, right, bottom, radius, back, 1, when)
	}
	s.Marked(b, left, right, top+(bottom-top-b.Height)/2, text.Center, letters, text.Mark{Outline: outline}, when)
	return nil
}
