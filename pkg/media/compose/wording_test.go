package compose

import (
	"errors"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/testdata/breadth"
)

// rows returns the groups of rows that have light pixels, from top to bottom.
func rows(img image.Image, within image.Rectangle) (all []image.Rectangle) {
	for y := within.Min.Y; y < within.Max.Y; y++ {
		row := letters(img, image.Rect(within.Min.X, y, within.Max.X, y+1))
		switch n := len(all); {
		case row.Empty():
		case n > 0 && y-all[n-1].Max.Y < 20: // the dots of letters
			all[n-1] = all[n-1].Union(row)
		default:
			all = append(all, row)
		}
	}
	return all
}

// The body is below its heading, in smaller letters, on the same side, in every layout and direction of writing.
func TestBodiesLieBelowTheirHeadings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for lang, words := range map[string][2]string{
		"en": {"Nets ❤️", "We cut them by hand ❤️"}, "ar": {"شباك ❤️", "نقطعها باليد ❤️"},
		"he": {"רשתות", "אנו חותכים אותן ביד"},
	} {
		one := Slide{Path: dark, Heading: words[0], Body: words[1]}
		own, _ := theme.Own("bold")
		design := *own
		design.Post.Heading, design.Last.Heading, design.Slides = 80, 80, slices.Clone(own.Slides)
		for i := range design.Slides {
			design.Slides[i].Heading = 80
		}
		brand := &Brand{Design: &design, Colors: []canvas.Color{{R: 20, G: 20, B: 30}, {R: 30, G: 10, B: 10}}}
		res := b.compose(Carousel{Language: lang, Brand: brand, Slides: []Slide{one, one, one, one}})
		for i, f := range res.Files {
			lines := rows(b.image(f), image.Rect(slideInset, slideInset+markTall, wide-slideInset, slideTall))
			if len(lines) < 2 {
				t.Fatalf("%s: slide %d has the lines %v", lang, i+1, lines)
			}
			heading, body := lines[len(lines)-2], lines[len(lines)-1]
			if body.Dy() >= heading.Dy() || body.Min.Y-heading.Max.Y < 10 {
				t.Errorf("%s: on slide %d the heading is at %v and the body at %v", lang, i+1, heading, body)
			}
			off := body.Min.X - heading.Min.X
			if lang != "en" {
				off = body.Max.X - heading.Max.X
			}
			if max(off, -off) > 40 { // of some Arabic words, a little more is measured than is drawn
				t.Errorf("%s: on slide %d the heading begins at %v and the body at %v", lang, i+1, heading, body)
			}
		}
	}
	e := b.fails(Carousel{Slides: []Slide{{Path: dark, Body: "Alone"}}})
	if e.Code != CodeInvalid || e.About != "/slides/0/body" {
		t.Errorf("a body without a heading: %v", e)
	}
	e = b.fails(Carousel{Slides: []Slide{{Path: dark, Heading: "Nets", Body: strings.Repeat("Net ", 600)}}})
	if e.Code != CodeTextTooLong || e.About != "/slides/0/body" || !errors.Is(e, text.ErrTooLong) {
		t.Errorf("a long body: %v", e)
	}
}

// Texts that script.Place permits are drawn in every layout.
func TestTheLongestBodiesFitEveryLayout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for _, sign := range breadth.First(2, "字", "W", "😀", "ก") {
		long := Slide{Path: dark, Heading: script.Slide.Clip(strings.Repeat(sign, 200)),
			Body: script.Body.Clip(strings.Repeat(sign, 200))}
		whole := long
		whole.Whole = true
		res := b.compose(Carousel{Brand: b.brand(), Offer: offered(), Slides: []Slide{whole, long, long, whole, long}})
		if len(res.Files) != 5 {
			t.Errorf("%s: there are %d slides", sign, len(res.Files))
		}
	}
}

// frames returns frames of a video as pictures.
func (b *bench) frames(res Result, v Video, numbers ...int) (all []image.Image) {
	width, height := v.size()
	found := b.framesOf(b.find(res, media.Final).Path, width, height, numbers...)
	for _, n := range numbers {
		img, p := image.NewRGBA(image.Rect(0, 0, width, height)), found[n]
		for i := range width * height {
			img.SetRGBA(i%width, i/width, color.RGBA{p[i*3], p[i*3+1], p[i*3+2], 255})
		}
		all = append(all, img)
	}
	return all
}

// The text of a scene is seen with its scene alone, inside the area that no platform covers, and below the logo or
// beside it.
func TestTextsOfScenesAreDrawn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for _, format := range []Format{Portrait, Landscape} {
		for name, words := range map[string]string{"short": "Three nets", "right to left": "ثلاث شباك 🎣",
			"long": script.Screen.Clip(strings.Repeat("字", 80))} {
			v := Video{Format: format, Quality: Full, scale: 2, Language: "en", Brand: b.brand(), Scenes: []Scene{
				{Picture: dark, Length: time.Second, OnScreen: words}, {Picture: dark, Length: time.Second}}}
			safe := SafePortrait
			if format == Landscape {
				safe = SafeLandscape
			}
			logo := image.Rect(safe.Min.X, safe.Min.Y, safe.Min.X+270, safe.Min.Y+128)
			seen := b.frames(b.compose(v), v, 16, 50)
			width, height := v.size()
			without := func(img image.Image) (box image.Rectangle) {
				for _, part := range []image.Rectangle{image.Rect(0, 0, width, logo.Min.Y/2),
					image.Rect(0, logo.Min.Y/2, logo.Min.X/2, logo.Max.Y/2),
					image.Rect(logo.Max.X/2, 0, width, logo.Max.Y/2),
					image.Rect(0, logo.Max.Y/2, width, height)} {
					box = box.Union(letters(img, part))
				}
				return box
			}
			plate := without(seen[0])
			if !plate.In(image.Rectangle{safe.Min.Div(2), safe.Max.Div(2)}) || plate.Dx() < 60 || plate.Dy() < 24 {
				t.Errorf("%s %s: it is drawn at %v, the area is %v", format, name, plate, safe)
			}
			if got := without(seen[1]); !got.Empty() {
				t.Errorf("%s %s: the next scene has something at %v", format, name, got)
			}
		}
	}
	e := b.fails(Video{Format: Portrait, Quality: Draft, Scenes: []Scene{{Picture: dark, Length: time.Second,
		OnScreen: strings.Repeat("字", 300)}}})
	if e.Code != CodeTextTooLong || e.About != "/scenes/0/on_screen" {
		t.Errorf("a long text: %v", e)
	}
}

// A headline of a post is inside the margins, above the band of an offer.
func TestPostsHaveHeadlines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for name, words := range map[string]string{"short": "From the sea", "right to left": "من البحر 👟 إلى الجبل",
		"long": strings.Repeat("字", 100)} {
		for _, offer := range []*Offer{nil, offered()} {
			img := b.image(b.find(b.compose(Picture{Use: Post, Path: dark, Text: words, Language: "en", Offer: offer}),
				media.Final))
			foot := slideTall
			if offer != nil {
				foot -= bandTall
			}
			got := letters(img, image.Rect(0, 420, wide, foot))
			if got.Min.X < slideInset-8 || got.Max.X > wide-slideInset+8 || got.Max.Y > foot-24 || got.Dx() < 200 {
				t.Errorf("%s, offer %t: the headline is at %v", name, offer != nil, got)
			}
		}
	}
}
