package canvas

import (
	"image"
	"image/draw"

	xdraw "golang.org/x/image/draw"
)

const (
	// cutTolerance is the greatest deviation of a channel, of 255, of a pixel of a plain ground.
	cutTolerance = 16
	// sureContrast is the least deviation that a pixel has a little within the outline of an object. weakOutline is the
	// greatest part of the outline that may have less: there, the ground would go on into the object.
	sureContrast, inwards = 34, 3
	weakOutline           = 0.06
	// leastCut and mostCut bound the part of a photo that is its object. Beyond them, the ground was not found.
	leastCut, mostCut = 0.03, 0.9
	// enlarge is the greatest factor by which an object that was cut out becomes larger.
	enlarge     = 1.6
	frameRound  = 28
	shadowFade  = 26 // of the distance over which a shadow fades, in pixels
	shadowDown  = 18
	shadowPower = 0.32
)

// Stage draws a photo whole over a ground of one color, within a box, and returns the color. What can be cut out, as
// the photo has a plain ground or a transparent one, lies on the ground with a shadow. Another photo is in a frame with
// round corners. The ground is a light tint of the brand's color. Without one, it is that of the photo's edges if they
// have one color, or else a tint of the photo.
func Stage(img *image.RGBA, photo *image.NRGBA, box image.Rectangle, brand *Color) Color {
	edge, spread, clear := edges(photo)
	plain := spread <= plainSpread
	if brand == nil && plain {
		Fill(img, img.Rect, edge)
		draw.Draw(img, photo.Rect.Sub(photo.Rect.Min).Add(centered(photo.Rect, box)), photo, photo.Rect.Min, draw.Over)
		return edge
	}
	ground := Tint(meanOf(photo), 0.3)
	if brand != nil {
		ground = Tint(*brand, 0.16)
	}
	Fill(img, img.Rect, ground)
	if plain {
		object := Trim(photo)
		if !clear {
			object = Cut(photo, edge)
		}
		if object != nil {
			size := Within(object.Rect.Size(), box, false)
			if most := int(float64(object.Rect.Dx()) * enlarge); size.Dx() > most {
				size = image.Rect(0, 0, most, int(float64(object.Rect.Dy())*enlarge))
			}
			at := size.Sub(size.Min).Add(centered(size, box))
			solid := image.NewNRGBA(at.Sub(at.Min))
			xdraw.CatmullRom.Scale(solid, solid.Rect, object, object.Rect, draw.Src, nil)
			shadow(img, solid, at.Min)
			draw.Draw(img, at, solid, image.Point{}, draw.Over)
			return ground
		}
	}
	at := photo.Rect.Sub(photo.Rect.Min).Add(centered(photo.Rect, box))
	mask := image.NewNRGBA(at.Sub(at.Min))
	draw.DrawMask(mask, mask.Rect, image.Black, image.Point{}, round{mask.Rect, frameRound}, image.Point{}, draw.Src)
	shadow(img, mask, at.Min)
	draw.DrawMask(img, at, photo, photo.Rect.Min, round{at, frameRound}, at.Min, draw.Over)
	return ground
}

// centered returns the corner of a rectangle in the middle of a box.
func centered(r, box image.Rectangle) image.Point {
	return image.Pt(box.Min.X+(box.Dx()-r.Dx())/2, box.Min.Y+(box.Dy()-r.Dy())/2)
}

func meanOf(photo *image.NRGBA) Color {
	img := image.NewRGBA(photo.Rect)
	Fill(img, img.Rect, White)
	draw.Draw(img, img.Rect, photo, photo.Rect.Min, draw.Over)
	return Mean(img, img.Rect)
}

