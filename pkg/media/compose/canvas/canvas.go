// Package canvas draws backgrounds of text: colors whose contrast is known, scrims that darken a picture just enough,
// and the band and logo of a brand. ParseColor reads a color; the other functions make colors and draw shapes.
package canvas

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strconv"

	xdraw "golang.org/x/image/draw"
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

// Fill draws a rectangle in one color.
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

// plainSpread is the greatest deviation, of 255, of the colors at the edges of a photo on a plain ground.
const plainSpread = 9

// StudioColor is the ground of pictures that are cut out, and Studio is a picture of it.
var (
	StudioColor = Color{R: 242, G: 242, B: 240}
	Studio      = image.NewUniform(StudioColor.RGBA())
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
				return StudioColor, 0, true
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

const (
	// cutTolerance is the greatest deviation of a channel, of 255, of a pixel of a plain ground.
	cutTolerance = 16
	// sureContrast is the least deviation that a pixel has a little within the outline of an object. weakOutline is the
	// greatest part of the outline that may have less: there, the ground would go on into the object.
	sureContrast, inwards = 34, 3
	weakOutline           = 0.06
	// leastCut and mostCut bound the part of a photo that is its object. Beyond them, the ground was not found.
	leastCut, mostCut = 0.03, 0.9
	shadowFade        = 26 // of the distance over which a shadow fades, in pixels
	shadowDown        = 18
	shadowPower       = 0.32
)

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
func shadow(img *image.RGBA, object image.Image, at image.Point) {
	const coarse = 8
	margin := 2 * shadowFade
	size := object.Bounds().Size().Add(image.Pt(2*margin, 2*margin))
	small := image.NewAlpha(image.Rect(0, 0, max(size.X/coarse, 1), max(size.Y/coarse, 1)))
	inner := image.Rect(margin/coarse, margin/coarse, small.Rect.Dx()-margin/coarse, small.Rect.Dy()-margin/coarse)
	xdraw.ApproxBiLinear.Scale(small, inner, object, object.Bounds(), draw.Src, nil)
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

// LogoContrast is the least contrast of a logo with its ground: that of WCAG 2 for graphics.
const LogoContrast = 3.0

// plates are the colors of the plate behind a logo besides the given ones. Gray has a contrast of 4.5 with both black
// and white.
var plates = []Color{White, {R: 17, G: 18, B: 22}, {R: 118, G: 118, B: 118}}

// ignored is the share of a logo's pixels, and of the pixels of its ground, that may have less contrast, such as
// blurred edges.
const ignored = 0.04

// luminances returns those of the visible pixels of a picture, in order.
func luminances(img *image.RGBA) (all []float64, opaque bool) {
	b, visible := img.Rect, 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		row := img.Pix[img.PixOffset(b.Min.X, y):][:4*b.Dx()]
		for ; len(row) > 0; row = row[4:] {
			a := uint32(row[3])
			if a > 0 {
				visible++
			}
			if a >= 128 {
				part := func(v uint8) uint8 { return uint8(uint32(v) * 255 / a) }
				all = append(all, luminance(part(row[0]), part(row[1]), part(row[2])))
			}
		}
	}
	slices.Sort(all)
	return all, visible > b.Dx()*b.Dy()*98/100
}

// worst returns the contrast that all but a small part of a logo has with all but a small part of a ground.
func worst(logo, ground []float64) float64 {
	logo, ground = inner(logo), inner(ground)
	if len(logo) == 0 || len(ground) == 0 {
		return 21
	}
	// Both are in order: the nearest values of the two decide.
	least := 21.0
	for _, l := range logo {
		at, _ := slices.BinarySearch(ground, l)
		for _, near := range []int{at - 1, at} {
			if near >= 0 && near < len(ground) {
				least = min(least, Contrast(l, ground[near]))
			}
		}
	}
	return least
}

// inner leaves out the values that are rarest: those that hardly any other value is near.
func inner(all []float64) (kept []float64) {
	const buckets = 32
	var count [buckets]int
	bucket := func(l float64) int { return min(int((Contrast(l, 0)-1)/20*buckets), buckets-1) }
	for _, l := range all {
		count[bucket(l)]++
	}
	for _, l := range all {
		if float64(count[bucket(l)]) > ignored*float64(len(all)) {
			kept = append(kept, l)
		}
	}
	return kept
}

// lost is the contrast below which a part of a logo cannot be told from its plate, and maxLost the greatest share of a
// logo's pixels that may be lost on a plate that its main color chooses.
const lost, maxLost = 1.4, 0.2

// plateOf returns the color of the plate of a logo: white for a dark one and dark for a light one, by its main color.
// If that loses a large part of it, the plate is the one on which its worst part has the most contrast.
func plateOf(logo []float64, colors []Color) Color {
	if len(logo) == 0 {
		return plates[0]
	}
	plate := plates[1]
	if main := logo[len(logo)/2]; Contrast(main, 1) >= LogoContrast {
		plate = plates[0]
	}
	n := 0
	for _, l := range logo {
		if Contrast(l, plate.Luminance()) < lost {
			n++
		}
	}
	if float64(n) <= maxLost*float64(len(logo)) {
		return plate
	}
	return safest(logo, colors)
}

// safest returns the color of the plate on which the worst part of a logo has the most contrast. The colors of the
// brand come first if they have enough.
func safest(logo []float64, colors []Color) Color {
	best, most := plates[0], 0.0
	for i, c := range slices.Concat(plates[:2], colors, plates[2:]) {
		contrast := worst(logo, []float64{c.Luminance()})
		if contrast >= LogoContrast && i < 2+len(colors) {
			contrast += 21 // gray is for logos with which nothing else has enough contrast
		}
		if contrast > most {
			best, most = c, contrast
		}
	}
	return best
}

// LogoRoom bounds the size of a logo: its area, its width and height, and the least height of its letters. Pad is the
// margin of its plate.
type LogoRoom struct{ Area, Wide, Tall, Least, Pad int }

// Scaled returns the room with all lengths multiplied by a factor.
func (r LogoRoom) Scaled(k float64) LogoRoom {
	part := func(n int, k float64) int { return max(int(float64(n)*k), 1) }
	return LogoRoom{part(r.Area, k*k), part(r.Wide, k), part(r.Tall, k), part(r.Least, k), part(r.Pad, k)}
}

// Badge returns a logo in a room, on a plate that contrasts with all parts of it. The logo keeps its proportions. A
// picture without transparency needs no plate. k is the factor of lengths.
func Badge(logo image.Image, room LogoRoom, k float64, colors []Color) *image.RGBA {
	room = room.Scaled(k)
	size := Sized(logo.Bounds().Size(), room.Area, room.Wide, room.Tall, room.Least)
	pad := room.Pad
	at := image.Rectangle{Max: size}.Add(image.Pt(pad, pad))
	img := image.NewRGBA(image.Rect(0, 0, at.Dx()+2*pad, at.Dy()+2*pad))
	mark := image.NewRGBA(at)
	Place(mark, at, logo)
	seen, opaque := luminances(mark)
	if !opaque {
		Round(img, img.Rect, pad, plateOf(seen, colors))
	}
	draw.Draw(img, at, mark, at.Min, draw.Over)
	return img
}

// Logo draws a logo into a room of a picture, which begins at a point: to the right of it, to the left, or around it.
// It returns the drawn rectangle. It draws a plate behind it if a part of it has too little contrast with the picture.
func Logo(img *image.RGBA, logo image.Image, corner image.Point, to Side, room LogoRoom,
	colors []Color) image.Rectangle {
	size := Sized(logo.Bounds().Size(), room.Area, room.Wide, room.Tall, room.Least)
	at := image.Rectangle{Max: size}.Add(to.corner(corner, size))
	mark := image.NewRGBA(at)
	Place(mark, at, logo)
	seen, opaque := luminances(mark)
	ground, _ := luminances(img.SubImage(at.Intersect(img.Rect)).(*image.RGBA))
	if opaque || worst(seen, ground) >= LogoContrast {
		draw.Draw(img, at, mark, at.Min, draw.Over)
		return at
	}
	badge := Badge(logo, room, 1, colors)
	corner = to.corner(corner, badge.Rect.Size())
	Stick(img, badge, corner)
	return badge.Rect.Add(corner)
}

// Side is where something lies from a point.
type Side int

// The sides.
const (
	After  Side = iota // to the right and below
	Before             // to the left and below
	Around             // in the middle of it
	Beside             // to the right, with the point in the middle of its height
)

func (s Side) corner(at, size image.Point) image.Point {
	switch s {
	case Before:
		at.X -= size.X
	case Around:
		at = at.Sub(size.Div(2))
	case Beside:
		at.Y -= size.Y / 2
	}
	return at
}

// Frame draws a picture over a rectangle of its size, with round corners.
func Frame(img *image.RGBA, r image.Rectangle, radius int, src *image.RGBA) {
	rounded(img, r, radius, src, src.Rect.Min)
}

// Round fills a rectangle with round corners.
func Round(img *image.RGBA, r image.Rectangle, radius int, c Color) {
	rounded(img, r, radius, image.NewUniform(c.RGBA()), image.Point{})
}

// rounded draws a picture, from a point on, over a rectangle with round corners. Its edges and corners alone
// need a mask, which takes far longer than a copy.
func rounded(img *image.RGBA, r image.Rectangle, radius int, src image.Image, from image.Point) {
	inner, edge := r.Inset(radius), min(radius, 1)
	top, bottom := r.Min.Y+edge, r.Max.Y-edge
	for _, band := range []struct{ top, bottom, left, right int }{ // and the opaque part of it
		{r.Min.Y, top, r.Min.X, r.Min.X}, {top, inner.Min.Y, inner.Min.X, inner.Max.X},
		{inner.Min.Y, inner.Max.Y, r.Min.X + edge, r.Max.X - edge},
		{inner.Max.Y, bottom, inner.Min.X, inner.Max.X}, {bottom, r.Max.Y, r.Min.X, r.Min.X},
	} {
		part := func(left, right int, mask image.Image) {
			p := image.Rectangle{image.Pt(left, band.top), image.Pt(right, band.bottom)}
			draw.DrawMask(img, p, src, from.Add(p.Min.Sub(r.Min)), mask, p.Min, draw.Over)
		}
		part(r.Min.X, band.left, round{r, radius})
		part(band.left, band.right, nil)
		part(band.right, r.Max.X, round{r, radius})
	}
}
