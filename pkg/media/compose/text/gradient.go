package text

import (
	"math"
	"slices"

	"github.com/go-text/typesetting/font/opentype/tables"
)

// gradient is a color that changes along a line, or from one circle to another.
type gradient struct {
	offsets []float64
	colors  []rgba
	// The line, or the circles if their radii are not 0.
	from, to        point
	radius, radius1 float64
	round           bool
}

// gradient returns the gradient of a paint, and reports whether it is one.
func (p *painter) gradient(paint tables.PaintTable) (g gradient, ok bool) {
	at := func(x, y int16) point { return point{float64(x), float64(y)} }
	var stops []tables.ColorStop
	switch v := paint.(type) {
	case tables.PaintLinearGradient:
		stops = v.ColorLine.ColorStops
		g.from, g.to = at(v.X0, v.Y0), at(v.X1, v.Y1)
		// The colors change along the part of the line that is upright to the third point.
		turn := point{-(float64(v.Y2) - g.from.y), float64(v.X2) - g.from.x}
		if n := turn.x*turn.x + turn.y*turn.y; n > 0 {
			k := ((g.to.x-g.from.x)*turn.x + (g.to.y-g.from.y)*turn.y) / n
			g.to = point{g.from.x + k*turn.x, g.from.y + k*turn.y}
		}
	case tables.PaintRadialGradient:
		stops, g.round = v.ColorLine.ColorStops, true
		g.from, g.to = at(v.X0, v.Y0), at(v.X1, v.Y1)
		g.radius, g.radius1 = float64(v.Radius0), float64(v.Radius1)
	default:
		return g, false
	}
	for _, s := range stops {
		g.offsets, g.colors = append(g.offsets, fixed14(s.StopOffset)), append(g.colors, p.stop(s))
	}
	return g, len(stops) > 0
}

// at returns the color at a place of the color line.
func (g gradient) at(t float64) rgba {
	next := slices.IndexFunc(g.offsets, func(o float64) bool { return o >= t })
	switch {
	case next < 0:
		return g.colors[len(g.colors)-1]
	case next == 0 || g.offsets[next] == g.offsets[next-1]:
		return g.colors[next]
	}
	a, b := g.colors[next-1], g.colors[next]
	part := (t - g.offsets[next-1]) / (g.offsets[next] - g.offsets[next-1])
	var c rgba
	for i := range c {
		c[i] = a[i] + (b[i]-a[i])*part
	}
	return c
}

// place returns the place of the color line at a point: the greatest whose circle has it on its edge.
func (g gradient) place(p point) float64 {
	d := point{g.to.x - g.from.x, g.to.y - g.from.y}
	v := point{p.x - g.from.x, p.y - g.from.y}
	if !g.round {
		return (v.x*d.x + v.y*d.y) / max(d.x*d.x+d.y*d.y, 1e-9)
	}
	dr := g.radius1 - g.radius
	a, b, c := d.x*d.x+d.y*d.y-dr*dr, v.x*d.x+v.y*d.y+g.radius*dr, v.x*v.x+v.y*v.y-g.radius*g.radius
	if math.Abs(a) < 1e-9 {
		return c / (2 * b)
	}
	root := math.Sqrt(max(b*b-a*c, 0))
	return max((b+root)/a, (b-root)/a)
}

// band is a part of a shape in one color.
type band struct {
	path  []stroke
	color rgba
}

// The bounds of the bands of a gradient.
const (
	mostBands = 12
	bandStep  = 20   // the difference of the colors of neighbors, up to 255
	opaque    = 0.98 // the opacity from which a band may lie over another one
)

// bands divides a path, which is in the coordinates of the gradient, into parts of one color.
func (g gradient) bands(path []stroke) []band {
	shape := flat(path)
	low, high := math.Inf(1), math.Inf(-1)
	for _, contour := range shape {
		for _, p := range contour {
			t := g.place(p)
			low, high = min(low, t), max(high, t)
		}
	}
	if g.round { // its middle may be within the shape
		low = 0
	}
	low, high = max(low, 0), min(high, 1)
	if low >= high {
		return []band{{path, g.at(low)}}
	}
	n, clear := g.steps(low, high)
	if n == 1 || g.round && !g.nested() {
		return []band{{path, g.mean(low, high)}}
	}
	edge := func(i int) float64 { return low + (high-low)*float64(i)/float64(n) }
	all := make([]band, 0, n)
	for i := range n {
		b := band{color: g.at((edge(i) + edge(i+1)) / 2)}
		// Bands lie over each other, from the outer ones to the inner ones, so that no seam is between them.
		switch inner := n - 1 - i; {
		case g.round:
			b.color = g.at((edge(inner) + edge(inner+1)) / 2)
			part := shape
			if i > 0 {
				part = g.inside(shape, edge(inner+1))
			}
			if clear && inner > 0 {
				part = append(slices.Clone(part), reversed(g.inside(shape, edge(inner)))...)
			}
			b.path = strokes(part)
		case i == 0 && !clear:
			b.path = path
		default:
			part := shape
			if i > 0 {
				part = g.beyond(part, edge(i), 1)
			}
			if clear && i < n-1 {
				part = g.beyond(part, edge(i+1), -1)
			}
			b.path = strokes(part)
		}
		all = append(all, b)
	}
	return all
}

