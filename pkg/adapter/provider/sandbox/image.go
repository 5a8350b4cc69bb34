package sandbox

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"time"

	"golang.org/x/image/vector"
)

// Scene describes a picture or clip.
type Scene struct {
	Width, Height int
	// Seed chooses what is seen, and Mood the colors. Scenes with the same Mood go together.
	Seed, Mood uint32
	// Colors are the colors to paint with, the most important first. If there are none, Mood chooses them.
	Colors []color.RGBA
}

const (
	maxSide   = 4096
	maxLength = time.Hour
)

func (s Scene) check() error {
	if s.Width < 16 || s.Height < 16 || s.Width > maxSide || s.Height > maxSide {
		return fmt.Errorf("synth: %d x %d pixels", s.Width, s.Height)
	}
	return nil
}

func checkLength(d time.Duration) error {
	if d <= 0 || d > maxLength {
		return fmt.Errorf("synth: a length of %v", d)
	}
	return nil
}

// random is a sequence that depends on a seed (splitmix32).
type random uint32

func (r *random) next(n uint32) uint32 {
	*r += 0x9e3779b9
	z := uint32(*r)
	z = (z ^ z>>16) * 0x21f0aaad
	z = (z ^ z>>15) * 0x735a2d97
	return (z ^ z>>15) % n
}

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

// palettes are the palettes of scenes without colors of their own.
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

// ridge is the outline of land from one edge of the picture to the other, down to the bottom.
func (c *canvas) ridge(height, swing, shift float64) []point {
	const corners = 96
	waves := [3]float64{c.between(0.6, 1.3), c.between(1.7, 3), c.between(4, 7)}
	phases := [3]float64{c.between(0, 6.3), c.between(0, 6.3), c.between(0, 6.3)}
	all := []point{{1.01, 1.01}, {-0.01, 1.01}}
	for i := range corners + 1 {
		x := -0.01 + 1.02*float64(i)/corners
		y := 0.0
		for n, part := range [3]float64{1, 0.45, 0.12} {
			y += part * math.Sin(2*math.Pi*waves[n]*(x+shift)+phases[n])
		}
		all = append(all, point{x, height + swing*y})
	}
	return all
}

// sky paints the sky with its sun, and returns the place of the sun.
func (c *canvas) sky(horizon, moment float64) (x, y float64) {
	c.ground(0, horizon+0.05, c.main.mix(c.deep, 0.25).mix(c.light, 0.25), c.light.mix(c.accent, 0.45))
	x, y = c.between(0.25, 0.75), horizon-c.between(0.14, 0.3)+0.04*(moment-0.5)
	size := c.between(0.07, 0.12)
	c.glow(x, y, 6*size, 6*size, c.light, 0.75)
	c.fill(c.round(x, y, size, size, 0, 1), white.mix(c.light, 0.3), c.light.mix(c.accent, 0.25), false)
	for range 3 {
		c.cloud(c.between(0.05, 0.95)+0.08*(moment-0.5), c.between(0.08, horizon-0.25), c.between(0.10, 0.2))
	}
	return x, y
}

func (c *canvas) cloud(x, y, width float64) {
	shade := c.light.mix(white, 0.5)
	for range 4 {
		c.glow(x+c.between(-0.8, 0.8)*width, y+c.between(-0.006, 0.006), width, 0.13*width, shade, 0.55)
	}
}

// hills is a landscape of hills, with trees on the one in front.
func (c *canvas) hills(moment float64) {
	horizon := c.between(0.5, 0.6)
	c.sky(horizon, moment)
	const rows = 5
	for i := range rows {
		near := float64(i) / (rows - 1)
		shade := c.light.mix(c.main, 0.35+0.4*near).mix(c.deep, 0.75*near)
		top := horizon - 0.04 + 0.42*near*near + 0.06*near
		row := c.ridge(top, 0.035+0.02*near, 0.1*near*(moment-0.5))
		c.fill(row, shade, shade.mix(c.light, 0.25*(1-near)).mix(c.deep, 0.3*near), false)
		if i == rows-2 {
			for n := 6; n < len(row); n += 3 + int(c.next(7)) {
				c.tree(row[n], c.between(0.05, 0.1), shade.mix(c.deep, 0.65))
			}
		}
	}
}

