package canvas

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/content-automation/api/pkg/media/picture"
)

// Object is a product as it lies on a ground: cut out of its photo where that succeeds, or else the photo itself.
type Object struct {
	*image.NRGBA
	// Framed reports that it is the photo itself, which has a frame with round corners.
	Framed bool
	// Plain is the color of the ground of a photo that could not be cut out though its ground has one color, or nil.
	Plain *Color
}

// ObjectOf cuts the product out of a photo, if its ground has one color or is transparent.
func ObjectOf(photo *image.NRGBA) Object {
	edge, spread, clear := edges(photo)
	if spread > plainSpread {
		return Object{NRGBA: photo, Framed: true}
	}
	if clear {
		return Object{NRGBA: Trim(photo)}
	}
	if object := Cut(photo, edge); object != nil {
		return Object{NRGBA: object}
	}
	return Object{NRGBA: photo, Framed: true, Plain: &edge}
}

// Mean returns the mean color of what is seen of the object.
func (o Object) Mean() Color {
	var sum [3]int
	n := 0
	for y := o.Rect.Min.Y; y < o.Rect.Max.Y; y += 4 {
		for x := o.Rect.Min.X; x < o.Rect.Max.X; x += 4 {
			if p := o.Pix[o.PixOffset(x, y):]; p[3] > 128 {
				sum[0], sum[1], sum[2], n = sum[0]+int(p[0]), sum[1]+int(p[1]), sum[2]+int(p[2]), n+1
			}
		}
	}
	n = max(n, 1)
	return Color{uint8(sum[0] / n), uint8(sum[1] / n), uint8(sum[2] / n)}
}

// Fit returns the largest rectangle of the object's proportions in a box, in its middle.
func (o Object) Fit(box image.Rectangle) image.Rectangle {
	size := Within(o.Rect.Size(), image.Rectangle{Max: box.Size()}, false).Size()
	at := image.Pt(box.Min.X+(box.Dx()-size.X)/2, box.Min.Y+(box.Dy()-size.Y)/2)
	return image.Rectangle{Min: at, Max: at.Add(size)}
}

// Covers reports whether any of the object, drawn at a place, lies in a rectangle.
func (o Object) Covers(at, r image.Rectangle) bool {
	in := at.Intersect(r)
	if in.Empty() {
		return false
	}
	if o.Framed {
		return true
	}
	for y := in.Min.Y; y < in.Max.Y; y += 6 {
		for x := in.Min.X; x < in.Max.X; x += 6 {
			sx := o.Rect.Min.X + (x-at.Min.X)*o.Rect.Dx()/at.Dx()
			sy := o.Rect.Min.Y + (y-at.Min.Y)*o.Rect.Dy()/at.Dy()
			if o.Pix[o.PixOffset(sx, sy)+3] > 40 {
				return true
			}
		}
	}
	return false
}

// Draw draws the object at a place of its proportions, with a shadow below it. radius is that of the corners of a
// frame.
func (o Object) Draw(img *image.RGBA, at image.Rectangle, radius int) {
	solid := picture.Scaled(o.NRGBA, at.Size())
	if !o.Framed {
		shadow(img, solid, at.Min)
		draw.Draw(img, at, solid, image.Point{}, draw.Over)
		return
	}
	mask := image.NewNRGBA(solid.Rect)
	draw.DrawMask(mask, mask.Rect, image.Black, image.Point{}, round{mask.Rect, radius}, image.Point{}, draw.Src)
	shadow(img, mask, at.Min)
	framed := image.NewRGBA(solid.Rect)
	draw.Draw(framed, framed.Rect, solid, image.Point{}, draw.Src)
	Frame(img, at, radius, framed)
}

// The measures of decorations, in pixels of a picture that is 1080 wide.
const (
	frameInset, frameWide = 36, 4
	dotEvery, dotRadius   = 90, 11
	stripeWide            = 260
)

