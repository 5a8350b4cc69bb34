// Package canvas draws backgrounds of text: colors whose contrast is known, scrims that darken a picture just enough,
// and the band and logo of a brand.
package canvas

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"
)

// Color is an opaque color in sRGB.
type Color struct{ R, G, B uint8 }

// The colors of text.
var (
	White = Color{255, 255, 255}
	Black = Color{0, 0, 0}
)

// ParseColor reads a color as #RRGGBB.
func ParseColor(s string) (Color, error) {
	if len(s) == 7 && s[0] == '#' {
		if v, err := strconv.ParseUint(s[1:], 16, 32); err == nil {
			return Color{uint8(v >> 16), uint8(v >> 8), uint8(v)}, nil
		}
	}
	return Color{}, fmt.Errorf("canvas: %q is no color of the form #RRGGBB", s)
}

// RGBA returns the color in the form of the image packages.
func (c Color) RGBA() color.RGBA { return color.RGBA{c.R, c.G, c.B, 255} }

// Luminance returns the relative luminance of WCAG 2, from 0 to 1.
func (c Color) Luminance() float64 { return luminance(c.R, c.G, c.B) }

// linear has the linear values of the 256 values of sRGB.
var linear = func() (table [256]float64) {
	for i := range table {
		if v := float64(i) / 255; v <= 0.04045 {
			table[i] = v / 12.92
		} else {
			table[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return table
}()

func luminance(r, g, b uint8) float64 {
	return 0.2126*linear[r] + 0.7152*linear[g] + 0.0722*linear[b]
}

// Contrast returns the contrast of two luminances, from 1 to 21.
func Contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// MinContrast is the least contrast of text in WCAG 2 level AA.
const MinContrast = 4.5

// On returns the color of text on a background: white or black. One of the two always has a contrast of at least 4.5.
func On(back Color) Color {
	if Contrast(back.Luminance(), 1) >= MinContrast {
		return White
	}
	return Black
}

// scrimContrast exceeds the least contrast, because scaling and compression change it.
const scrimContrast = 5.2

// Scrim darkens a picture within a rectangle so much that white text on it has the least contrast against its lightest
// pixel. Above the rectangle it fades out over the height of fade, and below it extends to the edge of the picture. A
// dark picture is darkened only a little. It returns the opacity.
func Scrim(img *image.RGBA, text image.Rectangle, fade int) float64 {
	opacity := 0.0
	limit := 1.05/scrimContrast - 0.05
	text = text.Intersect(img.Rect)
	for y := text.Min.Y; y < text.Max.Y; y++ {
		for x := text.Min.X; x < text.Max.X; x++ {
			p := img.Pix[img.PixOffset(x, y):]
			for opacity < 1 && luminance(dark(p[0], opacity), dark(p[1], opacity), dark(p[2], opacity)) > limit {
				opacity += 1.0 / 256
			}
		}
	}
	for y := max(text.Min.Y-fade, img.Rect.Min.Y); y < img.Rect.Max.Y; y++ {
		at := opacity
		if y < text.Min.Y {
			// Smooth at both ends.
			s := 1 - float64(text.Min.Y-y)/float64(fade)
			at *= s * s * (3 - 2*s)
		}
		darken(img, image.Rect(img.Rect.Min.X, y, img.Rect.Max.X, y+1), at)
	}
	return opacity
}

func dark(v uint8, opacity float64) uint8 { return uint8(float64(v) * (1 - opacity)) }

// darken draws black with an opacity over a rectangle.
func darken(img *image.RGBA, r image.Rectangle, opacity float64) {
	r = r.Intersect(img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y) : img.PixOffset(r.Max.X-1, y)+4]
		for i := 0; i < len(row); i += 4 {
			row[i], row[i+1], row[i+2] = dark(row[i], opacity), dark(row[i+1], opacity), dark(row[i+2], opacity)
		}
	}
}
