package compose

import (
	"fmt"
	"image"
	"image/color"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/testdata/breadth"
)

// said is a text for the frames in one script.
type said struct{ lang, headline, script, call, was string }

var scripts = []said{
	{"en", "New today: shoes made of nets", "Our shoe is made of nets. It was lost at sea.", "Try it today", "€129"},
	{"ar", "جديد اليوم: أحذية من الشباك", "حذاؤنا مصنوع من شباك. ضاعت في البحر.", "جرّبه اليوم", "١٢٩ €"},
	{"ja", "本日発売：網から生まれた靴", "私たちの靴は、網から作られています。", "今日お試しください", "€129"},
	{"ru", "Сегодня: обувь из сетей", "Наша обувь сделана из сетей. Они лежали в море.", "Попробуйте сегодня", "129 €"},
	{"hi", "आज नया: जाल से बने जूते", "हमारा जूता जालों से बना है। वे समुद्र में थे।", "आज ही आज़माएँ", "€129"},
	{"th", "ใหม่วันนี้: รองเท้าจากอวน", "รองเท้าของเราทำจากอวนที่สูญหายในทะเล", "ลองวันนี้เลย", "€129"},
	{"zh", "今日新品：渔网制成的鞋", "我们的鞋由渔网制成。渔网遗失在海中。", "今天就试试", "€129"},
	{"he", "חדש היום: נעליים מרשתות", "הנעל שלנו עשויה מרשתות. הן אבדו בים.", "נסו אותה היום", "€129"},
}

// looks are the brands: from dark to neon, with one color, with two, and without.
var looks = [][]canvas.Color{
	{{R: 0x0b, G: 0x5f, B: 0xa8}, {R: 0xff, G: 0xc1, B: 0x2e}}, {{R: 57, G: 255, B: 20}}, {{R: 16, G: 16, B: 18}},
	{{R: 250, G: 250, B: 250}, {R: 30, G: 30, B: 30}}, nil, {{R: 0xe2, B: 0x74}, {R: 0xff, G: 0xd1}},
}

// framed is what a frame test composes: a theme, a script and a brand.
type framed struct {
	theme string
	said
	colors []canvas.Color
}

// sweep are all of them, or each theme, script and brand at least once.
func sweep() (all []framed) {
	for i, name := range theme.Names {
		for j, s := range scripts {
			for k, colors := range looks {
				if breadth.All() || (i+j)%5 == 0 && (j+k)%6 == 0 {
					all = append(all, framed{name, s, colors})
				}
			}
		}
	}
	return all
}

func (c framed) String() string { return fmt.Sprintf("%s, %s, %v", c.theme, c.lang, c.colors) }

// magenta is the color of the product of the frames, which no brand has.
var magenta = color.NRGBA{R: 200, G: 0, B: 200, A: 255}

// shaped returns a photo of a product: a disc of magenta of the proportions, on transparency.
func shaped(width, height int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := height / 10; y < height*9/10; y++ {
		for x := width / 10; x < width*9/10; x++ {
			img.SetNRGBA(x, y, magenta)
		}
	}
	return sample.PNG(img)
}

// product returns the rectangle of the product in a picture, and whether all of it is seen.
func seenProduct(img image.Image) (box image.Rectangle, whole bool) {
	n := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := colorAt(img, x, y)
			if c.R > 165 && c.G < 60 && c.B > 165 && c.R < 235 {
				box, n = box.Union(image.Rect(x, y, x+1, y+1)), n+1
			}
		}
	}
	return box, n >= box.Dx()*box.Dy()*97/100
}

func (c framed) brand(logo string) *Brand {
	return &Brand{Name: "Acme", Logo: logo, Colors: c.colors, Theme: c.theme}
}

func (c framed) offer() *Offer {
	return &Offer{Price: "€103.20", Was: c.was, Off: "−20 %", Until: "20.12.", Shop: "Acme", Action: c.call,
		Address: "acme.example"}
}

