// Package synth generates media for the sandbox: pictures, clips and sound of any size and length. They depend only on
// a seed and a text, and need no assets.
package synth

import (
	"fmt"
	"math"
	"time"
)

// Scene describes a picture or clip.
type Scene struct {
	Width, Height int
	// Seed chooses colors and shapes.
	Seed uint32
	// Text is written over it, as far as there is room and the font has its letters.
	Text string
}

const (
	maxSide   = 4096
	maxLength = time.Hour
)

func (s Scene) check() error {
	if s.Width < 16 || s.Height < 16 || s.Width > maxSide || s.Height > maxSide {
		return fmt.Errorf("synth: %d x %d pixels", s.Width, s.Height)
	}
	return nil
}

func checkLength(d time.Duration) error {
	if d <= 0 || d > maxLength {
		return fmt.Errorf("synth: a length of %v", d)
	}
	return nil
}

// random is a sequence that depends on a seed (splitmix32).
type random uint32

func (r *random) next(n uint32) uint32 {
	*r += 0x9e3779b9
	z := uint32(*r)
	z = (z ^ z>>16) * 0x21f0aaad
	z = (z ^ z>>15) * 0x735a2d97
	return (z ^ z>>15) % n
}

// hue returns a color of a hue in degrees, with the given lightness from 0 to 1.
func hue(degrees, lightness float64) (r, g, b uint8) {
	const chroma = 0.55
	part := func(shift float64) uint8 {
		wave := math.Cos((degrees + shift) * math.Pi / 180)
		return uint8(255 * min(max(lightness*(1+chroma*wave), 0), 1))
	}
	return part(0), part(-120), part(120)
}
