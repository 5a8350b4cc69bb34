package compose

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/theme"
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

// laid lays out the heading of a first slide without a brand, as the engine does.
func (b *bench) laid(heading, lang string) wording {
	b.t.Helper()
	design, _ := theme.Own("")
	fonts, _ := b.fonts.In(design.Font)
	r := &run{Engine: b.Engine, fonts: fonts}
	w, err := r.wording(card{text: heading, lang: lang, layout: design.Post, size: image.Pt(wide, slideTall),
		area: image.Rect(slideInset, slideInset, wide-slideInset, slideTall-slideInset)})
	if err != nil {
		b.t.Fatal(err)
	}
	return w
}

// Measured texts equal the texts that libass draws, in every script.
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
		res := b.compose(Carousel{Language: lang, Slides: []Slide{{Path: dark, Heading: heading}}})
		w := b.laid(heading, lang)
		block, area, top := w.heading, w.at, w.at.Min.Y+w.bar
		got := letters(b.image(res.Files[0]), image.Rect(0, top-12, wide, slideTall))
		// Of some Arabic words, a little more is measured than is drawn.
		if off := float64(got.Dx()) - block.Width; off > 8 || off < -0.05*block.Width-0.12*block.Em {
			t.Errorf("%s: it is %d pixels wide, and measured as %.0f", lang, got.Dx(), block.Width)
		}
		if rtl := lang == "ar" || lang == "he"; rtl != block.RTL || rtl && got.Max.X < area.Max.X-20 || !rtl &&
			got.Min.X > area.Min.X+20 {
			t.Errorf("%s: it lies at %v of %v", lang, got, area)
		}
		if got.Min.Y < top-10 || got.Max.Y > area.Max.Y+10 {
			t.Errorf("%s: it lies at %v, not between %d and %d", lang, got, top, area.Max.Y)
		}
	}
}

func TestHeadingsHaveContrast(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	// Nothing is darker than letters would need but the scrim.
	res := b.compose(Carousel{Language: "en",
		Slides: []Slide{{Path: b.plain("white", color.RGBA{255, 255, 255, 255}), Heading: "iiii"}}})
	img, w := b.image(res.Files[0]), b.laid("iiii", "en")
	for y := w.at.Min.Y; y < w.at.Max.Y; y++ {
		// Beside the letters, and their edges that JPEG blurs.
		if c := colorAt(img, w.at.Min.X+int(w.heading.Width)+120, y); canvas.Contrast(c.Luminance(),
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

// Each slide has its number and the mark of the brand, the layouts alternate, and the last one is in the brand's color.
func TestSlidesOfACarousel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	brand := b.brand()
	brand.Colors = []canvas.Color{{R: 200, G: 40, B: 90}, {R: 250, G: 220, B: 60}}
	near := func(c, want canvas.Color) bool {
		return max(c.R, want.R)-min(c.R, want.R) < 12 && max(c.G, want.G)-min(c.G, want.G) < 12 &&
			max(c.B, want.B)-min(c.B, want.B) < 12
	}
	dark := Slide{Path: b.plain("dark", color.RGBA{60, 60, 60, 255}), Heading: "A heading"}
	res := b.compose(Carousel{Brand: brand, Slides: []Slide{dark, dark, dark, dark}})
	main, tint := brand.Colors[0], canvas.Tint(brand.Colors[0], 0.16)
	for i, want := range []map[image.Point]canvas.Color{
		{{1060, slideTall - 40}: main, {20, 20}: {R: 60, G: 60, B: 60}},
		{{1060, slideTall - 20}: tint, {8, 700}: tint, {540, 400}: {R: 60, G: 60, B: 60}},
		{{900, slideTall - 130}: canvas.White, {20, 700}: {R: 60, G: 60, B: 60}},
		{{1060, slideTall - 40}: main, {8, 40}: main, {540, 500}: {R: 60, G: 60, B: 60}},
	} {
		img := b.image(res.Files[i])
		for at, c := range want {
			if got := colorAt(img, at.X, at.Y); !near(got, c) {
				t.Errorf("slide %d has %v at %v, not %v", i+1, got, at, c)
			}
		}
		got := letters(img, image.Rect(900, slideInset, wide-slideInset, slideInset+60))
		if got.Dx() < 30 || got.Dy() < 20 {
			t.Errorf("slide %d has its number at %v", i+1, got)
		}
	}
}

func TestTheLongestHeadingsFitEveryLayout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	long := Slide{Path: dark, Heading: strings.Repeat("字", 200)}
	whole := long
	whole.Whole = true
	if res := b.compose(Carousel{Brand: b.brand(), Offer: offered(), Slides: []Slide{whole, long, long, long, whole,
		long}}); len(res.Files) != 6 {
		t.Errorf("there are %d slides", len(res.Files))
	}
}

func TestPostsCarryTheBrand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	corner := image.Rect(0, 0, 540, 300)
	for name, c := range map[string]struct {
		brand *Brand
		shows bool
	}{"logo": {b.brand(), true}, "name": {&Brand{Name: "Acme"}, true}, "nothing": {nil, false}} {
		img := b.image(b.find(b.compose(Picture{Use: Post, Path: dark, Brand: c.brand}), media.Final))
		if got := letters(img, corner); got.Empty() == c.shows {
			t.Errorf("%s: the brand is at %v", name, got)
		}
	}
}

