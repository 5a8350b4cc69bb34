package compose

import (
	"context"
	"fmt"
	"image"

	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// heroZoom is the visible part of a picture of a product at the nearer end of its motion: it is already large.
const heroZoom = 0.98

// heroMoves are the moves of scenes that show a picture whole.
var heroMoves = func() []Move {
	const edge = (1 - heroZoom) / 2
	whole, near := View{0, 0, 1}, View{edge, edge, heroZoom}
	return []Move{{whole, near}, {near, whole}}
}()

// hero is a scene that shows a product, arranged.
type hero struct {
	arranged
	object  canvas.Object
	price   sticker
	letters canvas.Color
	ground  canvas.Color
}

// hero returns the arrangement of a scene that shows a picture whole, or nil for another one. It is in pixels of the
// video.
func (f *videoRun) hero(ctx context.Context, n int) (*hero, error) {
	if h := f.heroes[n]; h != nil || !f.Scenes[n].Whole || f.Scenes[n].Picture == "" {
		return h, nil
	}
	k, size, layout := f.part(), f.full(), f.Brand.look().Product
	area := f.safe()
	area.Max.Y = f.stageEnd(n)
	stage := area
	if f.Format == Portrait {
		stage.Min.X, stage.Max.X = 0, size.X
		if f.Notice == "" {
			stage.Min.Y -= 150
		}
	}
	column := area
	if layout.Align == "center" && f.Format == Portrait {
		area = axis(area, size.X)
	}
	if f.logo != nil && f.Format == Landscape {
		area.Min.Y = int(float64(f.logo.bottom)/k) + heroGap
		column = area
	}
	// The nearest view enlarges the picture from the middle of the frame.
	middle := float64(size.Y) / 2
	near := func(y int) int { return int(middle + (float64(y)-middle)*heroZoom) }
	object, err := f.object(ctx, f.Scenes[n].Picture, f.scenes[n].about, image.Pt(int(float64(size.X)*k),
		int(float64(stage.Dy())*k)))
	if err != nil {
		return nil, err
	}
	h := &hero{object: object}
	h.ground = grounded(object, layout, f.Brand)
	h.letters = f.Brand.letters(layout.Letters, h.ground)
	if f.Format == Portrait {
		layout.Heading = int(float64(layout.Heading) * heroScale)
	}
	forms, err := f.stickers(f.Offer, f.Language, f.Brand, h.ground, 1)
	if err != nil {
		return nil, err
	}
	in := show{object: object, size: size, area: area, stage: stage, layout: layout, text: f.Scenes[n].OnScreen,
		lang: f.Language, column: column, top: stage.Min.Y, stickers: forms,
		rtl: text.RightToLeft(f.Scenes[n].OnScreen, f.Language)}
	if h.arranged, err = f.arrange(in); err != nil {
		return nil, ofText(fmt.Sprintf("/scenes/%d/on_screen", n), err)
	}
	h.arranged.object.Min.Y, h.arranged.object.Max.Y = near(h.arranged.object.Min.Y), near(h.arranged.object.Max.Y)
	h.arranged.object = object.Fit(h.arranged.object)
	h.scale(k)
	if h.price, err = f.sticker(f.Offer, f.Language, f.Brand, h.ground, h.form, k); err != nil {
		return nil, err
	}
	f.heroes[n] = h
	return h, nil
}

// scale brings the arrangement to the pixels of a video.
func (h *hero) scale(k float64) {
	part := func(r image.Rectangle) image.Rectangle {
		at := func(n int) int { return int(float64(n) * k) }
		return image.Rect(at(r.Min.X), at(r.Min.Y), at(r.Max.X), at(r.Max.Y))
	}
	h.arranged.sticker, h.words = part(h.arranged.sticker), part(h.words)
	h.heading = h.heading.Scaled(k)
}

// stageEnd returns the end of the room of a product: above the captions and the call to action.
func (f *videoRun) stageEnd(n int) int {
	bottom := f.above() / f.part()
	if f.acts(n) {
		bottom -= actionTall
	}
	return int(bottom)
}

// acts reports whether a scene shows the call to action of the offer: the last one, if there is no end card.
func (f *videoRun) acts(n int) bool {
	return f.card == 0 && n == len(f.Scenes)-1 && f.Offer != nil && f.Offer.Action+f.Offer.Shop != ""
}

// ground draws the product of a scene on its ground, in a size.
func (f *videoRun) ground(ctx context.Context, n int, size image.Point) (*image.RGBA, error) {
	h, err := f.hero(ctx, n)
	if err != nil {
		return nil, err
	}
	full, layout := f.full(), f.Brand.look().Product
	img := staged(size, size.Y, h.ground, layout.Decor, f.Brand.decorated(h.ground, h.letters))
	at := h.arranged.object
	scaled := func(p image.Point) image.Point { return image.Pt(p.X*size.X/full.X, p.Y*size.Y/full.Y) }
	h.object.Draw(img, image.Rectangle{Min: scaled(at.Min), Max: scaled(at.Max)}, layout.Round*size.X/full.X)
	h.object = canvas.Object{} // it is large, and drawn once
	return img, nil
}

// offer draws the offer on a scene: its price if the scene shows the product, and its call to action at the end if
// there is no end card. It returns the rectangle of the price on a clip.
func (f *videoRun) offer(ctx context.Context, s *text.Script, n, frames int) (drawn image.Rectangle, err error) {
	if f.Offer == nil {
		return drawn, nil
	}
	safe, k := f.safe(), f.part()
	last := n == len(f.scenes)-1
	when := text.Always
	if !last && !f.Scenes[n+1].Whole {
		when.To = timeline.Time(frames - f.scenes[n].after/2)
	}
	if f.Scenes[n].Whole {
		h, err := f.hero(ctx, n)
		switch {
		case err != nil:
			return drawn, err
		case h != nil:
			h.price.draw(s, h.arranged.sticker.Min, when)
		default:
			price, err := f.sticker(f.Offer, f.Language, f.Brand, ink, roomy, k)
			if err != nil {
				return drawn, err
			}
			drawn = price.at(image.Pt(int(float64(safe.Max.X)*k)-price.wide, int(float64(safe.Min.Y)*k)))
			price.draw(s, drawn.Min, when)
		}
	}
	if !f.acts(n) {
		return drawn, nil
	}
	middle := axis(safe, f.full().X)
	ground := ink
	if h := f.heroes[n]; h != nil {
		ground = h.ground
	}
	return drawn, f.action(s, f.Offer, f.Language, f.Brand, ground, float64(middle.Min.X)*k, float64(middle.Max.X)*k,
		f.above(), k, when)
}

// above returns the end of what may lie above the captions: above the highest of them.
func (f *videoRun) above() float64 {
	if !f.Captions {
		return f.caps.bottom - 20*f.part()
	}
	tall := 1.45 * float64(f.caps.box.MaxLines) * f.caps.box.MaxEm
	for i, c := range f.cues {
		if i == 0 {
			tall = 0
		}
		tall = max(tall, c.block.Height+captionPad*c.block.Em)
	}
	return f.caps.bottom - tall - 24*f.part()
}

// drawn returns the input of a temporary file with the pixels of a canvas.
func (r *run) drawn(name string, size image.Point) ffmpeg.Input {
	return ffmpeg.Input{Path: r.path(name), Format: "rawvideo", Options: []string{"-pixel_format", "rgb0",
		"-video_size", fmt.Sprintf("%dx%d", size.X, size.Y)}}
}
