package fal

import "github.com/content-automation/api/pkg/adapter/provider"

// imageSize returns the size of the largest picture of an aspect ratio with at most the given number of megapixels:
// images are charged by the started megapixel.
func imageSize(ratio string, megapixels int) (map[string]any, error) {
	if _, _, ok := provider.ParseRatio(ratio); !ok {
		return nil, badInput("invalid_input", "%q is not an aspect ratio.", ratio)
	}
	width, height := provider.ImageSize(ratio, megapixels)
	if width == 0 {
		return nil, badInput("invalid_input", "The aspect ratio %q is too extreme.", ratio)
	}
	return map[string]any{"width": width, "height": height}, nil
}