// A product is the hero of posts, stories, covers and scenes in every theme: it takes 80 to 94 % of the width, or 55 %
// of the height, and nothing lies over it.
func TestTheProductIsTheHero(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i, c := range sweep() {
		for j, size := range []image.Point{{1600, 900}, {1000, 1000}, {600, 1600}} {
			if !breadth.All() && (i+j)%3 > 0 {
				continue
			}
			photo := b.part(fmt.Sprintf("hero%d.png", j), shaped(size.X, size.Y))
			brand := c.brand("")
			v := Video{Format: Portrait, Quality: Draft, scale: 2, Captions: true, Language: c.lang, Brand: brand,
				Offer: c.offer(), Narration: b.part("voice.wav", sample.Voice(4*time.Second)), Headline: c.headline,
				Scenes: []Scene{{Text: c.script, Picture: photo, Whole: true, OnScreen: c.headline}}}
			res := b.compose(v)
			for name, img := range map[string]image.Image{
				"post": b.image(b.find(b.compose(Picture{Use: Post, Path: photo, Text: c.headline, Language: c.lang,
					Brand: brand, Whole: true, Offer: c.offer()}), media.Final)),
				"story": b.image(b.find(b.compose(Picture{Use: Story, Path: photo, Text: c.headline, Language: c.lang,
					Brand: brand, Whole: true, Offer: c.offer()}), media.Final)),
				"cover": b.image(b.find(res, media.Poster)),
				"scene": b.frames(res, v, 12)[0],
			} {
				full := img.Bounds()
				box, whole := seenProduct(img)
				wide, tall := float64(box.Dx())/float64(full.Dx()), float64(box.Dy())/float64(full.Dy())
				if !whole || wide > 0.945 || wide < 0.795 && tall < 0.545 {
					t.Errorf("%v, %s of a product of %v: it takes %.2f of the width, %.2f of the height, whole: %t", c,
						name, size, wide, tall, whole)
				}
			}
		}
	}
}

// The end card is opaque, in the middle of the picture, with the logo, the product and the texts inside the area that
// no platform covers.
func TestTheEndCardIsFinished(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	logo := b.part("logo.png", sample.Logo(color.RGBA{255, 255, 255, 255}))
	photo := b.part("card.png", shaped(1600, 900))
	for i, c := range sweep() {
		v := Video{Format: Portrait, Quality: Draft, scale: 2, Captions: true, Language: c.lang, Brand: c.brand(logo),
			Narration: b.part("voice.wav", sample.Voice(4*time.Second)),
			Scenes:    []Scene{{Text: c.script, Picture: photo, Whole: true}}}
		if i%2 == 0 {
			v.Offer = c.offer()
		} else {
			v.Brand.Call = c.call
		}
		res := b.compose(v)
		n := drafted(b.find(res, media.Final).Duration) - 2
		img := b.frames(res, v, n)[0]
		back := v.Brand.in(v.Brand.look().EndCard.Color)
		got := colorAt(img, 6, 900)
		if !near([3]int{int(got.R), int(got.G), int(got.B)}, int(back.R), int(back.G), int(back.B)) {
			t.Errorf("%v: the ground is %v, not %v", c, got, back)
		}
		box := apartFrom(img, back)
		middle := float64(box.Min.X+box.Max.X) / 2 * 2
		if middle < 536 || middle > 544 {
			t.Errorf("%v: the middle is at %.0f, of %v", c, middle, box)
		}
		if box.Min.Y*2 < SafePortrait.Min.Y-4 || box.Max.Y*2 > SafePortrait.Max.Y+24 { // with the shadow of the product
			t.Errorf("%v: the card lies at %v", c, box)
		}
		if seen, _ := seenProduct(img); seen.Empty() == (v.Offer != nil) {
			t.Errorf("%v: the product is at %v", c, seen)
		}
	}
}

// drafted returns the number of frames of a draft.
func drafted(d time.Duration) int { return int(d.Seconds() * float64(Draft.fps())) }

// apartFrom returns the rectangle of all that has another color than the ground.
func apartFrom(img image.Image, ground canvas.Color) (box image.Rectangle) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := colorAt(img, x, y)
			off := max(c.R, ground.R) - min(c.R, ground.R) + max(c.G, ground.G) - min(c.G, ground.G) +
				max(c.B, ground.B) - min(c.B, ground.B)
			if off > 60 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// What is drawn over the pictures of videos and stories lies where no platform covers it, in every theme and script:
// the picture is a plain gray, and what differs from it is text.
func TestTextsLieInTheSafeZones(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	gray := b.plain("gray", color.RGBA{127, 127, 127, 255})
	for _, c := range sweep() {
		v := Video{Format: Portrait, Quality: Draft, scale: 2, Captions: true, Language: c.lang, Brand: c.brand(""),
			Narration: b.part("voice.wav", sample.Voice(4*time.Second)),
			Scenes:    []Scene{{Text: c.script, Picture: gray, OnScreen: c.headline}}}
		res := b.compose(v)
		for _, frame := range []int{9, 20} {
			box := apartFrom(b.frames(res, v, frame)[0], canvas.Color{R: 127, G: 127, B: 127})
			for _, z := range Zones {
				free := image.Rect(z.Left, z.Top, wide-z.Right, storyTall-z.Bottom).Inset(-4)
				got := image.Rectangle{Min: box.Min.Mul(2), Max: box.Max.Mul(2)}
				if z.Use == "video" && !got.In(free) {
					t.Errorf("%v: on %s, there is something at %v, outside of %v", c, z.Platform, got, free)
				}
			}
		}
	}
}