// Cut returns the object of a photo with a plain ground: without the pixels of the ground's color that are joined with
// the edges. It returns nil if that leaves hardly anything, or nearly all, or if the object is as light as the ground.
func Cut(photo *image.NRGBA, ground Color) *image.NRGBA {
	b := photo.Rect
	width, height := b.Dx(), b.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(out, out.Rect, photo, b.Min, draw.Src)
	off := func(i int) int {
		p := out.Pix[4*i:]
		d := 0
		for n, v := range []uint8{ground.R, ground.G, ground.B} {
			d = max(d, int(max(p[n], v)-min(p[n], v)))
		}
		return d
	}
	seen := make([]bool, width*height)
	var next []int
	visit := func(i int) {
		if !seen[i] && off(i) <= cutTolerance {
			seen[i], next = true, append(next, i)
		}
	}
	for x := range width {
		visit(x)
		visit((height-1)*width + x)
	}
	for y := range height {
		visit(y * width)
		visit(y*width + width - 1)
	}
	cleared := 0
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		cleared++
		x, y := i%width, i/width
		if x > 0 {
			visit(i - 1)
		}
		if x < width-1 {
			visit(i + 1)
		}
		if y > 0 {
			visit(i - width)
		}
		if y < height-1 {
			visit(i + width)
		}
	}
	kept := 1 - float64(cleared)/float64(width*height)
	if kept < leastCut || kept > mostCut || weak(seen, width, off) > weakOutline {
		return nil
	}
	soften(out, seen)
	return Trim(out)
}

// weak returns the part of the outline of an object within which the pixels hardly differ from the ground.
func weak(ground []bool, width int, off func(int) int) float64 {
	weak, all := 0, 0
	for i, is := range ground {
		if !is {
			continue
		}
		for _, step := range []int{-1, 1, -width, width} {
			if n := i + step; n < 0 || n >= len(ground) || ground[n] {
				continue
			}
			all++
			most := 0
			for deep, n := 0, i+step; deep < inwards && n >= 0 && n < len(ground) && !ground[n]; deep++ {
				most, n = max(most, off(n)), n+step
			}
			if most < sureContrast {
				weak++
			}
		}
	}
	return float64(weak) / float64(max(all, 1))
}

// soften makes the ground transparent, and the pixels beside it half transparent: they are mixed with its color.
func soften(img *image.NRGBA, ground []bool) {
	width := img.Rect.Dx()
	for i, is := range ground {
		if is {
			img.Pix[4*i+3] = 0
			continue
		}
		for _, n := range []int{i - 1, i + 1, i - width, i + width} {
			if n >= 0 && n < len(ground) && ground[n] {
				img.Pix[4*i+3] = min(img.Pix[4*i+3], 110)
			}
		}
	}
}

// shadow darkens a picture below an object that will lie at a point: its outline, blurred and moved down.
func shadow(img *image.RGBA, object *image.NRGBA, at image.Point) {
	const coarse = 8
	margin := 2 * shadowFade
	size := object.Rect.Size().Add(image.Pt(2*margin, 2*margin))
	small := image.NewAlpha(image.Rect(0, 0, max(size.X/coarse, 1), max(size.Y/coarse, 1)))
	inner := image.Rect(margin/coarse, margin/coarse, small.Rect.Dx()-margin/coarse, small.Rect.Dy()-margin/coarse)
	xdraw.ApproxBiLinear.Scale(small, inner, object, object.Rect, draw.Src, nil)
	for range 2 {
		small = blurred(small)
	}
	large := image.NewAlpha(image.Rectangle{Max: size})
	xdraw.BiLinear.Scale(large, large.Rect, small, small.Rect, draw.Src, nil)
	for i, v := range large.Pix {
		large.Pix[i] = uint8(float64(v) * shadowPower)
	}
	to := large.Rect.Add(at).Sub(image.Pt(margin, margin-shadowDown))
	draw.DrawMask(img, to, image.Black, image.Point{}, large, image.Point{}, draw.Over)
}

// blurred returns the means of the pixels around each.
func blurred(a *image.Alpha) *image.Alpha {
	out := image.NewAlpha(a.Rect)
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			sum, n := 0, 0
			for dy := -2; dy <= 2; dy++ {
				for dx := -2; dx <= 2; dx++ {
					if p := image.Pt(x+dx, y+dy); p.In(a.Rect) {
						sum += int(a.Pix[a.PixOffset(p.X, p.Y)])
					}
					n++
				}
			}
			out.Pix[out.PixOffset(x, y)] = uint8(sum / n)
		}
	}
	return out
}
