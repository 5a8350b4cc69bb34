package media_test

import (
	"image"
	"image/color"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// lightest returns the greatest luminance within a rectangle.
func lightest(img *image.RGBA, r image.Rectangle) (most float64) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := img.RGBAAt(x, y)
			most = max(most, canvas.Color{R: c.R, G: c.G, B: c.B}.Luminance())
		}
	}
	return most
}

// A fade has the color that it is said to have, on any picture, and leaves the picture far above the text alone.
func TestAFadeHidesAnyPicture(t *testing.T) {
	text := image.Rect(10, 60, 90, 90)
	for name, shade := range map[string]color.RGBA{"white": {255, 255, 255, 255}, "yellow": {255, 230, 0, 255},
		"dark": {20, 30, 40, 255}} {
		img := image.NewRGBA(image.Rect(0, 0, 100, 100))
		for i := range 100 * 100 {
			img.SetRGBA(i%100, i/100, shade)
		}
		tone := canvas.Deep(canvas.Color{R: 10, G: 80, B: 160})
		canvas.Fade(img, text.Min.Y, img.Rect.Max.Y, 30, tone)
		if most := lightest(img, text); canvas.Contrast(most, 1) < canvas.MinContrast ||
			most > canvas.Blended(tone).Luminance()+0.001 {
			t.Errorf("%s: white text has a contrast of %.2f", name, canvas.Contrast(most, 1))
		}
		if img.RGBAAt(50, 20) != shade {
			t.Errorf("%s: the picture is changed far above the text", name)
		}
	}
}

// The window of a picture that has most to see holds its subject.
func TestAWindowHoldsTheSubject(t *testing.T) {
	for _, at := range []image.Point{{20, 30}, {300, 60}, {150, 200}, {310, 210}} {
		img := image.NewRGBA(image.Rect(0, 0, 400, 300))
		canvas.Fill(img, img.Rect, canvas.Color{R: 120, G: 150, B: 180})
		subject := image.Rectangle{Min: at, Max: at.Add(image.Pt(70, 60))}
		canvas.Fill(img, subject, canvas.Color{R: 220, G: 60, B: 20})
		canvas.Fill(img, subject.Inset(20), canvas.Color{R: 20, G: 20, B: 20})
		x, y := canvas.Salient(img.Pix, img.Stride, img.Rect.Size()).Window(0.5, 0.5)
		window := image.Rect(int(x*400), int(y*300), int((x+0.5)*400), int((y+0.5)*300))
		if seen := subject.Intersect(window); seen.Dx()*seen.Dy() < subject.Dx()*subject.Dy()*9/10 {
			t.Errorf("of the subject at %v, the window %v holds %v", subject, window, seen)
		}
	}
	flat := image.NewRGBA(image.Rect(0, 0, 400, 300))
	x, y := canvas.Salient(flat.Pix, flat.Stride, flat.Rect.Size()).Window(0.5, 0.5)
	if x < 0.2 || x > 0.3 || y < 0.2 || y > 0.3 {
		t.Errorf("of a picture without a subject, the window begins at %.2f, %.2f", x, y)
	}
}

// Logos of all lengths look equally large, and the letters of a long one can be read.
func TestLogosAreSizedByTheirArea(t *testing.T) {
	for ratio, want := range map[int]image.Point{1: {112, 112}, 3: {257, 86}, 9: {430, 48}} {
		got := canvas.Sized(image.Pt(100*ratio, 100), 22_000, 430, 112, 44)
		if off := got.Sub(want); off.X < -2 || off.X > 2 || off.Y < -2 || off.Y > 2 {
			t.Errorf("a logo of %d : 1 has %v, not %v", ratio, got, want)
		}
	}
}

func TestTextOnAnyColorHasContrast(t *testing.T) {
	for r := 0; r < 256; r += 5 {
		for g := 0; g < 256; g += 5 {
			for b := 0; b < 256; b += 5 {
				back := canvas.Color{R: uint8(r), G: uint8(g), B: uint8(b)}
				if c := canvas.Contrast(back.Luminance(), canvas.On(back).Luminance()); c < canvas.MinContrast {
					t.Fatalf("text on %v has a contrast of %.2f", back, c)
				}
			}
		}
	}
}

