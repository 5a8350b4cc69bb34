package probe_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/probe"
)

// halves is a picture whose left half has a color, and whose right half is transparent.
func halves(w, h int) *image.NRGBA {
	all := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(all, image.Rect(0, 0, w/2, h), image.NewUniform(color.RGBA{200, 0, 0, 255}), image.Point{}, draw.Src)
	return all
}

func TestAThumbnailShowsTheWholePicture(t *testing.T) {
	for name, test := range map[string]struct{ w, h, high int }{
		"post": {1080, 1350, 500}, "photo": {4000, 3000, 300}, "just wider": {401, 401, 400}, "flat": {5000, 3, 1},
	} {
		_, small, err := probe.Look(t.Context(), picture.Of(halves(test.w, test.h), "image/png", 1, nil))
		if err != nil {
			t.Fatal(err)
		}
		got, err := jpeg.Decode(bytes.NewReader(small))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Bounds() != image.Rect(0, 0, 400, test.high) {
			t.Errorf("%s: it has the size %v", name, got.Bounds())
		}
		near := func(x int, want color.RGBA) {
			r, g, b, _ := got.At(x, test.high/2).RGBA()
			for i, v := range []uint32{r >> 8, g >> 8, b >> 8} {
				if d := int(v) - int([]uint8{want.R, want.G, want.B}[i]); d < -12 || d > 12 {
					t.Errorf("%s: at %d is %d, %d, %d, not %v", name, x, r>>8, g>>8, b>>8, want)
					return
				}
			}
		}
		near(100, color.RGBA{200, 0, 0, 255})
		near(300, color.RGBA{255, 255, 255, 255}) // transparent parts
	}
}

func TestWhichPicturesHaveNoThumbnail(t *testing.T) {
	for name, size := range map[string]image.Point{"small": {400, 800}, "a strip": {401, 2100}} {
		if _, small, err := probe.Look(t.Context(), picture.Of(image.NewGray(image.Rectangle{Max: size}), "image/png", 1,
			nil)); err != nil || small != nil {
			t.Errorf("%s: %d bytes, %v", name, len(small), err)
		}
	}
}

// The thumbnail of a photo that is stored on its side is upright.
func TestAnAcceptedPictureHasAThumbnail(t *testing.T) {
	var upright, turned bytes.Buffer
	if err := png.Encode(&upright, halves(800, 600)); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&turned, halves(800, 600), nil); err != nil {
		t.Fatal(err)
	}
	side := slices.Concat(turned.Bytes()[:2], exif(binary.BigEndian, 6), turned.Bytes()[2:])
	for name, test := range map[string]struct {
		content []byte
		high    int
	}{"png": {upright.Bytes(), 300}, "turned": {side, 533}, "webp": {[]byte("RIFF\x18\x00\x00\x00WEBPVP8L\x0c\x00\x00\x00" +
		"\x2f\x1f\xc3\xf9\x00\x28\x60\x41\x0a\xd4\xff\x00"), 500}} {
		got, err := read(test.content)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(got.Thumbnail))
		if err != nil || size.Width != 400 || size.Height != test.high {
			t.Errorf("%s: %d x %d, %v", name, size.Width, size.Height, err)
		}
	}
}
