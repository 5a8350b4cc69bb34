package canvas

import "image"

// Saliency is where a picture has something to see: sums of the weights of its parts, by edges, color and skin.
type Saliency struct {
	width, height int
	sum           []float64 // of the cells above and to the left of each, with one more row and column
}

// salientWide is the number of cells in the greater direction.
const salientWide = 64

// Salient looks at a picture of red, green, blue and opacity.
func Salient(pix []byte, stride int, size image.Point) *Saliency {
	step := max(max(size.X, size.Y)/salientWide, 1)
	s := &Saliency{width: max(size.X/step, 1), height: max(size.Y/step, 1)}
	cells := make([][3]float64, s.width*s.height)
	var mean [3]float64
	for i := range cells {
		at := (i/s.width*step+step/2)*stride + (i%s.width*step+step/2)*4
		at = min(at, len(pix)-4)
		for n := range 3 {
			cells[i][n] = float64(pix[at+n])
			mean[n] += cells[i][n] / float64(len(cells))
		}
	}
	s.sum = make([]float64, (s.width+1)*(s.height+1))
	for y := range s.height {
		row := 0.0
		for x := range s.width {
			row += weight(cells, mean, s.width, s.height, x, y)
			s.sum[(y+1)*(s.width+1)+x+1] = s.sum[y*(s.width+1)+x+1] + row
		}
	}
	return s
}

// weight returns the weight of a cell: its edges, its distance from the mean color, and skin.
func weight(cells [][3]float64, mean [3]float64, width, height, x, y int) float64 {
	c := cells[y*width+x]
	edge, off := 0.0, 0.0
	for n := range 3 {
		left, right := cells[y*width+max(x-1, 0)][n], cells[y*width+min(x+1, width-1)][n]
		up, down := cells[max(y-1, 0)*width+x][n], cells[min(y+1, height-1)*width+x][n]
		edge += max(left-right, right-left) + max(up-down, down-up)
		off += max(c[n]-mean[n], mean[n]-c[n])
	}
	w := max(edge-24, 0)/3 + max(off-90, 0)/2
	if r, g, b := c[0], c[1], c[2]; r > 95 && g > 40 && b > 20 && r > g+15 && g > b && r-b < 140 {
		w += 60
	}
	return w
}

// Window returns the corner of the window of a size, in shares of the picture, that has most to see. Of windows that
// are about equal, it is the one nearest to the middle.
func (s *Saliency) Window(width, height float64) (x, y float64) {
	w := min(max(int(float64(s.width)*width+0.5), 1), s.width)
	h := min(max(int(float64(s.height)*height+0.5), 1), s.height)
	total := s.at(0, 0, s.width, s.height) + 1
	best := -1.0
	for top := 0; top <= s.height-h; top++ {
		for left := 0; left <= s.width-w; left++ {
			dx := float64(2*left+w-s.width) / float64(s.width)
			dy := float64(2*top+h-s.height) / float64(s.height)
			value := s.at(left, top, w, h)/total - 0.12*(dx*dx+dy*dy)
			if value > best {
				best, x, y = value, float64(left)/float64(s.width), float64(top)/float64(s.height)
			}
		}
	}
	return min(x, 1-width), min(y, 1-height)
}

// at returns the weight of a rectangle of cells.
func (s *Saliency) at(left, top, w, h int) float64 {
	row := s.width + 1
	return s.sum[(top+h)*row+left+w] - s.sum[top*row+left+w] - s.sum[(top+h)*row+left] + s.sum[top*row+left]
}
