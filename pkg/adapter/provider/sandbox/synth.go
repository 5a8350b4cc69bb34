package sandbox

import (
	"fmt"
	"image/color"
	"time"
)

// Scene describes a picture or clip.
type Scene struct {
	Width, Height int
	// Seed chooses what is seen, and Mood the colors. Scenes with the same Mood go together.
	Seed, Mood uint32
	// Colors are the colors to paint with, the most important first. If there are none, Mood chooses them.
	Colors []color.RGBA
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