// tree paints a fir tree that stands at a point.
func (c *canvas) tree(foot point, height float64, shade tint) {
	edge := min(c.w, c.h)
	across, down := height*edge/c.w, height*edge/c.h
	for i := range 3 {
		top, width := 1-0.27*float64(i), 0.14+0.06*float64(i)
		c.fill([]point{{foot.x, foot.y - down*top}, {foot.x + across*width, foot.y - down*(top-0.45)},
			{foot.x - across*width, foot.y - down*(top-0.45)}}, shade, shade, false)
	}
}

// sea is a view over water, with the way of the sun's light on it.
func (c *canvas) sea(moment float64) {
	horizon := c.between(0.48, 0.58)
	x, _ := c.sky(horizon, moment)
	far := c.light.mix(c.main, 0.55)
	c.fill(c.ridge(horizon-0.015, 0.022, 0.03*moment), far, far.mix(c.deep, 0.2), false)
	c.ground(horizon, 1.01, c.main.mix(c.light, 0.45), c.main.mix(c.deep, 0.72))
	for i := range 70 {
		depth := float64(i) / 70
		y := horizon + 0.004 + (0.99-horizon)*depth*depth
		wide := c.between(0.01, 0.05) * (0.4 + 1.6*depth)
		at, shade := x+c.between(-1, 1)*(0.03+0.2*depth), white.mix(c.accent, 0.35)
		if i%3 == 0 {
			at, shade = c.between(0, 1), c.main.mix(c.light, 0.3-0.25*depth)
		}
		at += 0.02 * math.Sin(6.3*moment+float64(i))
		thick := 0.0012 + 0.0035*depth
		c.fill(c.round(at, y, wide, thick, 0, 1), shade, shade, false)
	}
	if front := c.next(3); front > 0 {
		shade := c.deep.mix(black, 0.25)
		c.fill(c.ridge(0.95, 0.03, 0.05*moment), shade.mix(c.main, 0.2), shade, false)
	} else {
		c.boat(c.between(0.2, 0.8)+0.05*(moment-0.5), horizon+0.07)
	}
}

// boat paints a sailing boat on the water.
func (c *canvas) boat(x, y float64) {
	edge := min(c.w, c.h)
	at := func(across, down float64) point { return point{x + across*edge/c.w, y + down*edge/c.h} }
	hull := c.deep.mix(black, 0.3)
	c.fill([]point{at(-.07, 0), at(.07, 0), at(.045, .028), at(-.045, .028)}, hull, hull, false)
	c.fill([]point{at(.004, -.15), at(.06, -.012), at(.004, -.012)}, white, c.light, false)
	c.fill([]point{at(-.004, -.13), at(-.004, -.012), at(-.05, -.012)}, c.accent.mix(white, 0.3), c.accent, false)
}

// room paints a wall and a floor, and light on the wall.
func (c *canvas) room(floor float64) {
	c.ground(0, floor+0.01, c.light.mix(c.main, 0.32), c.light.mix(c.main, 0.12))
	c.ground(floor, 1.01, c.light.mix(c.main, 0.42), c.light.mix(c.main, 0.25))
	c.glow(c.between(0.15, 0.85), floor*0.4, 0.8, 0.7, white, 0.45)
}

