package sandbox

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"

	"golang.org/x/image/vector"
)

// quality is the quality of the pictures.
const quality = 88

// JPEG draws the scene. The result must not be changed: it may be shared.
func JPEG(s Scene) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return recent.get(fmt.Sprintf("JPEG %+v", s), s.jpeg)
}

func (s Scene) jpeg() ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, s.draw(1, 0.5), &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("synth: encode: %w", err)
	}
	return out.Bytes(), nil
}

// tint is a color with parts from 0 to 1.
type tint [3]float64

var (
	white = tint{1, 1, 1}
	black = tint{0.07, 0.07, 0.09}
)

func tintOf(c color.RGBA) tint {
	return tint{float64(c.R) / 255, float64(c.G) / 255, float64(c.B) / 255}
}

// mix returns the color between two, at a share from 0 to 1 of the way.
func (t tint) mix(to tint, share float64) tint {
	for i := range t {
		t[i] += (to[i] - t[i]) * min(max(share, 0), 1)
	}
	return t
}

func (t tint) rgb() [3]int { return [3]int{int(255 * t[0]), int(255 * t[1]), int(255 * t[2])} }

// palette has the colors of a scene.
type palette struct {
	light, main, accent, deep tint
}

// palettes are those of scenes without colors of their own.
var palettes = []palette{
	{tint{.98, .92, .84}, tint{.91, .56, .38}, tint{.96, .78, .45}, tint{.24, .22, .36}},
	{tint{.90, .95, .97}, tint{.35, .62, .75}, tint{.98, .80, .58}, tint{.10, .24, .36}},
	{tint{.94, .95, .88}, tint{.48, .62, .44}, tint{.93, .72, .47}, tint{.16, .27, .22}},
	{tint{.98, .90, .91}, tint{.80, .47, .56}, tint{.97, .76, .64}, tint{.30, .17, .30}},
	{tint{.93, .91, .97}, tint{.53, .49, .75}, tint{.97, .72, .68}, tint{.17, .15, .34}},
	{tint{.97, .94, .90}, tint{.72, .60, .48}, tint{.86, .51, .36}, tint{.27, .21, .19}},
	{tint{.90, .96, .94}, tint{.25, .60, .56}, tint{.97, .69, .43}, tint{.07, .25, .29}},
	{tint{.99, .95, .82}, tint{.90, .68, .24}, tint{.85, .42, .30}, tint{.27, .23, .25}},
}

// palette returns the colors of the scene: its own, with tones of them, or some of palettes.
func (s Scene) palette() palette {
	if len(s.Colors) == 0 {
		r := random(s.Mood)
		return palettes[r.next(uint32(len(palettes)))]
	}
	main := tintOf(s.Colors[0])
	accent := main.mix(white, 0.45)
	if len(s.Colors) > 1 {
		accent = tintOf(s.Colors[1])
	}
	return palette{main.mix(white, 0.86), main.mix(white, 0.08), accent, main.mix(black, 0.72)}
}

// canvas is a picture that a scene is drawn on. Places are from 0 to 1 across and down. Lengths of round shapes are
// parts of the shorter edge.
type canvas struct {
	img    *image.RGBA
	w, h   float64
	raster *vector.Rasterizer
	mask   *image.Alpha
	palette
	random
}

// draw paints the scene at a moment from 0 to 1, scaled down by unit.
func (s Scene) draw(unit int, moment float64) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, (s.Width+unit-1)/unit, (s.Height+unit-1)/unit))
	c := &canvas{img: img, w: float64(img.Rect.Dx()), h: float64(img.Rect.Dy()), raster: vector.NewRasterizer(0, 0),
		mask: image.NewAlpha(img.Rect), palette: s.palette(), random: random(s.Seed ^ 0xc1c1e)}
	views := []func(*canvas, float64){(*canvas).hills, (*canvas).sea, (*canvas).stage, (*canvas).table}
	r := random(s.Seed)
	views[r.next(uint32(len(views)))](c, moment)
	return img
}

// between returns a random number between two.
func (c *canvas) between(from, to float64) float64 {
	return from + (to-from)*float64(c.next(1001))/1000
}

type point struct{ x, y float64 }

