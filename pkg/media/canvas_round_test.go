package media_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// round is a mask: a rectangle with round corners.
type round struct {
	rect   image.Rectangle
	radius int
}

func (r round) ColorModel() color.Model { return color.AlphaModel }

func (r round) Bounds() image.Rectangle { return r.rect }

func (r round) At(x, y int) color.Color {
	inner := r.rect.Inset(r.radius)
	dx, dy := max(inner.Min.X-x, x-inner.Max.X+1, 0), max(inner.Min.Y-y, y-inner.Max.Y+1, 0)
	if dx == 0 && dy == 0 {
		return color.Opaque
	}
	return color.Alpha{uint8(255 * min(max(0.5-math.Hypot(float64(dx), float64(dy))+float64(r.radius), 0), 1))}
}

// Rectangles with round corners have the pixels of a mask, which is drawn at the edges and corners alone.
func TestRoundCornersAreThoseOfTheirMask(t *testing.T) {
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
				canvas.Frame(got, r, radius, src)
				draw.DrawMask(want, r, src, image.Point{}, round{r, radius}, r.Min, draw.Over)
				if !bytes.Equal(got.Pix, want.Pix) {
					t.Errorf("%v with corners of %d differs from its mask", r, radius)
				}
				src = noise(r.Size())
			}
		}
	}
}
