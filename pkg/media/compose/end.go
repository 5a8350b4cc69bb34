package compose

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"time"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// endCard is the time for which the end of a video shows its call to action: within the last sentence, whose captions
// end before it.
const endCard = 1600 * time.Millisecond

// The measures of the end card, in pixels of a video that is not scaled.
const (
	endGap     = 44
	endProduct = 620 // the greatest height of the product
	endSmall   = 46  // the letters of what is below the price, and of the address
	endButton  = 64  // the letters of the button below a price
	strikeOver = 4   // by which the line through a price is longer than it
)

// endWords are the texts of the end card.
type endWords struct{ call, name, address string }

// ending returns the texts of the end card: the call to action, the name of the brand or the shop, and where it is
// found. If a video has an outro, it has none.
func (f *videoRun) ending() (w endWords) {
	if f.outro.frames > 0 || f.Narration == "" && !f.Frames {
		return w
	}
	if f.Offer != nil {
		w.call, w.name, w.address = f.Offer.Action, f.Offer.Shop, f.Offer.Address
	}
	if f.Brand != nil {
		w.name, w.call = cmp.Or(w.name, f.Brand.Name), cmp.Or(w.call, f.Brand.Call)
		w.address = cmp.Or(w.address, f.Brand.Address)
	}
	return w
}

// carded takes the frames of the end card from the last scene.
func (f *videoRun) carded(lengths []int) {
	if w := f.ending(); w.call+w.name == "" {
		return
	}
	last := len(lengths) - 1
	every := f.Quality.every()
	f.card = min(timeline.Frames(endCard), lengths[last]/2) / every * every
	lengths[last] -= f.card
}

// part of the end card, from the top.
type endPart struct {
	tall int
	draw func(top float64)
}

// drawEnd draws the end card: the logo, the product, its price, the button and the address, one below the other in the
// middle of the picture.
func (f *videoRun) drawEnd(ctx context.Context) (*image.RGBA, *text.Script, error) {
	k, plate, b := f.part(), f.Brand.look().EndCard, f.Brand
	ground := b.in(plate.Color)
	img := image.NewRGBA(image.Rect(0, 0, f.width, f.height))
	canvas.Fill(img, img.Rect, ground)
	s := text.NewScript(f.width, f.height)
	zone := axis(f.safe(), f.full().X)
	e := &ending{videoRun: f, img: img, s: s, zone: zone, k: k, ground: ground, letters: canvas.On(ground)}
	words := f.ending()
	named, err := e.brand(ctx, words.name)
	if err != nil {
		return nil, nil, err
	}
	at := len(e.parts)
	if err := e.price(); err != nil {
		return nil, nil, err
	}
	if words.call == "" && named == "" {
		words.call = words.name
	}
	if err := e.button(words.call, at < len(e.parts)); err != nil {
		return nil, nil, err
	}
	if named == words.name {
		words.name = ""
	}
	if err := e.lines(words.name, words.address); err != nil {
		return nil, nil, err
	}
	if err := e.product(ctx, at); err != nil {
		return nil, nil, err
	}
	e.lay()
	return img, s, f.notice(s, f.Notice, f.Language, f.area(), k)
}

// joined joins two texts by a dot.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " · " + b
}

// ending is an end card that is being drawn.
type ending struct {
	*videoRun
	img     *image.RGBA
	s       *text.Script
	zone    image.Rectangle
	k       float64
	ground  canvas.Color
	letters canvas.Color
	parts   []endPart
}

// fit lays out a text of the card. A text that cannot be shown is left out.
func (e *ending) fit(words string, em float64, lines int) (text.Block, bool, error) {
	if words == "" {
		return text.Block{}, false, nil
	}
	b, err := e.fonts.Fit(words, e.Language, text.Box{Width: float64(e.zone.Dx()-120) * e.k, Height: 600 * e.k,
		MaxEm: em * e.k, MinEm: minEm * e.k, MaxLines: lines})
	if unfit(err) {
		return b, false, nil
	}
	if err != nil {
		return b, false, ofText("/offer", err)
	}
	return b, true, nil
}

// lean returns how far the middle of the ink of a text is to the right of the middle of its width.
func (e *ending) lean(b text.Block) float64 {
	left, right := e.fonts.Sides(b)
	return (left - right) / 2
}

// text adds a text in a color.
func (e *ending) text(b text.Block, c canvas.Color) {
	lean := e.lean(b)
	left, right := float64(e.zone.Min.X)*e.k-lean, float64(e.zone.Max.X)*e.k-lean
	e.parts = append(e.parts, endPart{int(b.Height / e.k), func(top float64) {
		e.appear(top, b.Height, b.RTL, func() { e.s.Text(b, left, right, top, text.Center, c, text.Always) })
	}})
}

