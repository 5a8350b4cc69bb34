package canvas

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"
)

// Fill fills a rectangle.
func Fill(img *image.RGBA, r image.Rectangle, c Color) {
	draw.Draw(img, r, image.NewUniform(c.RGBA()), image.Point{}, draw.Src)
}

// Within returns the largest rectangle of a size's proportions that fits into another. It is vertically centered,
// at the left or at the right.
func Within(size image.Point, box image.Rectangle, right bool) image.Rectangle {
	width, height := box.Dx(), size.Y*box.Dx()/max(size.X, 1)
	if height > box.Dy() {
		width, height = size.X*box.Dy()/max(size.Y, 1), box.Dy()
	}
	width, height = max(width, 1), max(height, 1)
	x := box.Min.X
	if right {
		x = box.Max.X - width
	}
	y := box.Min.Y + (box.Dy()-height)/2
	return image.Rect(x, y, x+width, y+height)
}

// Place draws a picture over a rectangle, scaled to it.
func Place(img *image.RGBA, r image.Rectangle, src image.Image) {
	xdraw.CatmullRom.Scale(img, r, src, src.Bounds(), draw.Over, nil)
}

// Stick draws a picture over another, with its corner at a point.
func Stick(img *image.RGBA, src image.Image, at image.Point) {
	draw.Draw(img, src.Bounds().Sub(src.Bounds().Min).Add(at), src, src.Bounds().Min, draw.Over)
}

// round is a mask: a rectangle with round corners.
type round struct {
	// rect is not embedded: its own method At would have no round corners.
	rect   image.Rectangle
	radius int
}

func (r round) ColorModel() color.Model { return color.AlphaModel }

func (r round) Bounds() image.Rectangle { return r.rect }

func (r round) At(x, y int) color.Color {
	inner := r.rect.Inset(r.radius)
	dx, dy := max(inner.Min.X-x, x-inner.Max.X+1, 0), max(inner.Min.Y-y, y-inner.Max.Y+1, 0)
	if dx == 0 && dy == 0 {
		return color.Opaque
	}
	over := math.Hypot(float64(dx), float64(dy)) - float64(r.radius)
	return color.Alpha{uint8(255 * min(max(0.5-over, 0), 1))}
}

// Backdrop covers a picture with another, blurred and darkened, so that the foreground stands out.
func Backdrop(img *image.RGBA, src image.Image, opacity float64) {
	// Scaling down to a few pixels and up again blurs at little cost.
	size := img.Rect.Size()
	small := image.NewRGBA(image.Rect(0, 0, max(size.X/60, 1), max(size.Y/60, 1)))
	xdraw.BiLinear.Scale(small, small.Rect, src, cover(src.Bounds(), small.Rect.Size()), draw.Src, nil)
	xdraw.CatmullRom.Scale(img, img.Rect, small, small.Rect, draw.Src, nil)
	blend(img, img.Rect, Black, opacity)
}

// cover returns the middle part of a rectangle with the proportions of a size.
func cover(r image.Rectangle, size image.Point) image.Rectangle {
	width, height := r.Dx(), r.Dx()*size.Y/size.X
	if height > r.Dy() {
		width, height = r.Dy()*size.X/size.Y, r.Dy()
	}
	x, y := r.Min.X+(r.Dx()-width)/2, r.Min.Y+(r.Dy()-height)/2
	return image.Rect(x, y, x+max(width, 1), y+max(height, 1))
}
