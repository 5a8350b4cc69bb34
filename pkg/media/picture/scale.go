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

// scaled calls done with the values of each row of a part of the picture in a size, from the top. done must not keep
// them. It holds the rows that are not complete, and no more. It first takes the mean of squares of pixels, as far as
// the picture stays twice as large as wanted, and then scales by a cubic filter.
func (s source) scaled(ctx context.Context, part image.Rectangle, size image.Point,
	done func(y int, row []float32)) error {
	n := s.kind.values()
	k := max(1, min(part.Dx()/(2*size.X), part.Dy()/(2*size.Y), maxSquare))
	columns := (part.Dx() + k - 1) / k
	across := newFilter(float64(part.Dx())/float64(k), columns, size.X)
	down := newFilter(float64(part.Dy())/float64(k), (part.Dy()+k-1)/k, size.Y)
	sums, mean, result := make([]uint32, columns*n), make([]float32, columns*n), make([]float32, size.X*n)
	kept := make([][]float32, down.reach) // the rows that results have parts of, in turn
	for i := range kept {
		kept[i] = make([]float32, size.X*n)
	}
	seen, at, next := 0, 0, 0
	complete := func() {
		for ; next < size.Y && down.last(next) <= at; next++ {
			done(next, down.column(result, kept, next))
		}
		at++
	}
	flush := func() {
		average(mean, sums, seen, k, part.Dx(), n)
		row(across, kept[at%down.reach], mean, n)
		complete()
		seen = 0
	}
	opaque := s.kind != rgba && s.kind != grayA
	err := s.rows(ctx, part, func(values []byte) error {
		if k == 1 {
			widen(mean, values, opaque)
			row(across, kept[at%down.reach], mean, n)
			complete()
			return nil
		}
		if seen++; seen == 1 {
			clear(sums)
		}
		if add(sums, values, k, n, opaque); seen == k {
			flush()
		}
		return nil
	})
	if err == nil && seen > 0 {
		flush()
	}
	return err
}

// Scaled returns a picture in another size. Its rows are in memory, where nothing can fail.
func Scaled(img *image.NRGBA, size image.Point) *image.NRGBA {
	out, s := image.NewNRGBA(image.Rectangle{Max: size}), memory(img, false)
	_ = s.scaled(context.Background(), image.Rectangle{Max: img.Rect.Size()}, size, func(y int, row []float32) {
		s.kind.colors(out.Pix[y*out.Stride:], row, nil)
	})
	return out
}

// add adds the pixels of a row to the sums of its squares. Colors count as much as they are opaque.
func add(sums []uint32, row []byte, k, n int, opaque bool) {
	for x, i := 0, 0; i < len(row); x += n {
		to, end := sums[x:x+n:x+n], min(i+k*n, len(row))
		switch {
		case !opaque:
			for ; i < end; i += 4 {
				p := row[i : i+4 : i+4]
				a := uint32(p[3])
				to[0] += uint32(p[0]) * a
				to[1] += uint32(p[1]) * a
				to[2] += uint32(p[2]) * a
				to[3] += a * 255
			}
		case n == 3:
			a, b, c := to[0], to[1], to[2]
			for ; i < end; i += 3 {
				p := row[i : i+3 : i+3]
				a, b, c = a+uint32(p[0]), b+uint32(p[1]), c+uint32(p[2])
			}
			to[0], to[1], to[2] = a, b, c
		default:
			for ; i < end; i += n {
				for c, v := range row[i : i+n] {
					to[c] += uint32(v)
				}
			}
		}
	}
}

// widen sets the values of a row. Colors are multiplied by their opacity.
func widen(to []float32, row []byte, opaque bool) {
	if opaque {
		for i, v := range row[:len(to)] {
			to[i] = float32(v)
		}
		return
	}
	for i := 0; i+4 <= len(row) && i+4 <= len(to); i += 4 {
		p, q := row[i:i+4:i+4], to[i:i+4:i+4]
		a := uint32(p[3])
		q[0], q[1], q[2] = float32(uint32(p[0])*a), float32(uint32(p[1])*a), float32(uint32(p[2])*a)
		q[3] = float32(a * 255)
	}
}

// average sets the means of squares of which a number of rows was seen. Colors with opacity stay multiplied by it.
func average(mean []float32, sums []uint32, rows, k, width, n int) {
	for i, sum := range sums {
		wide := k
		if i >= len(sums)-n {
			wide = width - (len(sums)/n-1)*k
		}
		mean[i] = float32(sum) / float32(rows*wide)
	}
}

// filter scales a row of values to another length. Each result is the sum of some values, each by its weight.
type filter struct {
	first   []int // of each result: the first of its values
	weights [][]float32
	// reach is the greatest number of values from the first one of a result to the last one of those up to it, and same
	// reports whether each result is the value of its number.
	reach int
	same  bool
}

