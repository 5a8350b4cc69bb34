package compose

import (
	"fmt"
	"image"
	"image/color"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/testdata/breadth"
)

// corners returns a photo of a size with a marker in each corner, on a gray of two kinds, so that its ground is
// blurred.
func corners(width, height int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	mark := min(width, height) / 8
	for y := range height {
		for x := range width {
			shade := uint8(70)
			if x > width/2 {
				shade = 130
			}
			c := color.NRGBA{shade, shade, shade, 255}
			if (x < mark || x >= width-mark) && (y < mark || y >= height-mark) {
				c = color.NRGBA{20, 230, 40, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return sample.PNG(img)
}

// marks returns the number of corners of the photo that are seen: separate groups of green pixels, each with at least a
// few.
func marks(img image.Image, scale int) int {
	const cell = 24
	size := img.Bounds().Size()
	wide := size.X*scale/cell + 1
	cells := map[int]int{}
	for y := range size.Y {
		for x := range size.X {
			c := colorAt(img, x, y)
			if c.G > 190 && int(c.G) > int(c.R)+110 && int(c.G) > int(c.B)+110 { // on the ground, they are darker
				cells[y*scale/cell*wide+x*scale/cell] += scale * scale
			}
		}
	}
	groups := 0
	var visit func(at int)
	visit = func(at int) {
		if cells[at] < cell*cell/2 {
			return
		}
		delete(cells, at)
		for _, next := range []int{at - 1, at + 1, at - wide, at + wide} {
			visit(next)
		}
	}
	for at, n := range cells {
		if n >= cell*cell/2 {
			if _, ok := cells[at]; ok {
				groups++
				visit(at)
			}
		}
	}
	return groups
}

func offered() *Offer {
	return &Offer{Price: "103,20 €", Was: "129 €", Promotion: "Sommerschlussverkauf", Shop: "Schuhe", Action: "Kaufen"}
}

func TestProductsAreShownWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, size := range breadth.First(2, image.Pt(1600, 900), image.Pt(900, 1600), image.Pt(1200, 900),
		image.Pt(900, 900)) {
		photo := b.part(fmt.Sprintf("photo%dx%d.png", size.X, size.Y), corners(size.X, size.Y))
		for name, w := range map[string]Work{
			"post": Picture{Use: Post, Path: photo, Whole: true, Offer: offered(), Language: "de"},
			"story": Picture{Use: Story, Path: photo, Whole: true, Text: "Heute neu", Offer: offered(),
				Brand: b.brand(), Language: "de"},
			"carousel": Carousel{Slides: []Slide{{Path: photo, Heading: "Ein Schuh aus Netzen", Whole: true},
				{Path: photo, Heading: "Er hält", Whole: true}}, Offer: offered(), Language: "de", Brand: b.brand()},
		} {
			for i, f := range b.compose(w).Files {
				if got := marks(b.image(f), 1); got != 4 {
					t.Errorf("%s %d: %d corners of a photo of %v are seen", name, i+1, got, size)
				}
			}
		}
	}
	for _, format := range []Format{Portrait, Landscape} {
		photo := b.part("photo.png", corners(1200, 900))
		v := Video{Format: format, Quality: Full, scale: 2, Language: "de", Offer: offered(), Brand: b.brand(),
			Scenes: []Scene{{Picture: photo, Whole: true, Length: time.Second},
				{Picture: photo, Whole: true, Length: time.Second}}}
		width, height := v.size()
		res := b.compose(v)
		for frame, p := range b.framesOf(b.find(res, media.Final).Path, width, height, 1, 28, 31, 58) {
			img := image.NewRGBA(image.Rect(0, 0, width, height))
			for i := range width * height {
				img.SetRGBA(i%width, i/width, color.RGBA{p[i*3], p[i*3+1], p[i*3+2], 255})
			}
			if got := marks(img, 2); got != 4 {
				t.Errorf("%s: %d corners of the photo are seen in frame %d", format, got, frame)
			}
		}
	}
}

// The ground of a photo from a studio is the photo's own, and what is cut out lies on a light one.
func TestGroundsFitTheirPhotos(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for scene, want := range map[sample.Scene]uint8{sample.Studio: 250, sample.Cut: 241} {
		photo := b.part(string(scene)+".png", sample.Product(800, 450, scene))
		img := b.image(b.find(b.compose(Picture{Use: Post, Path: photo, Whole: true}), media.Final))
		for _, at := range []image.Point{{5, 5}, {1070, 1340}, {1070, 20}} {
			if c := colorAt(img, at.X, at.Y); max(c.R, want)-min(c.R, want) > 4 {
				t.Errorf("%s: the ground at %v is %v", scene, at, c)
			}
		}
	}
}

// Without an offer, nothing is written over the picture, and texts that do not fit are left out of it.
func TestOffersAreWrittenOverPictures(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dark := b.plain("dark", color.RGBA{10, 10, 10, 255})
	post := func(o *Offer) image.Image {
		return b.image(b.find(b.compose(Picture{Use: Post, Path: dark, Whole: true, Offer: o, Language: "de",
			Brand: &Brand{Theme: "minimal"}}),
			media.Final))
	}
	badge := image.Rect(0, 0, wide, slideTall-bandTall-8)
	if got := letters(post(nil), badge); !got.Empty() {
		t.Errorf("without an offer, something is written at %v", got)
	}
	full, price := letters(post(offered()), badge), letters(post(&Offer{Price: "103,20 €"}), badge)
	if price.Empty() || full.Dy() < price.Dy()+40 || full.Max.X > wide-slideInset {
		t.Errorf("the price is written at %v, and the whole offer at %v", price, full)
	}
	odd := offered()
	odd.Promotion, odd.Action = "বাংলা ভাষা", "বাংলা"
	if got := letters(post(odd), badge); got.Empty() {
		t.Error("a promotion without a font removes the price")
	}
	if got := letters(post(offered()), image.Rect(600, slideTall-bandTall+20, wide, slideTall-20)); got.Dx() < 100 {
		t.Errorf("the call to action is at %v", got)
	}
}
