package provider

import (
	"fmt"
	"math"
)

const (
	megapixel = 1 << 20 // as providers count
	// edgeStep is the step of the edges of pictures. Edges are rounded to it.
	edgeStep    = 32
	longestEdge = 4096
	tolerance   = 0.01 // allowed deviation of the shape from the ratio
)

// ParseRatio returns the parts of an aspect ratio such as 9:16.
func ParseRatio(ratio string) (across, down float64, ok bool) {
	_, err := fmt.Sscanf(ratio, "%f:%f", &across, &down)
	return across, down, err == nil && across > 0 && down > 0
}

// ImageSize returns the size of the largest picture of an aspect ratio with at most the given number of megapixels, or
// 0 if there is none.
func ImageSize(ratio string, megapixels int) (width, height int) {
	across, down, ok := ParseRatio(ratio)
	if !ok {
		return 0, 0
	}
	for w := edgeStep; w <= longestEdge; w += edgeStep {
		h := int(math.Round(float64(w)*down/across/edgeStep)) * edgeStep
		if h == 0 || h > longestEdge || w*h > megapixels*megapixel || w*h < width*height {
			continue
		}
		if math.Abs(float64(w)/float64(h)*down/across-1) <= tolerance {
			width, height = w, h
		}
	}
	return width, height
}
