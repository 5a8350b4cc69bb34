package compose

import (
	"fmt"
	"image"
	"image/color"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
)

// barred returns a PNG of a logo whose letters are bars of cyan of the whole height, with a transparent margin.
func barred(ratio float64) []byte {
	const tall, margin = 120, 30
	across := int(tall * ratio)
	img := image.NewNRGBA(image.Rect(0, 0, across+2*margin, tall+2*margin))
	for y := range tall {
		for x := range across {
			if x%20 < 12 || x > across-12 {
				img.SetNRGBA(x+margin, y+margin, color.NRGBA{G: 190, B: 190, A: 255})
			}
		}
	}
	return sample.PNG(img)
}

// seenLogo returns the rectangle of the letters of a wordmark.
func seenLogo(img image.Image) (box image.Rectangle) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if c := colorAt(img, x, y); c.R < 70 && c.G > 150 && c.B > 150 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// Letters of logos can be read at every place, however long a wordmark is, and a name beside one is left out.
func TestLettersOfLogosAreSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	bare := benchOf(t, hollowed(t))
	story, video := freeOf(t, "story"), freeOf(t, "video")
	gray := b.plain("gray", color.RGBA{127, 127, 127, 255})
	for i, ratio := range []float64{1, 2.5, 6, 9, 12} {
		c := framed{"calm", scripts[0], looks[i%len(looks)], 1}
		p := pair{b, bare, c}
		brand := c.brand()
		brand.Logo = b.part(fmt.Sprintf("mark%d.png", i), barred(ratio))
		check := func(name string, img image.Image, area image.Rectangle) {
			box := seenLogo(img)
			if area.Empty() {
				area = img.Bounds().Inset(marginOf)
			}
			if box.Dy() < 36 || !box.In(area.Inset(-2)) {
				t.Errorf("%.1f : 1, %s: the letters are %d pixels high, at %v of %v", ratio, name, box.Dy(), box, area)
			}
		}
		check("post", b.image(b.find(b.compose(Picture{Use: Post, Path: gray, Brand: brand}), media.Final)),
			image.Rectangle{})
		check("story", b.image(b.find(b.compose(Picture{Use: Story, Path: gray, Brand: brand}), media.Final)), story)
		w := Carousel{Language: "en", Brand: brand, Offer: c.offer(),
			Slides: []Slide{{Path: gray, Heading: c.headline}, {Path: gray, Heading: c.call}}}
		for n, k := range p.stills("band", w, image.Rectangle{}) {
			check(fmt.Sprint("band", n), k.seen, image.Rectangle{})
			for _, l := range k.lines {
				if ratio > 2.3 && l.at.Min.Y > slideTall-bandTall && l.at.Max.X < wide/2 {
					t.Errorf("%.1f : 1: the name is beside the logo, at %v", ratio, l.at)
				}
			}
		}
		v := Video{Format: Portrait, Quality: Draft, Captions: true, Language: "en", Brand: brand, Narration: b.part(
			"voice.wav", voice()), Scenes: []Scene{{Text: c.script, Picture: gray}}}
		res := b.compose(v)
		frames := p.seen(res, []int{9, drafted(b.find(res, media.Final).Duration) - 2})
		check("video", frames[0], video)
		check("end card", frames[1], video)
		if box := seenLogo(frames[1]); ratio > 2.4 && (box.Dx() < 514 || box.Dx() > 522) {
			t.Errorf("%.1f : 1: the logo of the end card is %d pixels wide", ratio, box.Dx())
		}
	}
}