// appear draws something with the motion of the design.
func (e *ending) appear(top, tall float64, rtl bool, draw func()) {
	e.s.Moving(e.Brand.moving(0, top, float64(e.width), top+tall, rtl))
	draw()
	e.s.Moving(text.Motion{})
}

// brand adds the logo, or the name in its place. It returns the name that it shows.
func (e *ending) brand(ctx context.Context, name string) (string, error) {
	if e.Brand != nil && e.Brand.Logo != "" {
		logo, err := e.run.logo(ctx, e.Brand.Logo)
		if err != nil {
			return "", err
		}
		room := endLogo.Scaled(e.k)
		size := canvas.Sized(logo.Bounds().Size(), room.Area, room.Wide, room.Tall, room.Least)
		size.Y += 2 * room.Pad // if it needs a plate
		e.parts = append(e.parts, endPart{int(float64(size.Y) / e.k), func(top float64) {
			middle := image.Pt(e.width/2, int(top)+size.Y/2)
			canvas.Logo(e.img, logo, middle, canvas.Around, room, e.Brand.Colors)
		}})
		if named(logo) {
			return name, nil
		}
		return "", nil
	}
	b, ok, err := e.fit(name, 84, 2)
	if ok {
		e.text(b, e.letters)
	}
	return name, err
}

// price adds the price, and below it the price before, what it saves, and until when.
func (e *ending) price() error {
	o := e.Offer
	if !o.priced() || o.Price == "" {
		return nil
	}
	b, ok, err := e.fit(o.Price, float64(cmp.Or(e.Brand.look().EndCard.Size, 104)), 1)
	if err != nil || !ok {
		return err
	}
	e.text(b, e.letters)
	was, struck, err := e.fit(o.Was, endSmall, 1)
	if err != nil {
		return err
	}
	saved, more, err := e.fit(joined(o.Off, cmp.Or(o.Until, o.Promotion)), endSmall, 2)
	if err != nil || !struck && !more {
		return err
	}
	if wide := float64(e.zone.Dx()) * e.k; struck && more && was.Width+saved.Width+36*e.k > wide {
		struck = false
	}
	e.parts = append(e.parts, endPart{int(max(was.Height, saved.Height)/e.k) - endGap/2, func(top float64) {
		e.reduced(was, saved, struck, more, top-endGap/2*e.k)
	}})
	return nil
}

// reduced draws the price before, struck out, beside what the offer saves.
func (e *ending) reduced(was, saved text.Block, struck, more bool, top float64) {
	gap := 36 * e.k
	middle := float64(e.width) / 2
	from, tall := middle, max(was.Height, saved.Height)
	above := func(b text.Block) float64 { return top + (tall-b.Height)/2 }
	accent := e.Brand.accent(e.ground, canvas.MinContrast)
	switch {
	case struck && more:
		// The ink is in the middle: that of the line through the price, and that of the text.
		left, right := e.fonts.Sides(saved)
		from = middle - (was.Width+gap+saved.Width-right-strikeOver*e.k)/2
		first, second := was, saved
		if saved.RTL {
			first, second = saved, was
			from = middle - (was.Width+gap+saved.Width+left+strikeOver*e.k)/2
		}
		at := from + first.Width + gap
		if saved.RTL {
			e.s.Text(first, from, from+first.Width, above(first), text.Center, accent, text.Always)
			e.strike(second, at, above(second))
			return
		}
		e.strike(first, from, above(first))
		e.s.Text(second, at, at+second.Width, above(second), text.Center, accent, text.Always)
	case struck:
		e.strike(was, middle-was.Width/2, top)
	default:
		lean := e.lean(saved)
		e.s.Text(saved, -lean, float64(e.width)-lean, top, text.Center, accent, text.Always)
	}
}

func (e *ending) strike(b text.Block, left, top float64) {
	e.s.Text(b, left, left+b.Width, top, text.Center, e.letters, text.Always)
	middle, half := top+b.Height/2, 2*e.k
	over := strikeOver * e.k
	e.s.Over(left-over, middle-half, left+b.Width+over, middle+half, half, e.letters, 1, text.Always)
}