// stage is a stage for a product: platforms before an arch, with an object on them.
func (c *canvas) stage(moment float64) {
	floor, middle := c.between(0.64, 0.72), 0.5+0.03*(moment-0.5)
	c.room(floor)
	wide := c.between(0.24, 0.32)
	edge := min(c.w, c.h)
	top := floor - c.between(0.26, 0.34)*edge/c.h
	if c.next(2) == 0 { // an arch, or a disc
		back := c.main.mix(c.deep, 0.12)
		shape := append(c.round(middle, top, wide, wide, 0.5, 1), point{middle + wide*edge/c.w, floor},
			point{middle - wide*edge/c.w, floor})
		c.fill(shape, back.mix(c.light, 0.25), back, false)
	} else {
		c.fill(c.round(middle, top, wide*1.15, wide*1.15, 0, 1), c.accent.mix(c.light, 0.3), c.accent, false)
	}
	for _, side := range [2]float64{-1, 1} {
		x, radius := middle+side*c.between(0.3, 0.38)*edge/c.w, c.between(0.09, 0.13)
		c.shade(x, floor+0.02*edge/c.h, radius)
		c.cylinder(x, floor+0.02*edge/c.h, radius, c.between(0.06, 0.2), c.main.mix(c.light, 0.55))
	}
	rise := c.between(0.09, 0.14)
	foot := floor + 0.09*edge/c.h
	c.shade(middle, foot, 0.27)
	c.cylinder(middle, foot, 0.27, rise, c.light.mix(white, 0.3))
	c.cylinder(middle, foot-rise*edge/c.h, 0.19, 0.05, c.light.mix(c.main, 0.2))
	c.object(middle, foot-(rise+0.05)*edge/c.h, 1)
}

// shade paints the shadow of what stands at a place.
func (c *canvas) shade(x, foot, radius float64) {
	edge := min(c.w, c.h)
	c.glow(x+0.06*edge/c.w, foot+radius*0.1*edge/c.h, radius*1.5, radius*0.5, c.deep, 0.4)
}

// cylinder paints a round block that stands at a place.
func (c *canvas) cylinder(x, foot, radius, height float64, shade tint) {
	const flat = 0.24 // of the circles that are seen from the front
	edge := min(c.w, c.h)
	top := foot - height*edge/c.h
	side := append(c.round(x, foot, radius, radius*flat, 0, 0.5), c.round(x, top, radius, radius*flat, 0.5, 0)...)
	c.fill(side, shade.mix(white, 0.25), shade.mix(c.deep, 0.35), true)
	c.fill(c.round(x, top, radius, radius*flat, 0, 1), shade.mix(white, 0.5), shade.mix(white, 0.2), false)
}

// object paints a bottle, a ball, or a box, which stands at a place.
func (c *canvas) object(x, foot, scale float64) {
	shade := c.main
	if c.next(2) == 0 {
		shade = c.accent.mix(c.main, 0.3)
	}
	edge := min(c.w, c.h)
	switch c.next(3) {
	case 0:
		c.cylinder(x, foot, 0.075*scale, 0.22*scale, shade)
		c.cylinder(x, foot-0.22*scale*edge/c.h, 0.035*scale, 0.055*scale, c.deep.mix(c.main, 0.25))
	case 1:
		c.ball(x, foot, 0.12*scale, shade)
	default:
		c.cylinder(x, foot, 0.10*scale, 0.11*scale, shade)
		c.cylinder(x, foot-0.11*scale*edge/c.h, 0.104*scale, 0.035*scale, c.deep.mix(c.main, 0.3))
	}
}

// ball paints a ball that lies at a place.
func (c *canvas) ball(x, foot, radius float64, shade tint) {
	edge := min(c.w, c.h)
	y := foot - 0.93*radius*edge/c.h
	c.glow(x+0.2*radius*edge/c.w, foot, radius*1.25, radius*0.3, c.deep, 0.5)
	c.fill(c.round(x, y, radius, radius, 0, 1), shade.mix(white, 0.15), shade.mix(c.deep, 0.5), false)
	c.glow(x-0.3*radius*edge/c.w, y-0.35*radius*edge/c.h, radius*0.6, radius*0.6, white, 0.55)
}

