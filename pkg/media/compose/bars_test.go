package compose

import (
	"bytes"
	"image"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// The bars of a frame are where bar says, and so are those of a still: in columns with gaps of their width, around the
// middle, within the picture, and never gone.
func TestBarsHaveOnePlace(t *testing.T) {
	var levels [bands]float64
	for n := range levels {
		levels[n] = float64(n) / (bands - 1)
	}
	var quiet [bands]float64
	var out bytes.Buffer
	if err := drawBars(&out, [][bands]float64{levels, quiet}, canvas.Color{R: 1, G: 2, B: 3}); err != nil {
		t.Fatal(err)
	}
	whole := image.Rect(0, 0, barsWide, barsHigh)
	for _, of := range [][bands]float64{levels, quiet} {
		var before image.Rectangle
		at := map[image.Point]bool{}
		for n, level := range of {
			b := bar(n, level)
			if !b.In(whole) || b.Dx() != 1 || b.Dy() < 4 || b.Min.Y+b.Max.Y != barsHigh || n > 0 &&
				b.Min.X-before.Max.X != 1 {
				t.Errorf("bar %d of level %.2f is at %v after %v", n, level, b, before)
			}
			for y := b.Min.Y; y < b.Max.Y; y++ {
				at[image.Pt(b.Min.X, y)] = true
			}
			before = b
		}
		frame := out.Next(barsWide * barsHigh * 4)
		for y := range barsHigh {
			for x := range barsWide {
				pixel := frame[(y*barsWide+x)*4:][:4]
				if !bytes.Equal(pixel[:3], []byte{1, 2, 3}) || (pixel[3] == 255) != at[image.Pt(x, y)] {
					t.Fatalf("%d, %d is %v", x, y, pixel)
				}
			}
		}
	}
}