// button adds the call to action: in larger letters if there is no price.
func (e *ending) button(call string, priced bool) error {
	em := float64(endButton)
	lines := 2
	if !priced {
		em, lines = float64(cmp.Or(e.Brand.look().EndCard.Size, 104)), 3
	}
	b, ok, err := e.fit(call, em, lines)
	if err != nil || !ok {
		return err
	}
	design := e.Brand.look()
	back := apart(e.ground, canvas.LogoContrast, e.Brand.in(design.EndCard.Accent), e.Brand.color(), e.Brand.second())
	across, down := 60*e.k, 30*e.k
	middle := float64(e.width) / 2
	e.parts = append(e.parts, endPart{int((b.Height + 2*down) / e.k), func(top float64) {
		e.appear(top, b.Height+2*down, b.RTL, func() {
			e.Brand.buttoned(e.s, middle-b.Width/2-across, top, middle+b.Width/2+across, top+b.Height+2*down, e.k,
				back, text.Always)
			e.s.Text(b, middle-b.Width/2, middle+b.Width/2, top+down, text.Center, canvas.On(back), text.Always)
		})
	}})
	return nil
}

// lines adds the name and the address at the end: in one line, or below each other if they are long.
func (e *ending) lines(name, address string) error {
	if b, ok, err := e.fit(joined(name, address), endSmall, 1); err != nil || ok {
		if ok {
			e.text(b, e.letters)
		}
		return err
	}
	for _, words := range []string{name, address} {
		b, ok, err := e.fit(words, endSmall, 2)
		if err != nil {
			return err
		}
		if ok {
			e.text(b, e.letters)
		}
	}
	return nil
}

// product inserts the product of the first scene that shows it, if there is room for it.
func (e *ending) product(ctx context.Context, at int) error {
	n := -1
	for i, s := range e.Scenes {
		if s.Whole && s.Picture != "" {
			n = i
			break
		}
	}
	room := e.zone.Dy() - e.tall() - endGap
	if n < 0 || e.Offer == nil || room < 200 {
		return nil
	}
	// It is no text: platforms may cover its edges.
	box := image.Pt(min(e.full().X*22/25, e.zone.Dx()+160), min(room, endProduct))
	scaled := image.Pt(int(float64(box.X)*e.k), int(float64(box.Y)*e.k))
	object, err := e.object(ctx, e.Scenes[n].Picture, e.scenes[n].about, scaled)
	if err != nil {
		return err
	}
	size := object.Fit(image.Rectangle{Max: scaled}).Size()
	part := endPart{int(float64(size.Y) / e.k), func(top float64) {
		corner := image.Pt((e.width-size.X)/2, int(top))
		at := image.Rectangle{Min: corner, Max: corner.Add(size)}
		if back, lost := e.Brand.behind(object, e.ground); lost {
			pad := int(endGap / 2 * e.k)
			canvas.Round(e.img, at.Inset(-pad), pad, back)
		}
		object.Draw(e.img, at, e.Brand.look().Product.Round)
	}}
	e.parts = append(e.parts[:at:at], append([]endPart{part}, e.parts[at:]...)...)
	return nil
}

// tall returns the height of the parts with the gaps between them.
func (e *ending) tall() (sum int) {
	for _, p := range e.parts {
		sum += p.tall
	}
	return sum + endGap*max(len(e.parts)-1, 0)
}

// lay draws the parts in the middle of the zone.
func (e *ending) lay() {
	top := e.zone.Min.Y + (e.zone.Dy()-e.tall())/2
	for _, p := range e.parts {
		p.draw(float64(top) * e.k)
		top += p.tall + endGap
	}
}

// encodeEnd encodes the end card, if there is one, in the form of a scene.
func (f *videoRun) encodeEnd(ctx context.Context) (file string, err error) {
	if f.card == 0 {
		return "", nil
	}
	img, s, err := f.drawEnd(ctx)
	if err != nil {
		return "", err
	}
	draw, err := f.subtitles(StagePicture, "end", s)
	if err != nil {
		return "", err
	}
	if err := f.write(StagePicture, "end.raw", img.Pix); err != nil {
		return "", err
	}
	fps, count := f.Quality.fps(), f.card/f.Quality.every()
	file = "end.mp4"
	_, err = f.ffmpeg(ctx, StagePicture, "/brand", ffmpeg.Job{
		Inputs: []ffmpeg.Input{f.drawn("end.raw", img.Rect.Size())},
		Filter: "[0:v]" + input{}.cover(f.width, f.height) + fmt.Sprintf(",loop=loop=-1:size=1:start=0,"+
			"trim=end_frame=%d,setpts=N/(%d*TB),fps=%d,%s,setsar=1,format=yuv420p,"+
			"setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709[out]", count, fps, fps, draw),
		Output: append([]string{"-map", "[out]", "-frames:v", fmt.Sprint(count)},
			append(encoder(f.Quality, true, f.rate()), "-f", "mp4", file)...),
	})
	return file, err
}