// table is a still life: a vase with branches, and fruit, on a table before a window's light.
func (c *canvas) table(moment float64) {
	floor, edge := c.between(0.66, 0.72), min(c.w, c.h)
	c.room(floor)
	slant := c.between(-0.15, 0.15) + 0.05*(moment-0.5)
	left := c.between(0.08, 0.5)
	for pane := range 4 {
		x, y := left+0.17*float64(pane%2), 0.1+0.2*float64(pane/2)
		shape := []point{{x, y}, {x + 0.15, y + slant*0.3}, {x + 0.15, y + 0.18 + slant*0.3}, {x, y + 0.18}}
		light := c.light.mix(white, 0.6)
		c.fill(shape, light, light.mix(c.light, 0.5), false)
	}
	c.ground(floor, 1.01, c.main.mix(c.light, 0.25), c.main.mix(c.deep, 0.3))
	c.ground(floor, floor+0.012, c.light.mix(white, 0.2), c.light.mix(c.main, 0.3))
	x, foot := c.between(0.3, 0.42), floor+0.1*edge/c.h
	c.branches(x, foot-0.36*edge/c.h, moment)
	c.vase(x, foot, c.between(0.36, 0.4))
	for n := range 3 + c.next(2) {
		size := c.between(0.055, 0.085)
		c.ball(x+(0.25+0.13*float64(n))*edge/c.w, foot+c.between(0.0, 0.1)*edge/c.h, size,
			c.accent.mix(c.main, c.between(0, 0.5)))
	}
}

// vase paints a vase that stands at a place.
func (c *canvas) vase(x, foot, height float64) {
	const steps = 40
	edge := min(c.w, c.h)
	c.glow(x+0.08*edge/c.w, foot, 0.24, 0.05, c.deep, 0.55)
	belly := c.between(0.10, 0.13)
	var right, left []point
	for i := range steps + 1 {
		at := float64(i) / steps
		wide := 0.05 + belly*math.Pow(math.Sin(math.Pi*math.Pow(1-at, 0.8)), 1.4)*0.8
		y := foot - height*(1-at)*edge/c.h
		right = append(right, point{x + wide*edge/c.w, y})
		left = append([]point{{x - wide*edge/c.w, y}}, left...)
	}
	c.fill(append(right, left...), c.light.mix(white, 0.4), c.main.mix(c.deep, 0.25), true)
	c.fill(c.round(x, foot-height*edge/c.h, 0.05, 0.011, 0, 1), c.deep, c.deep.mix(c.main, 0.4), false)
}

// branches paints twigs with leaves that rise from a place.
func (c *canvas) branches(x, y, moment float64) {
	edge := min(c.w, c.h)
	for n := range 5 {
		lean := -0.26 + 0.13*float64(n) + c.between(-0.04, 0.04) + 0.01*math.Sin(6.3*moment+float64(n))
		long := c.between(0.26, 0.36)
		shade := c.deep.mix(c.main, c.between(0.2, 0.6))
		var stem [2][]point
		for i := range 13 {
			at := float64(i) / 12
			px, py := x+lean*at*at*edge/c.w, y-(long*at-0.02)*edge/c.h
			stem[0], stem[1] = append(stem[0], point{px - 0.0025, py}), append([]point{{px + 0.0025, py}}, stem[1]...)
			if i > 3 {
				side := float64(1 - i%2*2)
				c.leaf(px, py, lean*at+side*0.7, 0.075-0.03*at, shade)
			}
		}
		c.fill(append(stem[0], stem[1]...), shade, shade, false)
	}
}

// leaf paints a leaf that points away from a place, at an angle to the vertical.
func (c *canvas) leaf(x, y, angle, long float64, shade tint) {
	edge := min(c.w, c.h)
	sin, cos := math.Sincos(angle)
	var all []point
	for i := range 24 {
		turn := 2 * math.Pi * float64(i) / 24
		along, beside := long*(1-math.Cos(turn))/2, 0.22*long*math.Sin(turn)
		all = append(all, point{x + (along*sin+beside*cos)*edge/c.w, y - (along*cos-beside*sin)*edge/c.h})
	}
	c.fill(all, shade.mix(c.light, 0.15), shade, false)
}
