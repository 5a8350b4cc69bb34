package composer

import (
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"

	"github.com/content-automation/api/pkg/generate"
)

// drawn has what draws the pictures of samples, by their keys.
var drawn = map[string]func(x, y float64) color.RGBA{
	generate.SamplePhoto.Key: landscape, generate.SampleProduct.Key: bottle,
}

// The width and height of the pictures that samples show.
const sampleWide, sampleTall = 1080, 1350

// writeSample writes a picture that is drawn point by point. The points go from 0 to 1.
func writeSample(path string, draw func(x, y float64) color.RGBA) error {
	picture := image.NewRGBA(image.Rect(0, 0, sampleWide, sampleTall))
	for y := range sampleTall {
		for x := range sampleWide {
			picture.SetRGBA(x, y, draw(float64(x)/sampleWide, float64(y)/sampleTall))
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("stored: %w", err)
	}
	if err = jpeg.Encode(file, picture, &jpeg.Options{Quality: 92}); err != nil {
		file.Close()
		return fmt.Errorf("stored: sample: %w", err)
	}
	return file.Close()
}

// landscape is the photo: hills under an evening sky.
func landscape(x, y float64) color.RGBA {
	if math.Hypot((x-0.68)*0.8, y-0.3) < 0.075 {
		return color.RGBA{255, 238, 205, 255}
	}
	at := blend(color.RGBA{92, 124, 168, 255}, color.RGBA{244, 190, 150, 255}, y/0.6)
	for i, hill := range []struct{ top, high, wide, shift float64 }{{0.5, 0.06, 5, 0.4}, {0.62, 0.08, 4, 2.1},
		{0.78, 0.07, 6, 4}} {
		if y > hill.top+hill.high*math.Sin(hill.wide*x+hill.shift) {
			at = blend(color.RGBA{96, 118, 112, 255}, color.RGBA{34, 56, 58, 255}, float64(i)/2+(y-hill.top)/3)
		}
	}
	return at
}

// bottle is a bottle on white, as photos of products are.
func bottle(x, y float64) color.RGBA {
	half := 0.0 // of its width
	switch {
	case y > 0.08 && y < 0.15: // the cap
		half = 0.085
	case y >= 0.15 && y < 0.26: // the neck
		half = 0.07
	case y >= 0.26 && y < 0.38:
		half = 0.07 + 0.19*math.Sin((y-0.26)/0.12*math.Pi/2)
	case y >= 0.38 && y < 0.93:
		half = 0.26
	}
	off := math.Abs(x - 0.5)
	if off >= half {
		return color.RGBA{255, 255, 255, 255}
	}
	at := color.RGBA{38, 110, 96, 255}
	switch {
	case y < 0.15:
		at = color.RGBA{40, 40, 44, 255}
	case y > 0.52 && y < 0.78:
		at = color.RGBA{240, 232, 214, 255}
	}
	return blend(at, color.RGBA{14, 24, 26, 255}, 0.75*math.Pow((x-0.5+half)/(2*half), 3))
}

// blend returns the color at a part, from 0 to 1, of the way between two.
func blend(a, b color.RGBA, part float64) color.RGBA {
	part = min(max(part, 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*part) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
