package compose

import (
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// reported returns the path of a picture of public reports.
func reported(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "media", "pictures", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func alike(a, b canvas.Color, most int) bool {
	for i, v := range []uint8{a.R, a.G, a.B} {
		if w := []uint8{b.R, b.G, b.B}[i]; int(max(v, w)-min(v, w)) > most {
			return false
		}
	}
	return true
}

// Every composition shows a picture in the colors of its profile.
func TestCompositionsHaveTheColorsOfProfiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"p3.jpg", "p3.png"} {
		path := reported(t, name)
		for what, w := range map[string]Work{
			"post":       Picture{Use: Post, Path: path},
			"whole post": Picture{Use: Post, Path: path, Whole: true},
			"slide":      Carousel{Language: "en", Slides: []Slide{{Path: path}}},
		} {
			img := b.image(b.compose(w).Files[0])
			for i, want := range []canvas.Color{{R: 200, G: 60, B: 50}, {R: 60, G: 160, B: 70}, {R: 40, G: 80, B: 190},
				{R: 230, G: 180, B: 60}, {R: 180, G: 60, B: 160}, {R: 128, G: 128, B: 128}} {
				if got := colorAt(img, 540, img.Bounds().Dy()*(2*i+1)/12); !alike(got, want, 5) {
					t.Errorf("%s of %s: the color %d is %v, and should be %v", what, name, i, got, want)
				}
			}
		}
	}
}

// What is transparent shows a ground, and no hidden color, cropped or whole, in pictures and in videos.
func TestHiddenColorsAreNotComposed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	path := reported(t, "hidden_magenta.png")
	for name, w := range map[string]Work{
		"crop":  Picture{Use: Post, Path: path},
		"whole": Picture{Use: Post, Path: path, Whole: true},
		"story": Picture{Use: Story, Path: path},
		"video": Video{Format: Portrait, Quality: Draft, Scenes: []Scene{{Picture: path, Length: time.Second}}},
	} {
		res := b.compose(w)
		img := b.image(res.Files[len(res.Files)-1]) // the poster of a video
		for y := 0; y < img.Bounds().Dy(); y += 9 {
			for x := 0; x < img.Bounds().Dx(); x += 9 {
				if c := colorAt(img, x, y); c.R > 180 && c.G < 90 && c.B > 180 {
					t.Fatalf("%s: %v at %d, %d", name, c, x, y)
				}
			}
		}
	}
}

// A strip of pixels is composed as any other picture: it is cropped before it is scaled.
func TestStripsAreComposed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"strip_140x1.png", "30000x1.png"} {
		for _, whole := range []bool{false, true} {
			began := time.Now()
			img := b.image(b.compose(Picture{Use: Post, Path: reported(t, name), Whole: whole}).Files[0])
			if img.Bounds().Size() != image.Pt(1080, 1350) {
				t.Errorf("%s: %v", name, img.Bounds())
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s took %v", name, took)
			}
		}
	}
}

// A picture that says how it is turned is drawn upright, whatever stored it.
func TestPicturesAreComposedUpright(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"turned6.png", "turned6_lossy.webp", "turned8.jpg", "turned5_alpha.webp"} {
		img := b.image(b.compose(Picture{Use: Post, Ratio: Square, Path: reported(t, name)}).Files[0])
		if c := colorAt(img, 120, 300); c.R < 200 || c.G > 60 || c.B > 60 {
			t.Errorf("%s: %v", name, c)
		}
	}
}
