package canvas

import (
	"bytes"
	"image"
	"image/draw"
	"testing"
)

// Rectangles with round corners have the pixels of a mask, which is drawn at the edges and corners alone.
func TestRoundCornersAreThoseOfTheirMask(t *testing.T) {
	t.Parallel()
	noise := func(size image.Point) *image.RGBA {
		img := image.NewRGBA(image.Rectangle{Max: size})
		for i := range img.Pix {
			img.Pix[i] = byte(i*7+i/31) | byte(i%4/3*255) // opaque
		}
		return img
	}
	for _, r := range []image.Rectangle{image.Rect(20, 30, 250, 180), image.Rect(0, 0, 300, 200),
		image.Rect(-10, 150, 60, 260), image.Rect(40, 40, 43, 120), image.Rect(40, 40, 100, 100)} {
		for _, radius := range []int{0, 1, 2, 30, 35, 90} {
			got, want, src := noise(image.Pt(300, 200)), noise(image.Pt(300, 200)), noise(r.Size())
			for opacity := range 2 { // a picture that is half transparent, then one that is opaque
				for i := range src.Pix {
					src.Pix[i] >>= 1 - opacity
				}
				Frame(got, r, radius, src)
				draw.DrawMask(want, r, src, image.Point{}, round{r, radius}, r.Min, draw.Over)
				if !bytes.Equal(got.Pix, want.Pix) {
					t.Errorf("%v with corners of %d differs from its mask", r, radius)
				}
				src = noise(r.Size())
			}
		}
	}
}