func TestColors(t *testing.T) {
	if c, err := canvas.ParseColor("#12aBff"); err != nil || c != (canvas.Color{R: 0x12, G: 0xab, B: 0xff}) {
		t.Errorf("#12aBff is %v, %v", c, err)
	}
	for _, bad := range []string{"", "#12345", "1234567", "#12345g", "#+12345", "red"} {
		if c, err := canvas.ParseColor(bad); err == nil {
			t.Errorf("%q is %v", bad, c)
		}
	}
	if c := canvas.Contrast(1, 0); c != 21 {
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
		if got := canvas.Within(c.size, box, c.right); got != c.want {
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
	box, room := image.Rect(40, 30, 372, 172), canvas.LogoRoom{Area: 29_000, Wide: 300, Tall: 110, Least: 40, Pad: 16}
	for name, logo := range logos() {
		for on, ground := range grounds {
			img := image.NewRGBA(image.Rect(0, 0, 400, 200))
			for i := range 400 * 200 {
				img.SetRGBA(i%400, i/400, ground(i%400, i/400))
			}
			at := canvas.Logo(img, logo, box.Min, canvas.After, room, []canvas.Color{{R: 255, G: 102}})
			if !at.In(box) || at.Dx() < 200 && at.Dy() < 100 {
				t.Errorf("%s on %s lies at %v of %v", name, on, at, box)
			}
			if name == "photo" {
				continue
			}
			// Every bar of the logo, and the gap after it.
			inset := 0
			if at.Size() != canvas.Sized(logo.Rect.Size(), room.Area, room.Wide, room.Tall, room.Least) {
				inset = room.Pad
			}
			bars := at.Inset(inset)
			for n := range 9 {
				middle := func(part float64) float64 {
					x := bars.Min.X + int(float64(bars.Dx())*part)
					c := img.RGBAAt(x, bars.Min.Y+bars.Dy()/2)
					return canvas.Color{R: c.R, G: c.G, B: c.B}.Luminance()
				}
				bar, gap := middle((float64(n)*10+2.5)/100), middle((float64(n)*10+7.5)/100)
				if c := canvas.Contrast(bar, gap); c < canvas.LogoContrast {
					t.Errorf("bar %d of %s on %s has a contrast of %.2f", n, name, on, c)
				}
			}
		}
	}
	// Where there is enough contrast already, no plate hides the picture.
	img := image.NewRGBA(image.Rect(0, 0, 400, 200))
	canvas.Fill(img, img.Rect, canvas.White)
	at := canvas.Logo(img, logos()["black"], box.Min, canvas.After, room, nil)
	if c := img.RGBAAt(at.Min.X+at.Dx()*75/1000, at.Min.Y+at.Dy()/2); c != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("black on white has a plate of %v", c)
	}
}

// The main color of a logo chooses its plate: a small part that stands out less does not.
func TestTheMainColorOfALogoChoosesItsPlate(t *testing.T) {
	navy, turquoise, cream := canvas.Color{R: 10, G: 30, B: 90}, canvas.Color{R: 64, G: 200, B: 190},
		canvas.Color{R: 250, G: 240, B: 220}
	for name, c := range map[string]struct {
		main, accent, brand canvas.Color
		want                canvas.Color
	}{
		"navy, a little turquoise": {navy, turquoise, turquoise, canvas.White},
		"navy, a little cream":     {navy, cream, cream, canvas.White},
		"cream, a little navy":     {cream, navy, navy, canvas.Color{R: 17, G: 18, B: 22}},
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
		badge := canvas.Badge(logo, canvas.LogoRoom{Area: 22_000, Wide: 252, Tall: 100, Least: 40, Pad: 16}, 1,
			[]canvas.Color{c.brand})
		if got := badge.RGBAAt(badge.Rect.Dx()/2, 3); got != c.want.RGBA() {
			t.Errorf("%s: the plate is %v, not %v", name, got, c.want)
		}
	}
}

// An object on a plain ground is cut out, what is no object is not.
func TestObjectsAreCutOut(t *testing.T) {
	ground, red := canvas.Color{R: 230, G: 232, B: 235}, canvas.Color{R: 200, G: 30, B: 30}
	photo := image.NewNRGBA(image.Rect(0, 0, 200, 120))
	for i := range 200 * 120 {
		photo.Set(i%200, i/200, ground.RGBA())
	}
	if got := canvas.Cut(photo, ground); got != nil {
		t.Errorf("an empty photo has an object of %v", got.Rect)
	}
	object := image.Rect(60, 40, 150, 100)
	for y := object.Min.Y; y < object.Max.Y; y++ {
		for x := object.Min.X; x < object.Max.X; x++ {
			photo.Set(x, y, red.RGBA())
		}
	}
	got := canvas.Cut(photo, ground)
	if got == nil || got.Rect.Size() != object.Size() {
		t.Fatalf("the object of %v is cut out as %v", object, got)
	}
	// The ground would go on into an object that is hardly darker than it.
	pale := image.NewNRGBA(photo.Rect)
	for i := range 200 * 120 {
		c := ground
		if p := image.Pt(i%200, i/200); p.In(object) {
			c = canvas.Color{R: uint8(230 - (p.X-object.Min.X)/2), G: 232, B: 235}
		}
		pale.Set(i%200, i/200, c.RGBA())
	}
	if got := canvas.Cut(pale, ground); got != nil {
		t.Errorf("a pale object is cut out as %v", got.Rect)
	}
	on := canvas.Tint(canvas.Color{R: 20, G: 90, B: 200}, 0.16)
	img := image.NewRGBA(image.Rect(0, 0, 400, 400))
	canvas.Fill(img, img.Rect, on)
	o := canvas.ObjectOf(photo)
	at := o.Fit(image.Rect(50, 50, 350, 350))
	if o.Framed || at.Dx() != 300 || o.Covers(at, image.Rect(0, 0, 400, at.Min.Y)) || !o.Covers(at, at.Inset(40)) {
		t.Errorf("the object lies at %v, framed %t", at, o.Framed)
	}
	o.Draw(img, at, 20)
	if c := img.RGBAAt(200, 200); c != red.RGBA() {
		t.Errorf("the object is %v", c)
	}
	below := img.RGBAAt(200, at.Max.Y+12)
	if (canvas.Color{R: below.R, G: below.G, B: below.B}).Luminance() > on.Luminance()-0.02 {
		t.Errorf("below the object there is %v, no shadow", below)
	}
}
