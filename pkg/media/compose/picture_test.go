package compose

import (
	"image"
	"image/color"
	_ "image/jpeg"
	"os"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
)

func (b *bench) image(f File) image.Image {
	b.t.Helper()
	r, err := os.Open(f.Path)
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Close()
	img, _, err := image.Decode(r)
	if err != nil {
		b.t.Fatal(err)
	}
	return img
}

func colorAt(img image.Image, x, y int) canvas.Color {
	r, g, b, _ := img.At(x, y).RGBA()
	return canvas.Color{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8)}
}

// letters returns the rectangle that light pixels on a dark ground take up.
func letters(img image.Image, within image.Rectangle) (box image.Rectangle) {
	for y := within.Min.Y; y < within.Max.Y; y++ {
		for x := within.Min.X; x < within.Max.X; x++ {
			if colorAt(img, x, y).Luminance() > 0.6 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// What is measured is what libass draws, in every script.
func TestHeadingsLieWhereTheyAreMeasured(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for lang, heading := range map[string]string{
		"en": "Five things about nets", "ru": "Пять фактов о сетях", "el": "Πέντε πράγματα για τα δίχτυα",
		"ar": "خمسة أشياء عن الشباك", "he": "חמישה דברים על רשתות",
		"hi": "जाल के बारे में पाँच क्षत्रिय बातें", "th": "ห้าสิ่งเกี่ยวกับตาข่าย น้ำ", "zh": "关于渔网的五件事",
		"ja": "網についての五つのこと", "ko": "그물에 대한 다섯 가지",
	} {
		card := card{area: image.Rect(slideInset, slideInset, wide-slideInset, slideTall-88), maxEm: 112,
			size: image.Pt(wide, slideTall)}
		res := b.compose(Carousel{Language: lang, Slides: []Slide{{Path: dark, Heading: heading}}})
		// As the engine lays it out.
		block, err := b.fonts.Fit(heading, lang, card.box())
		if err != nil {
			t.Fatal(err)
		}
		top := card.area.Max.Y - int(block.Height)
		got := letters(b.image(res.Files[0]), image.Rect(0, top-12, wide, slideTall))
		// Of some Arabic words, a little more is measured than is drawn.
		if off := float64(got.Dx()) - block.Width; off > 8 || off < -0.05*block.Width-0.12*block.Em {
			t.Errorf("%s: it is %d pixels wide, and measured as %.0f", lang, got.Dx(), block.Width)
		}
		if rtl := lang == "ar" || lang == "he"; rtl != block.RTL || rtl && got.Max.X < card.area.Max.X-20 || !rtl &&
			got.Min.X > card.area.Min.X+20 {
			t.Errorf("%s: it lies at %v of %v", lang, got, card.area)
		}
		if got.Min.Y < top-10 || got.Max.Y > card.area.Max.Y+10 {
			t.Errorf("%s: it lies at %v, not between %d and %d", lang, got, top, card.area.Max.Y)
		}
	}
}

func TestHeadingsHaveContrast(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Nothing is darker than letters would need but the scrim.
	res := b.compose(Carousel{Language: "en",
		Slides: []Slide{{Path: b.plain("white", color.RGBA{255, 255, 255, 255}), Heading: "iiii"}}})
	img, card := b.image(res.Files[0]),
		card{area: image.Rect(slideInset, slideInset, wide-slideInset, slideTall-88), maxEm: 112}
	block, err := b.fonts.Fit("iiii", "en", card.box())
	if err != nil {
		t.Fatal(err)
	}
	top := card.area.Max.Y - int(block.Height)
	for y := top; y < card.area.Max.Y; y++ {
		// Beside the letters, and their edges that JPEG blurs.
		if c := colorAt(img, card.area.Min.X+int(block.Width)+40, y); canvas.Contrast(c.Luminance(),
			1) < canvas.MinContrast {
			t.Fatalf("in row %d, white letters on %v have a contrast of %.2f", y, c, canvas.Contrast(c.Luminance(), 1))
		}
	}
	if c := colorAt(img, 540, 200); c.Luminance() < 0.95 {
		t.Errorf("far above the heading, the picture is %v", c)
	}
}

func TestTheLongestHeadingsFit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	for name, heading := range map[string]string{"200 emoji": strings.Repeat("😀", 200),
		"one word": strings.Repeat("W", 200), "Chinese": strings.Repeat("字", 200)} {
		res := b.compose(Carousel{Brand: b.brand(), Slides: []Slide{{Path: dark, Heading: heading}}})
		band := slideTall - bandTall
		got := letters(b.image(res.Files[0]), image.Rect(0, 0, wide, band))
		if got.Min.X < slideInset-12 || got.Max.X > wide-slideInset+12 || got.Min.Y < slideInset ||
			got.Max.Y > band-20 {
			t.Errorf("%s: they lie at %v", name, got)
		}
	}
}

func TestTheFirstAndTheLastSlideCarryTheBrand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	brand := b.brand()
	brand.Color = &canvas.Color{R: 200, G: 40, B: 90}
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	res := b.compose(Carousel{Brand: brand, Slides: []Slide{{Path: dark, Heading: "One"},
		{Path: dark, Heading: "Two"}, {Path: dark, Heading: "Three"}}})
	for i, f := range res.Files {
		img := b.image(f)
		c := colorAt(img, 1040, slideTall-70)
		branded := c.R > 180 && c.G < 60
		if branded != (i != 1) || f.Role != media.Final {
			t.Errorf("slide %d has %v at its foot", i, c)
		}
		if i == 1 {
			continue
		}
		logo := letters(img, image.Rect(0, slideTall-bandTall, wide, slideTall))
		if logo.Min.X > slideInset+10 || logo.Dx() < 300 {
			t.Errorf("slide %d has its logo and name at %v", i, logo)
		}
	}
}