// steps returns the number of bands between two places, and reports whether what is below is seen through one.
func (g gradient) steps(low, high float64) (n int, clear bool) {
	const samples = 16
	change, last := 0.0, g.at(low)
	for i := range samples + 1 {
		c := g.at(low + (high-low)*float64(i)/samples)
		most := 255 * math.Abs(c[3]-last[3])
		for k := range 3 {
			most = max(most, math.Abs(c[k]-last[k])*max(c[3], last[3]))
		}
		change, last, clear = change+most, c, clear || c[3] < opaque
	}
	return min(max(int(math.Ceil(change/bandStep)), 1), mostBands), clear
}

// mean returns the mean color between two places.
func (g gradient) mean(low, high float64) (sum rgba) {
	const samples = 16
	for i := range samples {
		c := g.at(low + (high-low)*(float64(i)+0.5)/samples)
		for k := range 3 {
			sum[k] += c[k] * c[3]
		}
		sum[3] += c[3]
	}
	for k := range 3 {
		sum[k] /= max(sum[3], 1e-9)
	}
	sum[3] /= samples
	return sum
}

// nested reports whether the first circle is within the second one.
func (g gradient) nested() bool {
	return math.Hypot(g.to.x-g.from.x, g.to.y-g.from.y)+g.radius <= g.radius1
}

// inside returns the part of a shape that is inside the circle of a place.
func (g gradient) inside(shape [][]point, t float64) [][]point {
	const corners = 48
	center := point{g.from.x + (g.to.x-g.from.x)*t, g.from.y + (g.to.y-g.from.y)*t}
	radius := g.radius + (g.radius1-g.radius)*t
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		shape = clipped(shape, func(p point) float64 {
			return radius - (p.x-center.x)*cos - (p.y-center.y)*sin
		})
	}
	return shape
}

// beyond returns the part of a shape after a place of the line, or before it if the sign is negative.
func (g gradient) beyond(shape [][]point, t, sign float64) [][]point {
	return clipped(shape, func(p point) float64 { return (g.place(p) - t) * sign })
}

// clipped returns the part of a shape on the side of a line on which a linear function is not negative.
func clipped(shape [][]point, side func(point) float64) (all [][]point) {
	for _, contour := range shape {
		var out []point
		for i, b := range contour {
			a := contour[(i+len(contour)-1)%len(contour)]
			before, after := side(a), side(b)
			if before < 0 != (after < 0) {
				k := before / (before - after)
				out = append(out, point{a.x + (b.x-a.x)*k, a.y + (b.y-a.y)*k})
			}
			if after >= 0 {
				out = append(out, b)
			}
		}
		if len(out) > 2 {
			all = append(all, out)
		}
	}
	return all
}

// reversed returns contours that run the other way: they are holes of others.
func reversed(shape [][]point) [][]point {
	all := make([][]point, len(shape))
	for i, contour := range shape {
		all[i] = slices.Clone(contour)
		slices.Reverse(all[i])
	}
	return all
}

// flat returns the contours of a path, with lines for its curves.
func flat(path []stroke) (all [][]point) {
	const parts = 8
	for _, s := range path {
		if s.command == 'm' || len(all) == 0 {
			all = append(all, []point{s.points[len(s.points)-1]})
			continue
		}
		last := &all[len(all)-1]
		if s.command == 'l' {
			*last = append(*last, s.points[0])
			continue
		}
		a := (*last)[len(*last)-1]
		b, c, d := s.points[0], s.points[1], s.points[2]
		for i := 1; i <= parts; i++ {
			t := float64(i) / parts
			u := 1 - t
			w, x, y, z := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
			*last = append(*last, point{w*a.x + x*b.x + y*c.x + z*d.x, w*a.y + x*b.y + y*c.y + z*d.y})
		}
	}
	return all
}

// strokes returns the path of contours.
func strokes(shape [][]point) (path []stroke) {
	for _, contour := range shape {
		for i, p := range contour {
			command := byte('l')
			if i == 0 {
				command = 'm'
			}
			path = append(path, stroke{command, []point{p}})
		}
	}
	return path
}
