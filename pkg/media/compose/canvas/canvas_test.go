package canvas

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// lightest returns the greatest luminance within a rectangle.
func lightest(img *image.RGBA, r image.Rectangle) (most float64) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := img.RGBAAt(x, y)
			most = max(most, luminance(c.R, c.G, c.B))
		}
	}
	return most
}

func TestAScrimMakesAnyPictureDarkEnough(t *testing.T) {
	text := image.Rect(10, 60, 90, 90)
	for name, shade := range map[string]func(r *rand.Rand) color.RGBA{
		"white": func(*rand.Rand) color.RGBA { return color.RGBA{255, 255, 255, 255} },
		"noise": func(r *rand.Rand) color.RGBA {
			return color.RGBA{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255}
		},
		"yellow": func(*rand.Rand) color.RGBA { return color.RGBA{255, 230, 0, 255} },
		"dark":   func(*rand.Rand) color.RGBA { return color.RGBA{20, 30, 40, 255} },
	} {
		img, r := image.NewRGBA(image.Rect(0, 0, 100, 100)), rand.New(rand.NewPCG(1, 2))
		for i := range 100 * 100 {
			img.SetRGBA(i%100, i/100, shade(r))
		}
		above := img.RGBAAt(50, 20)
		opacity := Scrim(img, text, 30)
		if c := Contrast(lightest(img, text), 1); c < MinContrast {
			t.Errorf("%s: white text has a contrast of %.2f", name, c)
		}
		if img.RGBAAt(50, 20) != above {
			t.Errorf("%s: the picture is changed far above the text", name)
		}
		if name == "dark" && opacity != 0 {
			t.Errorf("a dark picture is darkened by %.2f", opacity)
		}
	}
}

func TestTextOnAnyColorHasContrast(t *testing.T) {
	for r := 0; r < 256; r += 5 {
		for g := 0; g < 256; g += 5 {
			for b := 0; b < 256; b += 5 {
				back := Color{uint8(r), uint8(g), uint8(b)}
				if c := Contrast(back.Luminance(), On(back).Luminance()); c < MinContrast {
					t.Fatalf("text on %v has a contrast of %.2f", back, c)
				}
			}
		}
	}
}

func TestColors(t *testing.T) {
	if c, err := ParseColor("#12aBff"); err != nil || c != (Color{0x12, 0xab, 0xff}) {
		t.Errorf("#12aBff is %v, %v", c, err)
	}
	for _, bad := range []string{"", "#12345", "1234567", "#12345g", "#+12345", "red"} {
		if c, err := ParseColor(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
	if c := Contrast(1, 0); c != 21 {
		t.Errorf("white on black has a contrast of %v", c)
	}
}

func TestALogoKeepsItsProportions(t *testing.T) {
	box := image.Rect(100, 100, 300, 200)
	for _, c := range []struct {
		size  image.Point
		right bool
		want  image.Rectangle
	}{
		{image.Pt(400, 100), false, image.Rect(100, 125, 300, 175)},
		{image.Pt(50, 50), false, image.Rect(100, 100, 200, 200)},
		{image.Pt(50, 50), true, image.Rect(200, 100, 300, 200)},
		{image.Pt(1, 10_000), true, image.Rect(299, 100, 300, 200)},
	} {
		if got := Within(c.size, box, c.right); got != c.want {
			t.Errorf("a logo of %v lies at %v, not %v", c.size, got, c.want)
		}
	}
}

func TestALogoStandsOutFromItsPlate(t *testing.T) {
	for name, c := range map[string]color.NRGBA{"white": {255, 255, 255, 255}, "black": {0, 0, 0, 255},
		"blue": {20, 40, 160, 255}, "yellow": {250, 220, 40, 255}} {
		logo := image.NewNRGBA(image.Rect(0, 0, 100, 40))
		for x := 20; x < 80; x++ {
			logo.SetNRGBA(x, 20, c)
		}
		badge := Badge(logo, 232, 112)
		if got := badge.Rect.Size(); got != image.Pt(232, 112) {
			t.Errorf("%s: the badge is %v", name, got)
		}
		own, plate := luminance(c.R, c.G, c.B), badge.RGBAAt(116, 30)
		if light := plate.R > 0; light != (own < 0.18) || plate.A < 100 {
			t.Errorf("%s: its plate is %v", name, plate)
		}
		if corner := badge.RGBAAt(0, 0); corner.A != 0 {
			t.Errorf("%s: its corner is %v", name, corner)
		}
	}
}