// newFilter returns a cubic filter (Catmull-Rom) from a number of values, which take up a length, to another number.
func newFilter(length float64, values, results int) *filter {
	f := &filter{first: make([]int, results), weights: make([][]float32, results), same: length == float64(results)}
	scale := length / float64(results)
	wide := max(scale, 1)
	all, last := make([]float32, 0, (int(4*wide)+2)*results), 0
	for i := range results {
		middle := (float64(i) + 0.5) * scale
		from, to := max(0, int(middle-2*wide)), min(values-1, int(middle+2*wide))
		// A value at the edge of the kernel has the weight 0.
		for ; to > from && math.Abs(float64(to)+0.5-middle) >= 2*wide; to-- {
		}
		for ; from < to && math.Abs(float64(from)+0.5-middle) >= 2*wide; from++ {
		}
		if f.same {
			from, to = i, i
		}
		sum, begin := 0.0, len(all)
		for v := from; v <= to; v++ {
			w := cubic((float64(v) + 0.5 - middle) / wide)
			all, sum = append(all, float32(w)), sum+w
		}
		for n := begin; n < len(all); n++ {
			all[n] /= float32(sum)
		}
		if sum == 0 { // the middle is behind the last value, which is a part of one
			from, all = values-1, append(all[:begin], 1)
		}
		f.first[i], f.weights[i] = from, all[begin:]
		last = max(last, f.last(i))
		f.reach = max(f.reach, last-from+1)
	}
	return f
}

// last returns the last of the values of a result.
func (f *filter) last(i int) int { return f.first[i] + len(f.weights[i]) - 1 }

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
func row(f *filter, to, from []float32, n int) {
	if f.same {
		copy(to, from)
		return
	}
	for i, weights := range f.weights {
		values, out := from[f.first[i]*n:], to[i*n:][:n:n]
		switch n {
		case 3:
			var a, b, c float32
			for t, w := range weights {
				p := values[3*t : 3*t+3 : 3*t+3]
				a, b, c = a+w*p[0], b+w*p[1], c+w*p[2]
			}
			out[0], out[1], out[2] = a, b, c
		case 4:
			var a, b, c, d float32
			for t, w := range weights {
				p := values[4*t : 4*t+4 : 4*t+4]
				a, b, c, d = a+w*p[0], b+w*p[1], c+w*p[2], d+w*p[3]
			}
			out[0], out[1], out[2], out[3] = a, b, c, d
		default:
			var sum float32
			for t, w := range weights {
				sum += w * values[t]
			}
			out[0] = sum
		}
	}
}

// column returns the values of a result whose parts are rows, of which each is at its number divided by their count. It
// may write them.
func (f *filter) column(to []float32, rows [][]float32, i int) []float32 {
	row := func(t int) []float32 { return rows[(f.first[i]+t)%len(rows)][:len(to)] }
	weights := f.weights[i]
	if len(weights) == 1 {
		return row(0)
	}
	// Four rows at a time: each pass over the result takes as long as a row.
	clear(to)
	t := 0
	for ; t+4 <= len(weights); t += 4 {
		w0, w1, w2, w3 := weights[t], weights[t+1], weights[t+2], weights[t+3]
		a, b, c, d := row(t), row(t+1), row(t+2), row(t+3)
		for x, v := range to {
			to[x] = v + w0*a[x] + w1*b[x] + w2*c[x] + w3*d[x]
		}
	}
	for ; t < len(weights); t++ {
		w := weights[t]
		for x, v := range row(t) {
			to[x] += w * v
		}
	}
	return to
}

// colors writes values as pixels in sRGB.
func (k kind) colors(to []byte, values []float32, c *converter) {
	n := k.values()
	for i := range len(values) / n {
		p, v := to[4*i:][:4:4], values[i*n:][:n:n]
		p[3] = 255
		switch k {
		case gray:
			l := level(v[0])
			p[0], p[1], p[2] = l, l, l
		case rgb:
			p[0], p[1], p[2] = level(v[0]), level(v[1]), level(v[2])
		case ycc:
			y, cb, cr := v[0], v[1]-128, v[2]-128
			p[0], p[1], p[2] = level(y+1.402*cr), level(y-0.344136*cb-0.714136*cr), level(y+1.772*cb)
		case rgba, grayA:
			if a := v[3]; a > 0.5*255 { // half a level
				p[0], p[1], p[2], p[3] = level(v[0]*255/a), level(v[1]*255/a), level(v[2]*255/a), level(a/255)
			} else {
				p[3] = 0
			}
		case studio:
			p[0], p[1], p[2] = ofStudio(v[0], v[1], v[2])
		case inks:
			p[0], p[1], p[2] = c.inked(level(v[0]), level(v[1]), level(v[2]), level(v[3]))
		}
		if c != nil && k != inks {
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
	l := int32(v + 0.5)
	switch { // one comparison for nearly all, which is faster than min and max
	case uint32(l) <= 255:
		return uint8(l)
	case v < 0:
		return 0
	}
	return 255
}
