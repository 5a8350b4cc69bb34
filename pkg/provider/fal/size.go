package fal

import (
	"fmt"
	"math"
)

const (
	megapixel = 1 << 20 // as fal charges
	// Every model takes edges in steps of this; what is in between is rounded.
	edgeStep  = 32
	longest   = 4096
	tolerance = 0.01 // how far the shape may be from the ratio
)

// imageSize returns the largest picture of an aspect ratio that has at most so many
// megapixels: images are charged by the started megapixel.
func imageSize(ratio string, megapixels int) (map[string]any, error) {
	var across, down float64
	if _, err := fmt.Sscanf(ratio, "%f:%f", &across, &down); err != nil || across <= 0 || down <= 0 {
		return nil, refuse("invalid_input", "%q is not an aspect ratio.", ratio)
	}
	var width, height int
	for w := edgeStep; w <= longest; w += edgeStep {
		h := int(math.Round(float64(w)*down/across/edgeStep)) * edgeStep
		if h == 0 || h > longest || w*h > megapixels*megapixel || w*h < width*height {
			continue
		}
		if math.Abs(float64(w)/float64(h)*down/across-1) <= tolerance {
			width, height = w, h
		}
	}
	if width == 0 {
		return nil, refuse("invalid_input", "The aspect ratio %q is too extreme.", ratio)
	}
	return map[string]any{"width": width, "height": height}, nil
}