// A mark may be on the right. The number of a slide is opposite to it, and the badge of an offer has its place.
func TestTheMarkMayBeOnTheRight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	left, right := image.Rect(0, 0, 500, 240), image.Rect(580, 0, wide, 240)
	for name, c := range map[string]struct {
		w           Work
		slide       int
		left, right bool
	}{
		"left":  {Picture{Use: Post, Path: dark, Brand: b.brand()}, 0, true, false},
		"right": {Picture{Use: Post, Path: dark, Brand: &Brand{Name: "Acme", Right: true}}, 0, false, true},
		"numbered": {Carousel{Brand: &Brand{Name: "Acme", Right: true},
			Slides: []Slide{{Path: dark}, {Path: dark}, {Path: dark}}}, 1, true, true},
	} {
		img := b.image(b.compose(c.w).Files[c.slide])
		if gotLeft, gotRight := !letters(img, left).Empty(), !letters(img, right).Empty(); gotLeft != c.left ||
			gotRight != c.right {
			t.Errorf("%s: there is something on the left: %v, on the right: %v", name, gotLeft, gotRight)
		}
	}
	brand := b.brand()
	brand.Right = true
	res := b.compose(Video{Format: Portrait, Quality: Draft, scale: 2, Brand: brand,
		Scenes: []Scene{{Picture: dark, Length: time.Second}}})
	p, at := b.pixels(b.find(res, media.Final).Path, 5, 540, 960), [2]int{}
	for i := 0; i < len(p); i += 3 {
		if p[i] > 200 {
			at[i/3%540/270]++
		}
	}
	if at[0] > 0 || at[1] < 100 {
		t.Errorf("the halves of the video have %v pixels of the logo", at)
	}
}

