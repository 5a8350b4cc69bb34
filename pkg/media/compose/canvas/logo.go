package canvas

import (
	"image"
	"image/draw"
	"slices"
)

// LogoContrast is the least contrast of a logo with its ground: that of WCAG 2 for graphics.
const LogoContrast = 3.0

// The plate behind a logo: its margin and its corners, and the colors that it may have besides the given ones. Gray has
// a contrast of 4.5 with both black and white.
const platePad, plateRound = 16, 16

var plates = []Color{White, {R: 17, G: 18, B: 22}, {R: 118, G: 118, B: 118}}

// ignored is the share of a logo's pixels, and of the pixels of its ground, that may have less contrast, such as
// blurred edges.
const ignored = 0.04

// luminances returns those of the visible pixels of a picture, in order.
func luminances(img image.Image) (all []float64, opaque bool) {
	b, visible := img.Bounds(), 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, a := img.At(x, y).RGBA()
			if a > 0 {
				visible++
			}
			if a > 0x8000 {
				all = append(all, luminance(uint8(r*0xff/a), uint8(g*0xff/a), uint8(b*0xff/a)))
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

// Badge returns a logo within a size, on a plate that contrasts with all parts of it. The logo keeps its proportions. A
// picture without transparency needs no plate.
func Badge(logo image.Image, width, height int, colors []Color) *image.RGBA {
	at := Within(logo.Bounds().Size(), image.Rect(platePad, platePad, width-platePad, height-platePad), false)
	at = at.Sub(at.Min).Add(image.Pt(platePad, platePad))
	img := image.NewRGBA(image.Rect(0, 0, at.Dx()+2*platePad, at.Dy()+2*platePad))
	mark := image.NewRGBA(at)
	Place(mark, at, logo)
	seen, opaque := luminances(mark)
	if !opaque {
		Round(img, img.Rect, plateRound, plateOf(seen, colors))
	}
	draw.Draw(img, at, mark, at.Min, draw.Over)
	return img
}

// Logo draws a logo into the left or the right of a box of a picture, and returns the drawn rectangle. It draws a plate
// behind it if a part of it has too little contrast with the picture.
func Logo(img *image.RGBA, logo image.Image, box image.Rectangle, right bool, colors []Color) image.Rectangle {
	at := Within(logo.Bounds().Size(), box, right)
	mark := image.NewRGBA(at)
	Place(mark, at, logo)
	seen, opaque := luminances(mark)
	ground, _ := luminances(img.SubImage(at.Intersect(img.Rect)))
	if opaque || worst(seen, ground) >= LogoContrast {
		draw.Draw(img, at, mark, at.Min, draw.Over)
		return at
	}
	badge := Badge(logo, box.Dx(), box.Dy(), colors)
	corner := image.Pt(box.Min.X, box.Min.Y+(box.Dy()-badge.Rect.Dy())/2)
	if right {
		corner.X = box.Max.X - badge.Rect.Dx()
	}
	Stick(img, badge, corner)
	return badge.Rect.Add(corner)
}

// Frame draws a picture over a rectangle of its size, with round corners.
func Frame(img *image.RGBA, r image.Rectangle, radius int, src *image.RGBA) {
	draw.DrawMask(img, r, src, src.Rect.Min, round{r, radius}, r.Min, draw.Over)
}

// Round fills a rectangle with round corners.
func Round(img *image.RGBA, r image.Rectangle, radius int, c Color) {
	draw.DrawMask(img, r, image.NewUniform(c.RGBA()), image.Point{}, round{r, radius}, r.Min, draw.Over)
}
