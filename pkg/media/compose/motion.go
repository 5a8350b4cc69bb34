package compose

import (
	"encoding/binary"
	"fmt"
	"image"
	"io"
)

// Zoom is the visible part of a picture's width and height at the nearer end of a motion.
const Zoom = 0.88

// View is the visible part of a picture: its corner and size, as fractions of the whole.
type View struct{ X, Y, Size float64 }

// Move goes from one view to another.
type Move struct{ From, To View }

// Moves are used in turn: nearer, to one side, farther, to the other.
var Moves = func() []Move {
	const edge = 1 - Zoom
	whole, near := View{0, 0, 1}, View{edge / 2, edge / 2, Zoom}
	left, right := View{0, edge / 2, Zoom}, View{edge, edge / 2, Zoom}
	return []Move{{whole, near}, {left, right}, {near, whole}, {right, left}}
}()

// Centered are the moves that keep the middle of the picture.
var Centered = []Move{Moves[0], Moves[2]}

// Still is a picture in yuv420p: a plane of brightness, and two of color with half its width and height.
type Still struct {
	width, height int
	planes        [3][]byte
}

// NewStill returns the picture in raw bytes. Width and height must be even.
func NewStill(raw []byte, width, height int) (*Still, error) {
	luma, chroma := width*height, width*height/4
	if width < 4 || width > maxWidth || height < 4 || width%2 != 0 || height%2 != 0 || len(raw) != luma+2*chroma {
		return nil, fmt.Errorf("motion: %d bytes are no %d x %d pixels", len(raw), width, height)
	}
	return &Still{width, height, [3][]byte{raw[:luma], raw[luma : luma+chroma], raw[luma+chroma:]}}, nil
}

// StillOf returns a picture that is not transparent, in the colors of video (BT.709). Width and height must be even.
func StillOf(img *image.RGBA) (*Still, error) {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	raw := make([]byte, width*height*3/2)
	luma, blue, red := raw[:width*height], raw[width*height:][:width*height/4], raw[width*height*5/4:]
	for y := 0; y < height&^1; y += 2 {
		for x := 0; x < width&^1; x += 2 {
			var sum [3]int32
			for _, at := range [4]int{0, 1, width, width + 1} {
				p := img.Pix[4*(y*width+x+at):][:3:3]
				r, g, b := int32(p[0]), int32(p[1]), int32(p[2])
				luma[y*width+x+at] = uint8(16 + (11966*r+40254*g+4064*b+1<<15)>>16)
				sum[0], sum[1], sum[2] = sum[0]+r, sum[1]+g, sum[2]+b
			}
			at := y/2*(width/2) + x/2
			blue[at] = uint8(128 + (-6596*sum[0]-22189*sum[1]+28784*sum[2]+1<<17)>>18)
			red[at] = uint8(128 + (28784*sum[0]-26145*sum[1]-2639*sum[2]+1<<17)>>18)
		}
	}
	return NewStill(raw, width, height)
}

// Write writes count frames of a size, in yuv420p, beginning with the frame begin of a move of total frames.
func (s *Still) Write(w io.Writer, width, height int, m Move, begin, count, total int) error {
	frame := make([]byte, width*height*3/2)
	between := func(a, b float64, n int) float64 { return a + (b-a)*float64(n)/float64(max(total-1, 1)) }
	for n := begin; n < begin+count; n++ {
		v := View{between(m.From.X, m.To.X, n), between(m.From.Y, m.To.Y, n), between(m.From.Size, m.To.Size, n)}
		s.frame(frame, width, height, v)
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	return nil
}

func (s *Still) frame(out []byte, width, height int, v View) {
	luma := width * height
	plane(out[:luma], width, height, s.planes[0], s.width, s.height, v)
	plane(out[luma:luma+luma/4], width/2, height/2, s.planes[1], s.width/2, s.height/2, v)
	plane(out[luma+luma/4:], width/2, height/2, s.planes[2], s.width/2, s.height/2, v)
}

// motionSamples returns the source positions of the pixels of a row or column, in 256 parts of a pixel: a pixel is
// mixed from the one at the position and the next one.
func motionSamples(out, in int, from, size float64) []uint32 {
	all := make([]uint32, out)
	step := size * float64(in) / float64(out)
	for i := range all {
		x := from*float64(in) + (float64(i)+0.5)*step - 0.5
		all[i] = uint32(min(max(x, 0), float64(in-1)-1.0/512)*256 + 0.5)
	}
	return all
}

// maxWidth is the greatest width of a picture. A row of a constant length needs no bounds checks, which would take as
// long as the rest.
const maxWidth = 4096

func plane(out []byte, width, height int, in []byte, inWidth, inHeight int, v View) {
	columns, rows := motionSamples(width, inWidth, v.X, v.Size), motionSamples(height, inHeight, v.Y, v.Size)
	var row [maxWidth + 8]byte
	for y, r := range rows {
		at := int(r >> 8)
		top := in[at*inWidth:][:inWidth]
		low := top
		if at+1 < inHeight {
			low = in[(at+1)*inWidth:][:inWidth]
		}
		blend(row[:], top, low, uint64(r&255))
		line := out[y*width:][:len(columns)]
		for x, c := range columns {
			i, part := c>>8&(maxWidth-1), c&255
			left, right := uint32(row[i]), uint32(row[i+1])
			line[x] = byte((left<<8 + (right-left)*part + 128) >> 8)
		}
	}
}

// blend mixes two rows, eight pixels at a time: in a word of 64 bits, four of them have 16 bits each, which is the size
// of a product of two 8-bit numbers.
func blend(out, a, b []byte, part uint64) {
	if part == 0 {
		copy(out, a)
		return
	}
	const even, half = 0x00ff00ff00ff00ff, 0x0080008000800080
	i := 0
	for ; i+8 <= len(a); i += 8 {
		p, q := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		low := ((p&even)*(256-part) + (q&even)*part + half) >> 8 & even
		high := ((p>>8&even)*(256-part) + (q>>8&even)*part + half) &^ even
		binary.LittleEndian.PutUint64(out[i:], low|high)
	}
	for ; i < len(a); i++ {
		out[i] = byte((uint64(a[i])*(256-part) + uint64(b[i])*part + 128) >> 8)
	}
}