// The texts of a brand are in its font, and those of scripts that the font lacks in Noto.
func TestTheFontOfABrand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	drawn := func(lang, text, font string) string {
		res := b.compose(Picture{Use: Story, Path: dark, Text: text, Language: lang, Brand: &Brand{Font: font}})
		content, err := os.ReadFile(b.find(res, media.Final).Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	latin, arabic := map[string]bool{}, map[string]bool{}
	for _, font := range script.Fonts {
		latin[drawn("en", "Headings", font)] = true
		arabic[drawn("ar", "مرحبا", font)] = true
	}
	if len(latin) != len(script.Fonts) || len(arabic) != 1 {
		t.Errorf("%d fonts draw Latin in %d ways, and Arabic in %d", len(script.Fonts), len(latin), len(arabic))
	}
	if !latin[drawn("en", "Headings", "")] {
		t.Error("the default font is not in the list")
	}
	if e := b.fails(Picture{Use: Story, Path: dark, Text: "Hi", Language: "en",
		Brand: &Brand{Font: "comic_sans"}}); e.About != "/brand/font" || e.Code != CodeInvalid {
		t.Errorf("a font that there is not: %v", e)
	}
}

// A picture that a design has below the mark or the number does not touch them, whatever the ratio.
func TestAPictureBeginsBelowTheMark(t *testing.T) {
	t.Parallel()
	area := image.Rect(slideInset, slideInset, wide-slideInset, wide-slideInset)
	for name, one := range map[string]struct {
		card        card
		begins, got int
	}{
		"below a number":              {card{number: "1/4"}, 135, 164},
		"below a name":                {card{brand: &Brand{Name: "Acme"}}, 135, 164},
		"below a logo":                {card{brand: &Brand{Logo: "logo.png"}}, 135, 196},
		"below a logo in the band":    {card{brand: &Brand{Logo: "logo.png"}, band: true}, 135, 135},
		"far below a number":          {card{number: "1/4"}, 400, 400},
		"under a number":              {card{number: "1/4"}, 60, 60},
		"without a mark and a number": {card{}, 135, 135},
	} {
		one.card.area = area
		if got := one.card.below(image.Rect(86, one.begins, 994, 900)); got != image.Rect(86, one.got, 994, 900) {
			t.Errorf("%s, a picture is at %v, not from %d on", name, got, one.got)
		}
	}
}

// The slides of a carousel take one run of ffmpeg. Each has its own picture and letters, and ends in its order.
func TestACarouselIsOneRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	grounds := []color.RGBA{{200, 30, 30, 255}, {30, 200, 30, 255}, {30, 30, 200, 255}, {200, 200, 30, 255}}
	var c Carousel
	for i, ground := range grounds {
		c.Slides = append(c.Slides, Slide{Path: b.plain(string(rune('a'+i)), ground)})
	}
	c.Slides[2].Heading, c.Language = "Nets", "en"
	seen := b.compose(c)
	c.Slides[2].Heading = ""
	bare := b.compose(c)
	if seen.Usage.Runs != 1 || len(seen.Files) != len(grounds) {
		t.Fatalf("%d files take %d runs", len(seen.Files), seen.Usage.Runs)
	}
	for i, f := range seen.Files {
		img := b.image(f)
		want := canvas.Color{R: grounds[i].R, G: grounds[i].G, B: grounds[i].B}
		if got := colorAt(img, 900, 200); apartBy(got, want) > 6 {
			t.Errorf("slide %d has the color %v", i+1, got)
		}
		if written := !sameFrame(img, b.image(bare.Files[i])); written != (i == 2) || filepath.Base(f.Path) !=
			fmt.Sprintf("slide%02d.jpg", i+1) {
			t.Errorf("slide %d, %s, has letters: %t", i+1, f.Path, written)
		}
	}
}

// A carousel that is canceled while its slides are drawn, or encoded, leaves nothing.
func TestACarouselEndsWhenItIsCanceled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := Carousel{Language: "en", Slides: slices.Repeat([]Slide{{Path: b.picture(0), Heading: "Nets"}}, 3)}
	for _, at := range []int{25, 75} {
		ctx, cancel := context.WithCancel(t.Context())
		out := t.TempDir()
		_, err := b.Compose(ctx, c, out, func(percent int) {
			if percent >= at {
				cancel()
			}
		})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeCanceled {
			t.Errorf("at %d %%, the error is %v", at, err)
		}
		for _, dir := range []string{out, b.scratch} {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("at %d %%, %v is left, %v", at, left, err)
			}
		}
	}
}
