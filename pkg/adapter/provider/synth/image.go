package synth

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// The palette of a scene: a gradient, and the colors of the shape and the text.
const (
	shades     = 64
	shapeColor = shades
	textColor  = shades + 1
)

// palette returns the colors of a scene.
func (s Scene) palette() color.Palette {
	r := random(s.Seed)
	from, turn := float64(r.next(360)), float64(40+r.next(80))
	p := make(color.Palette, 0, shades+2)
	add := func(degrees, lightness float64) {
		red, green, blue := hue(degrees, lightness)
		p = append(p, color.RGBA{red, green, blue, 255})
	}
	for i := range shades {
		at := float64(i) / (shades - 1)
		add(from+turn*at, 0.35+0.35*at)
	}
	add(from+180, 0.6)
	return append(p, color.RGBA{255, 255, 255, 255})
}

// draw paints the scene at a moment from 0 to 1, scaled down by unit: a gradient, a
// circle that moves, and the text.
func (s Scene) draw(unit int, moment float64) *image.Paletted {
	width, height := (s.Width+unit-1)/unit, (s.Height+unit-1)/unit
	img := image.NewPaletted(image.Rect(0, 0, width, height), s.palette())
	for y := range height {
		row := img.Pix[y*img.Stride:][:width]
		shade := uint8(y * shades / height)
		for x := range row {
			row[x] = shade
		}
	}
	s.circle(img, moment)
	s.write(img)
	return img
}

func (s Scene) circle(img *image.Paletted, moment float64) {
	r := random(s.Seed ^ 0xc1c1e)
	size := img.Rect.Size()
	radius := min(size.X, size.Y) * int(12+r.next(12)) / 100
	x0 := radius + int(moment*float64(max(size.X-2*radius, 1)))
	y0 := size.Y * int(55+r.next(30)) / 100
	for y := max(y0-radius, 0); y < min(y0+radius, size.Y); y++ {
		for x := max(x0-radius, 0); x < min(x0+radius, size.X); x++ {
			if dx, dy := x-x0, y-y0; dx*dx+dy*dy < radius*radius {
				img.SetColorIndex(x, y, shapeColor)
			}
		}
	}
}

// The letters of the font, in pixels.
const (
	letterWidth, letterHeight = 7, 13
	maxLines                  = 4
)

// write puts the text into the upper part of the picture, in letters as large as fit.
func (s Scene) write(img *image.Paletted) {
	size := img.Rect.Size()
	scale := max(size.X/(16*letterWidth), 1)
	lines := wrap(s.Text, size.X/(letterWidth*scale)-1)
	lines = lines[:min(len(lines), maxLines, size.Y/2/(letterHeight*scale))]
	if len(lines) == 0 {
		return
	}
	mask := image.NewAlpha(image.Rect(0, 0, size.X/scale, letterHeight*len(lines)))
	d := font.Drawer{Dst: mask, Src: image.White, Face: basicfont.Face7x13}
	for i, line := range lines {
		d.Dot = fixed.P(letterWidth/2, letterHeight*i+basicfont.Face7x13.Ascent)
		d.DrawString(line)
	}
	top := size.Y / 8
	for y := range mask.Rect.Dy() * scale {
		for x := range mask.Rect.Dx() * scale {
			if mask.AlphaAt(x/scale, y/scale).A > 127 {
				img.SetColorIndex(x, top+y, textColor)
			}
		}
	}
}

// wrap divides a text into lines of at most n letters, without those that the font lacks.
func wrap(text string, n int) (lines []string) {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r > unicode.MaxASCII || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	line := ""
	for _, word := range strings.Fields(text) {
		word = word[:min(len(word), max(n, 0))]
		switch {
		case word == "":
		case line == "":
			line = word
		case len(line)+1+len(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// PNG draws the scene.
func PNG(s Scene) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&out, s.draw(1, float64(s.Seed%100)/100)); err != nil {
		return nil, fmt.Errorf("synth: encode: %w", err)
	}
	return out.Bytes(), nil
}
