package picture

import (
	"context"
	"image"
	"math"
)

// kind is what the values of a pixel mean.
type kind int

const (
	gray   kind = iota // one value
	rgb                // red, green, blue
	rgba               // and opacity, by which the colors are not multiplied
	ycc                // luma and two color differences, of the full range
	studio             // luma and two color differences of the range of video, as a lossy WebP has
	inks               // cyan, magenta, yellow, black; 255 is full ink
	grayA              // as rgba, of a picture without colors
)

// values returns the number of values of a pixel.
func (k kind) values() int {
	switch k {
	case gray:
		return 1
	case rgba, grayA, inks:
		return 4
	}
	return 3
}

// source gives the rows of a picture.
type source struct {
	kind kind
	// rows calls f with the values of each row of a part, from the top. f must not keep them.
	rows func(ctx context.Context, part image.Rectangle, f func(row []byte) error) error
}

// maxSquare bounds the side of a square whose pixels are added up in 32 bits.
const maxSquare = 256

// scaled calls done with the values of each row of a part of the picture in a size, from the top. It holds the rows
// that are not complete, and no more. It first takes the mean of squares of pixels, as far as the picture stays twice
// as large as wanted, and then scales by a cubic filter.
func (s source) scaled(ctx context.Context, part image.Rectangle, size image.Point,
	done func(y int, row []float32)) error {
	n := s.kind.values()
	k := max(1, min(part.Dx()/(2*size.X), part.Dy()/(2*size.Y), maxSquare))
	columns := (part.Dx() + k - 1) / k
	across := newFilter(float64(part.Dx())/float64(k), columns, size.X)
	down := newFilter(float64(part.Dy())/float64(k), (part.Dy()+k-1)/k, size.Y)
	sums, mean, scaled := make([]uint32, columns*n), make([]float32, columns*n), make([]float32, size.X*n)
	open := map[int32][]float32{} // rows to which more is added
	seen, at := 0, 0
	flush := func() {
		average(mean, sums, seen, k, part.Dx(), n)
		across.row(scaled, mean, n)
		for _, t := range down.into[at] {
			row := open[t.to]
			if row == nil {
				row = make([]float32, len(scaled))
				open[t.to] = row
			}
			for i, v := range scaled {
				row[i] += t.weight * v
			}
			if from := down.from[t.to]; from[len(from)-1].to == int32(at) {
				done(int(t.to), row)
				delete(open, t.to)
			}
		}
		clear(sums)
		seen, at = 0, at+1
	}
	opaque := s.kind != rgba && s.kind != grayA
	err := s.rows(ctx, part, func(row []byte) error {
		add(sums, row, k, n, opaque)
		if seen++; seen == k {
			flush()
		}
		return nil
	})
	if err == nil && seen > 0 {
		flush()
	}
	return err
}

// add adds the pixels of a row to the sums of its squares. Colors count as much as they are opaque.
func add(sums []uint32, row []byte, k, n int, opaque bool) {
	for x, i := 0, 0; i < len(row); x += n {
		to := sums[x : x+n : x+n]
		for end := min(i+k*n, len(row)); i < end; i += n {
			p := row[i : i+n : i+n]
			if !opaque {
				a := uint32(p[3])
				to[0] += uint32(p[0]) * a
				to[1] += uint32(p[1]) * a
				to[2] += uint32(p[2]) * a
				to[3] += a * 255
				continue
			}
			for c, v := range p {
				to[c] += uint32(v)
			}
		}
	}
}

// average sets the means of squares of which a number of rows was seen. Colors with opacity stay multiplied by it.
func average(mean []float32, sums []uint32, rows, k, width, n int) {
	for i := range sums {
		mean[i] = float32(sums[i]) / float32(rows*min(k, width-i/n*k))
	}
}

// share is a part that a value has in another.
type share struct {
	to     int32
	weight float32
}

// filter scales a row of values to another length.
type filter struct {
	into [][]share // of each value
	from [][]share // of each result: the values that it has parts of
}

// newFilter returns a cubic filter (Catmull-Rom) from a number of values, which take up a length, to another number.
func newFilter(length float64, values, results int) *filter {
	f := &filter{into: make([][]share, values), from: make([][]share, results)}
	scale := length / float64(results)
	wide := max(scale, 1)
	for i := range results {
		middle := (float64(i) + 0.5) * scale
		first, last := max(0, int(middle-2*wide)), min(values-1, int(middle+2*wide))
		sum := 0.0
		for v := first; v <= last; v++ {
			if w := cubic((float64(v) + 0.5 - middle) / wide); w != 0 {
				sum += w
				f.from[i] = append(f.from[i], share{int32(v), float32(w)})
			}
		}
		if len(f.from[i]) == 0 { // the middle is behind the last value, which is a part of one
			f.from[i], sum = []share{{int32(values - 1), 1}}, 1
		}
		for n := range f.from[i] {
			s := &f.from[i][n]
			s.weight /= float32(sum)
			f.into[s.to] = append(f.into[s.to], share{int32(i), s.weight})
		}
	}
	return f
}

// cubic is the kernel of Catmull and Rom.
func cubic(x float64) float64 {
	switch x = math.Abs(x); {
	case x < 1:
		return (1.5*x-2.5)*x*x + 1
	case x < 2:
		return ((-0.5*x+2.5)*x-4)*x + 2
	}
	return 0
}

// row scales a row of pixels of n values each.
func (f *filter) row(to, from []float32, n int) {
	for i, shares := range f.from {
		var sum [4]float32
		for _, s := range shares {
			for c, v := range from[int(s.to)*n:][:n] {
				sum[c] += s.weight * v
			}
		}
		copy(to[i*n:][:n], sum[:n])
	}
}

// colors writes values as pixels in sRGB.
func (k kind) colors(to []byte, values []float32, c *converter) {
	n := k.values()
	for i := range len(values) / n {
		p, v := to[4*i:][:4:4], values[i*n:][:n]
		p[3] = 255
		switch k {
		case gray:
			p[0], p[1], p[2] = level(v[0]), level(v[0]), level(v[0])
		case rgb:
			p[0], p[1], p[2] = level(v[0]), level(v[1]), level(v[2])
		case rgba, grayA:
			if a := v[3]; a > 0.5*255 { // half a level
				p[0], p[1], p[2], p[3] = level(v[0]*255/a), level(v[1]*255/a), level(v[2]*255/a), level(a/255)
			} else {
				p[3] = 0
			}
		case ycc:
			y, cb, cr := v[0], v[1]-128, v[2]-128
			p[0], p[1], p[2] = level(y+1.402*cr), level(y-0.344136*cb-0.714136*cr), level(y+1.772*cb)
		case studio:
			p[0], p[1], p[2] = ofStudio(v[0], v[1], v[2])
		case inks:
			p[0], p[1], p[2] = c.inked(level(v[0]), level(v[1]), level(v[2]), level(v[3]))
		}
		if k != inks {
			c.convert(p)
		}
	}
}

// ofStudio returns the color of luma and color differences in the range of video (BT.601).
func ofStudio(y, cb, cr float32) (r, g, b uint8) {
	y, cb, cr = (y-16)*(255./219), cb-128, cr-128
	return level(y + 1.596027*cr), level(y - 0.391762*cb - 0.812968*cr), level(y + 2.017232*cb)
}

// level returns the nearest level of a value.
func level(v float32) uint8 {
	return uint8(min(max(v, 0), 255) + 0.5)
}
