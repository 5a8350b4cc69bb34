// Package canvas draws backgrounds of text: colors whose contrast is known, scrims that darken a picture just enough,
// and the band and logo of a brand. ParseColor reads a color; the other functions make colors and draw shapes.
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

// Scrim darkens a picture towards a tint, which must be dark, within a rectangle: each row only so much that white text
// has the least contrast against its lightest pixel. It fades in over the height of fade above the rows that need it,
// and extends to the bottom of the picture. A dark picture is hardly darkened. It returns the greatest opacity.
func Scrim(img *image.RGBA, text image.Rectangle, fade int, tint Color) (most float64) {
	text = text.Intersect(img.Rect)
	needs := make([]float64, img.Rect.Max.Y)
	for y := text.Min.Y; y < text.Max.Y; y++ {
		needs[y] = needed(img, text.Min.X, text.Max.X, y, tint)
		most = max(most, needs[y])
	}
	for y := max(text.Min.Y-fade, img.Rect.Min.Y); y < img.Rect.Max.Y; y++ {
		at := 0.0
		for from := text.Min.Y; from < min(y+fade, text.Max.Y); from++ {
			s := min(1-float64(from-y)/float64(fade), 1) // smooth at both ends
			at = max(at, needs[from]*s*s*(3-2*s))
		}
		blend(img, image.Rect(img.Rect.Min.X, y, img.Rect.Max.X, y+1), tint, at)
	}
	return most
}

// needed returns the opacity of a tint at which white text has enough contrast with a row.
func needed(img *image.RGBA, from, to, y int, tint Color) (opacity float64) {
	limit := 1.05/scrimContrast - 0.05
	for x := from; x < to; x++ {
		p := img.Pix[img.PixOffset(x, y):]
		for opacity < 1 && luminance(mix(p[0], tint.R, opacity), mix(p[1], tint.G, opacity), mix(p[2], tint.B,
			opacity)) > limit {
			opacity += 1.0 / 256
		}
	}
	return opacity
}

// Darker returns a color of the same hue that is dark enough for letters of a lighter color to have a contrast on it.
func Darker(c Color, contrast float64, letters Color) Color {
	for part := 1.0; ; part -= 0.02 {
		d := Color{mix(c.R, 0, 1-part), mix(c.G, 0, 1-part), mix(c.B, 0, 1-part)}
		if Contrast(d.Luminance(), letters.Luminance()) >= contrast || part <= 0 {
			return d
		}
	}
}

// Tint returns a light color of the same hue, for grounds: a part of it on white.
func Tint(c Color, part float64) Color {
	return Color{mix(255, c.R, part), mix(255, c.G, part), mix(255, c.B, part)}
}

// Deep returns a color of the same hue that is dark enough for white text.
func Deep(c Color) Color {
	for part := 1.0; ; part -= 0.02 {
		d := Color{mix(c.R, 0, 1-part), mix(c.G, 0, 1-part), mix(c.B, 0, 1-part)}
		if d.Luminance() <= 0.03 || part <= 0 {
			return d
		}
	}
}

// Mean returns the mean color of a rectangle of a picture.
func Mean(img *image.RGBA, r image.Rectangle) Color {
	r = r.Intersect(img.Rect)
	var sum [3]int
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y += 4 {
		for x := r.Min.X; x < r.Max.X; x += 4 {
			p := img.Pix[img.PixOffset(x, y):]
			for i := range sum {
				sum[i] += int(p[i])
			}
			n++
		}
	}
	n = max(n, 1)
	return Color{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n)}
}

func mix(v, to uint8, opacity float64) uint8 {
	return uint8(float64(v)*(1-opacity) + float64(to)*opacity)
}

// blend draws a color with an opacity over a rectangle.
func blend(img *image.RGBA, r image.Rectangle, c Color, opacity float64) {
	r = r.Intersect(img.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := img.Pix[img.PixOffset(r.Min.X, y) : img.PixOffset(r.Max.X-1, y)+4]
		for i := 0; i < len(row); i += 4 {
			row[i], row[i+1], row[i+2] = mix(row[i], c.R, opacity), mix(row[i+1], c.G, opacity), mix(row[i+2], c.B,
				opacity)
		}
	}
}
