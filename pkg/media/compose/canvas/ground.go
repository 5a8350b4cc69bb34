package canvas

import (
	"image"
	"image/draw"
	"math"
)

// plainSpread is the greatest deviation, of 255, of the colors at the edges of a photo on a plain ground.
const plainSpread = 9

// studio is the ground of pictures that are cut out, and Studio is a picture of it.
var (
	studio = Color{R: 242, G: 242, B: 240}
	Studio = image.NewUniform(studio.RGBA())
)

// Ground draws a picture over another, whole, with its corner at a point. Around it is a ground of a fitting color:
// the color of its edges if they have only one, or else its blurred copy. A picture that is cut out lies on a light
// ground. It returns the color of the ground, or nil if it has several.
func Ground(img *image.RGBA, src *image.NRGBA, at image.Point) *Color {
	c, spread, _ := edges(src)
	plain := &c
	if spread <= plainSpread {
		Fill(img, img.Rect, c)
	} else {
		Backdrop(img, src, 0.3)
		plain = nil
	}
	draw.Draw(img, src.Rect.Sub(src.Rect.Min).Add(at), src, src.Rect.Min, draw.Over)
	return plain
}

// edges returns the mean color of the pixels at the edges of a picture, and their deviation from it. If some of them
// are transparent, it returns the ground of pictures that are cut out, and reports that.
func edges(src *image.NRGBA) (mean Color, spread float64, clear bool) {
	var sum, squares [3]float64
	n := 0.0
	b := src.Rect
	for y := b.Min.Y; y < b.Max.Y; y++ {
		step := 1
		if y > b.Min.Y && y < b.Max.Y-1 {
			step = max(b.Dx()-1, 1)
		}
		for x := b.Min.X; x < b.Max.X; x += step {
			p := src.Pix[src.PixOffset(x, y):]
			if p[3] < 250 {
				return studio, 0, true
			}
			for i := range 3 {
				v := float64(p[i])
				sum[i], squares[i] = sum[i]+v, squares[i]+v*v
			}
			n++
		}
	}
	for i := range 3 {
		spread = max(spread, math.Sqrt(max(squares[i]/n-sum[i]/n*sum[i]/n, 0)))
	}
	return Color{uint8(sum[0]/n + 0.5), uint8(sum[1]/n + 0.5), uint8(sum[2]/n + 0.5)}, spread, false
}

// Trim returns the part of a picture that is not transparent.
func Trim(src *image.NRGBA) *image.NRGBA {
	var seen image.Rectangle
	for y := src.Rect.Min.Y; y < src.Rect.Max.Y; y++ {
		row := src.Pix[src.PixOffset(src.Rect.Min.X, y):][:4*src.Rect.Dx()]
		first, last := -1, 0
		for x := 3; x < len(row); x += 4 {
			if row[x] > 0 {
				if first < 0 {
					first = x / 4
				}
				last = x/4 + 1
			}
		}
		if first >= 0 {
			seen = seen.Union(image.Rect(first, y, last, y+1).Add(image.Pt(src.Rect.Min.X, 0)))
		}
	}
	if seen.Empty() {
		return src
	}
	return src.SubImage(seen).(*image.NRGBA)
}