// Decorate draws a decoration in a color over the ground of a picture: a circle, a frame, dots or stripes.
func Decorate(img *image.RGBA, kind string, c Color) {
	r := img.Rect
	k := float64(r.Dx()) / 1080
	if r.Dx() > r.Dy() {
		k = float64(r.Dy()) / 1080
	}
	part := func(n float64) int { return max(int(n*k+0.5), 1) }
	switch kind {
	case "circle":
		wide := min(r.Dx(), r.Dy()) * 108 / 100
		at := image.Rect(0, 0, wide, wide).Add(image.Pt((r.Dx()-wide)/2, (r.Dy()-wide)*11/20))
		disc(img, at, c)
	case "frame":
		outer := r.Inset(part(frameInset))
		line := part(frameWide)
		Fill(img, image.Rect(outer.Min.X, outer.Min.Y, outer.Max.X, outer.Min.Y+line), c)
		Fill(img, image.Rect(outer.Min.X, outer.Max.Y-line, outer.Max.X, outer.Max.Y), c)
		Fill(img, image.Rect(outer.Min.X, outer.Min.Y, outer.Min.X+line, outer.Max.Y), c)
		Fill(img, image.Rect(outer.Max.X-line, outer.Min.Y, outer.Max.X, outer.Max.Y), c)
	case "dots":
		every, radius := part(dotEvery), part(dotRadius)
		for row, y := 0, every/2; y < r.Max.Y; row, y = row+1, y+every {
			for x := every/2 + row%2*every/2; x < r.Max.X; x += every {
				disc(img, image.Rect(x-radius, y-radius, x+radius, y+radius), c)
			}
		}
	case "stripe":
		wide := part(stripeWide)
		for y := range r.Dy() {
			from := r.Max.X - r.Dx()/4 - y*2/3
			Fill(img, image.Rect(from, y, from+wide, y+1), c)
			Fill(img, image.Rect(from+wide*3/2, y, from+wide*2, y+1), c)
		}
	}
}

// disc fills an ellipse.
func disc(img *image.RGBA, at image.Rectangle, c Color) {
	radius := float64(at.Dx()) / 2
	cx, cy := float64(at.Min.X)+radius, float64(at.Min.Y)+radius
	seen := at.Intersect(img.Rect)
	for y := seen.Min.Y; y < seen.Max.Y; y++ {
		dy := float64(y) + 0.5 - cy
		half := math.Sqrt(max(radius*radius-dy*dy, 0))
		from, to := cx-half, cx+half
		Fill(img, image.Rect(int(math.Ceil(from)), y, int(math.Floor(to)), y+1).Intersect(img.Rect), c)
		for _, edge := range []struct {
			x     int
			share float64
		}{{int(math.Ceil(from)) - 1, math.Ceil(from) - from}, {int(math.Floor(to)), to - math.Floor(to)}} {
			if p := image.Pt(edge.x, y); p.In(img.Rect) {
				was := img.RGBAAt(p.X, p.Y)
				img.SetRGBA(p.X, p.Y, color.RGBA{mix(was.R, c.R, edge.share), mix(was.G, c.G, edge.share),
					mix(was.B, c.B, edge.share), 255})
			}
		}
	}
}

// fadeOpacity is the opacity of a fade under the text, so that the color is that of the brand and not a gray.
const fadeOpacity = 0.97

// Fade covers a picture with a color, from the rows of a text to the nearer end of the picture. Beside the text, it
// fades out: on both sides of one in the middle.
func Fade(img *image.RGBA, top, bottom, fade int, c Color) {
	tall := img.Rect.Max.Y
	switch above, below := top, tall-bottom; {
	case min(above, below) > tall/4:
	case above < below:
		top = 0
	default:
		bottom = tall
	}
	for y := max(top-fade, 0); y < min(bottom+fade, tall); y++ {
		at := fadeOpacity
		if off := max(top-y, y+1-bottom); off > 0 {
			s := 1 - float64(off)/float64(fade)
			at *= s * s * (3 - 2*s)
		}
		blend(img, image.Rect(img.Rect.Min.X, y, img.Rect.Max.X, y+1), c, at)
	}
}

// Blended returns the color of a fade on white, which is the lightest that it can be.
func Blended(c Color) Color {
	return Color{mix(255, c.R, fadeOpacity), mix(255, c.G, fadeOpacity), mix(255, c.B, fadeOpacity)}
}

// Mixed returns a color between two.
func Mixed(a, b Color, part float64) Color {
	return Color{mix(a.R, b.R, part), mix(a.G, b.G, part), mix(a.B, b.B, part)}
}

// Sized returns the size of a logo by its area, so that a long one and a square one look equally large: within bounds,
// and at least as tall as letters that can be read, where its length allows it.
func Sized(logo image.Point, area, wide, tall, least int) image.Point {
	ratio := float64(logo.X) / float64(max(logo.Y, 1))
	h := math.Sqrt(float64(area) / ratio)
	h = min(max(h, float64(least)), float64(tall))
	h = min(h, float64(wide)/ratio)
	return image.Pt(max(int(h*ratio+0.5), 1), max(int(h+0.5), 1))
}