// round returns an ellipse around a point with its radii as parts of the shorter edge. From and to are the part of the
// turn that it covers.
func (c *canvas) round(x, y, across, down, from, to float64) []point {
	const corners = 72
	edge := min(c.w, c.h)
	all := make([]point, 0, corners+1)
	for i := range corners + 1 {
		sin, cos := math.Sincos(2 * math.Pi * (from + (to-from)*float64(i)/corners))
		all = append(all, point{x + across*edge*cos/c.w, y + down*edge*sin/c.h})
	}
	return all
}

// fill paints a shape with a gradient: down, or across.
func (c *canvas) fill(shape []point, from, to tint, across bool) {
	box := image.Rectangle{Min: c.img.Rect.Max}
	for _, p := range shape {
		box.Min.X, box.Max.X = min(box.Min.X, int(p.x*c.w)), max(box.Max.X, int(p.x*c.w)+1)
		box.Min.Y, box.Max.Y = min(box.Min.Y, int(p.y*c.h)), max(box.Max.Y, int(p.y*c.h)+1)
	}
	whole := box
	if box = box.Intersect(c.img.Rect); box.Empty() {
		return
	}
	c.raster.Reset(box.Dx(), box.Dy())
	c.raster.DrawOp = draw.Src
	for i, p := range shape {
		x, y := float32(p.x*c.w-float64(box.Min.X)), float32(p.y*c.h-float64(box.Min.Y))
		if i == 0 {
			c.raster.MoveTo(x, y)
		} else {
			c.raster.LineTo(x, y)
		}
	}
	c.raster.ClosePath()
	c.raster.Draw(c.mask, box, image.Opaque, image.Point{})
	steps := whole.Dy()
	if across {
		steps = whole.Dx()
	}
	shades := make([][3]int, steps)
	for i := range shades {
		shades[i] = from.mix(to, float64(i)/float64(steps)).rgb()
	}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		covers := c.mask.Pix[c.mask.PixOffset(box.Min.X, y):]
		pix := c.img.Pix[c.img.PixOffset(box.Min.X, y):]
		for x := range box.Dx() {
			if covers[x] == 0 {
				continue
			}
			at := y - whole.Min.Y
			if across {
				at = box.Min.X + x - whole.Min.X
			}
			blend(pix[4*x:4*x+4], shades[at], int(covers[x]))
		}
	}
}

// blend puts a color over a pixel, at a share from 0 to 255.
func blend(pix []uint8, shade [3]int, share int) {
	_ = pix[3]
	if share < 255 {
		for i, v := range shade {
			shade[i] = ((v-int(pix[i]))*share*257)>>16 + int(pix[i])
		}
	}
	pix[0], pix[1], pix[2], pix[3] = uint8(shade[0]), uint8(shade[1]), uint8(shade[2]), 255
}

// glow paints light or shadow that fades out from a point to its radii.
func (c *canvas) glow(x, y, across, down float64, shade tint, strength float64) {
	edge, rgb := min(c.w, c.h), shade.rgb()
	x, y, across, down = x*c.w, y*c.h, across*edge, down*edge
	for py := max(int(y-down), 0); py < min(int(y+down)+1, int(c.h)); py++ {
		dy := (float64(py) - y) / down
		half := across * math.Sqrt(max(1-dy*dy, 0))
		row := c.img.Pix[py*c.img.Stride:]
		for px := max(int(x-half), 0); px < min(int(x+half)+1, int(c.w)); px++ {
			dx := (float64(px) - x) / across
			rest := max(1-dx*dx-dy*dy, 0)
			blend(row[4*px:4*px+4], rgb, int(255*strength*rest*rest))
		}
	}
}

// ground fills the picture from one height to another.
func (c *canvas) ground(top, bottom float64, from, to tint) {
	first, end := int(top*c.h), int(bottom*c.h)
	for y := first; y < min(end, c.img.Rect.Dy()); y++ {
		row := c.img.Pix[y*c.img.Stride:][:c.img.Stride]
		blend(row[:4], from.mix(to, float64(y-first)/float64(end-first)).rgb(), 255)
		for done := 4; done < len(row); done *= 2 {
			copy(row[done:], row[:done])
		}
	}
}
