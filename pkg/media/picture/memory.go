package picture

import (
	"context"
	"image"
	"image/color"
)

// memory returns the rows of a picture that is in memory. Those of a lossy WebP have the range of video, which the
// decoder does not say (golang/go#40173).
func memory(img image.Image, webp bool) source {
	s := source{kind: rgba}
	var fill func(row []byte, y int, part image.Rectangle)
	switch img := img.(type) {
	case *image.Gray:
		s.kind = gray
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	case *image.CMYK:
		s.kind = inks
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	case *image.YCbCr:
		if s.kind = ycc; webp {
			s.kind = studio
		}
		fill = func(row []byte, y int, part image.Rectangle) { lumaRow(row, img, y, part) }
	case *image.NYCbCrA: // a lossy WebP
		fill = func(row []byte, y int, part image.Rectangle) {
			colors := make([]byte, 3*part.Dx())
			lumaRow(colors, &img.YCbCr, y, part)
			for i := range part.Dx() {
				r, g, b := ofStudio(float32(colors[3*i]), float32(colors[3*i+1]), float32(colors[3*i+2]))
				copy(row[4*i:], []byte{r, g, b, img.A[img.AOffset(part.Min.X+i, y)]})
			}
		}
	case *image.NRGBA:
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	default:
		if isGray(img) {
			s.kind = grayA
		}
		fill = func(row []byte, y int, part image.Rectangle) {
			for i := range part.Dx() {
				c := color.NRGBAModel.Convert(img.At(part.Min.X+i, y)).(color.NRGBA)
				copy(row[4*i:], []byte{c.R, c.G, c.B, c.A})
			}
		}
	}
	n := s.kind.values()
	s.rows = func(ctx context.Context, part image.Rectangle, f func(row []byte) error) error {
		part = part.Add(img.Bounds().Min)
		row := make([]byte, n*part.Dx())
		for y := part.Min.Y; y < part.Max.Y; y++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			fill(row, y, part)
			if err := f(row); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}

func isGray(img image.Image) bool {
	_, is := img.(*image.Gray16)
	return is
}

// lumaRow writes a row of luma and color differences.
func lumaRow(row []byte, img *image.YCbCr, y int, part image.Rectangle) {
	luma := img.Y[img.YOffset(part.Min.X, y):]
	for i := range part.Dx() {
		c := img.COffset(part.Min.X+i, y)
		p := row[3*i:][:3:3]
		p[0], p[1], p[2] = luma[i], img.Cb[c], img.Cr[c]
	}
}
