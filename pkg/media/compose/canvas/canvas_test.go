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
		opacity := Scrim(img, text, 30, Black)
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

// logos are the five kinds of logos.
func logos() map[string]*image.NRGBA {
	orange := color.NRGBA{255, 102, 0, 255}
	all := map[string]*image.NRGBA{}
	for name, at := range map[string]func(x, y int) color.NRGBA{
		"brand": func(int, int) color.NRGBA { return orange },
		"black": func(int, int) color.NRGBA { return color.NRGBA{0, 0, 0, 255} },
		"white": func(int, int) color.NRGBA { return color.NRGBA{255, 255, 255, 255} },
		"two-tone": func(x, _ int) color.NRGBA {
			return color.NRGBA{uint8(x / 50 * 255), uint8(x / 50 * 255), uint8(x / 50 * 255), 255}
		},
		"photo": func(x, y int) color.NRGBA { return color.NRGBA{uint8(2 * x), uint8(5 * y), 90, 255} },
	} {
		logo := image.NewNRGBA(image.Rect(0, 0, 100, 40))
		for y := range 40 {
			for x := range 100 {
				if name == "photo" || x/5%2 == 0 && y > 4 && y < 36 {
					logo.SetNRGBA(x, y, at(x, y))
				}
			}
		}
		all[name] = logo
	}
	return all
}

// Each kind of logo has contrast on each ground, of which one is the brand's color.
func TestALogoHasContrastOnAnyGround(t *testing.T) {
	grounds := map[string]func(x, y int) color.RGBA{
		"brand": func(int, int) color.RGBA { return color.RGBA{255, 102, 0, 255} },
		"white": func(int, int) color.RGBA { return color.RGBA{255, 255, 255, 255} },
		"black": func(int, int) color.RGBA { return color.RGBA{8, 8, 8, 255} },
		"gray":  func(int, int) color.RGBA { return color.RGBA{120, 120, 120, 255} },
		"half": func(x, _ int) color.RGBA {
			if x > 150 {
				return color.RGBA{250, 250, 240, 255}
			}
			return color.RGBA{20, 30, 30, 255}
		},
	}
	box := image.Rect(40, 30, 332, 172)
	for name, logo := range logos() {
		for on, ground := range grounds {
			img := image.NewRGBA(image.Rect(0, 0, 400, 200))
			for i := range 400 * 200 {
				img.SetRGBA(i%400, i/400, ground(i%400, i/400))
			}
			at := Logo(img, logo, box, false, []Color{{R: 255, G: 102}})
			if !at.In(box) || at.Dx() < 200 && at.Dy() < 100 {
				t.Errorf("%s on %s lies at %v of %v", name, on, at, box)
			}
			if name == "photo" {
				continue
			}
			// Every bar of the logo, and the gap after it.
			inset := 0
			if at.Size() != Within(logo.Rect.Size(), box, false).Size() {
				inset = platePad
			}
			bars := at.Inset(inset)
			for n := range 9 {
				middle := func(part float64) float64 {
					x := bars.Min.X + int(float64(bars.Dx())*part)
					c := img.RGBAAt(x, bars.Min.Y+bars.Dy()/2)
					return luminance(c.R, c.G, c.B)
				}
				bar, gap := middle((float64(n)*10+2.5)/100), middle((float64(n)*10+7.5)/100)
				if c := Contrast(bar, gap); c < LogoContrast {
					t.Errorf("bar %d of %s on %s has a contrast of %.2f", n, name, on, c)
				}
			}
		}
	}
	// Where there is enough contrast already, no plate hides the picture.
	img := image.NewRGBA(image.Rect(0, 0, 400, 200))
	Fill(img, img.Rect, White)
	at := Logo(img, logos()["black"], box, false, nil)
	if c := img.RGBAAt(at.Min.X+at.Dx()*75/1000, at.Min.Y+at.Dy()/2); c != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("black on white has a plate of %v", c)
	}
}

// The main color of a logo chooses its plate: a small part that stands out less does not.
func TestTheMainColorOfALogoChoosesItsPlate(t *testing.T) {
	navy, turquoise, cream := Color{R: 10, G: 30, B: 90}, Color{R: 64, G: 200, B: 190}, Color{R: 250, G: 240, B: 220}
	for name, c := range map[string]struct {
		main, accent, brand Color
		want                Color
	}{
		"navy, a little turquoise": {navy, turquoise, turquoise, White},
		"navy, a little cream":     {navy, cream, cream, White},
		"cream, a little navy":     {cream, navy, navy, plates[1]},
	} {
		logo := image.NewRGBA(image.Rect(0, 0, 100, 40))
		for i := range 100 * 40 {
			if x := i % 100; x > 4 {
				logo.SetRGBA(x, i/100, c.main.RGBA())
				if x > 86 {
					logo.SetRGBA(x, i/100, c.accent.RGBA())
				}
			}
		}
		badge := Badge(logo, 252, 132, []Color{c.brand})
		if got := badge.RGBAAt(badge.Rect.Dx()/2, 3); got != c.want.RGBA() {
			t.Errorf("%s: the plate is %v, not %v", name, got, c.want)
		}
	}
}

// An object on a plain ground is cut out, what is no object is not.
func TestObjectsAreCutOut(t *testing.T) {
	ground, red := Color{R: 230, G: 232, B: 235}, Color{R: 200, G: 30, B: 30}
	photo := image.NewNRGBA(image.Rect(0, 0, 200, 120))
	for i := range 200 * 120 {
		photo.Set(i%200, i/200, ground.RGBA())
	}
	if got := Cut(photo, ground); got != nil {
		t.Errorf("an empty photo has an object of %v", got.Rect)
	}
	object := image.Rect(60, 40, 150, 100)
	for y := object.Min.Y; y < object.Max.Y; y++ {
		for x := object.Min.X; x < object.Max.X; x++ {
			photo.Set(x, y, red.RGBA())
		}
	}
	got := Cut(photo, ground)
	if got == nil || got.Rect.Size() != object.Size() {
		t.Fatalf("the object of %v is cut out as %v", object, got)
	}
	// The ground would go on into an object that is hardly darker than it.
	pale := image.NewNRGBA(photo.Rect)
	for i := range 200 * 120 {
		c := ground
		if p := image.Pt(i%200, i/200); p.In(object) {
			c = Color{R: uint8(230 - (p.X-object.Min.X)/2), G: 232, B: 235}
		}
		pale.Set(i%200, i/200, c.RGBA())
	}
	if got := Cut(pale, ground); got != nil {
		t.Errorf("a pale object is cut out as %v", got.Rect)
	}
	brand := Color{R: 20, G: 90, B: 200}
	img := image.NewRGBA(image.Rect(0, 0, 400, 400))
	on := Stage(img, photo, image.Rect(50, 50, 350, 350), &brand)
	if c := img.RGBAAt(2, 2); c != on.RGBA() || c == ground.RGBA() || Contrast(on.Luminance(), 0) < 10 {
		t.Errorf("the ground is %v, and said to be %v", c, on)
	}
	if c := img.RGBAAt(200, 200); c != red.RGBA() {
		t.Errorf("the object is %v", c)
	}
	below := img.RGBAAt(200, 200+48+20)
	if luminance(below.R, below.G, below.B) > on.Luminance()-0.02 {
		t.Errorf("below the object there is %v, no shadow", below)
	}
}
