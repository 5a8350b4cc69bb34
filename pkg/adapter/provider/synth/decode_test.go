package synth

import (
	"errors"
	"fmt"
)

// reader reads bits of a NAL unit.
type reader struct {
	data []byte
	at   int
}

func (r *reader) u(n int) (v int) {
	for range n {
		bit := 0
		if r.at/8 < len(r.data) {
			bit = int(r.data[r.at/8] >> (7 - r.at%8) & 1)
		}
		v, r.at = v<<1|bit, r.at+1
	}
	return v
}

func (r *reader) zeros() (n int) {
	for r.u(1) == 0 && n < 32 {
		n++
	}
	return n
}

func (r *reader) ue() int { n := r.zeros(); return 1<<n - 1 + r.u(n) }

func (r *reader) se() int {
	v := r.ue()
	if v%2 == 1 {
		return (v + 1) / 2
	}
	return -v / 2
}

// level reads a block of at most one coefficient, by the columns of table 9-5 for few
// neighbors (nC from 0 to 1) and for the DC of chroma (nC of -1).
func (r *reader) level(chroma bool) (v int, err error) {
	zeros := r.zeros()
	none, one, many := 0, 1, 3 // zeros before the 1 of each code
	if chroma {
		none, one = 1, 0
	}
	switch zeros {
	case none:
		return 0, nil
	case one:
		v = 1 - 2*r.u(1)
	case many:
		if last := 2; chroma && r.u(2) != 3 || !chroma && r.u(last) != 1 {
			return 0, errors.New("coeff_token is not of one coefficient")
		}
		prefix := r.zeros()
		code := prefix
		switch {
		case prefix == 14:
			code += r.u(4)
		case prefix == 15:
			code = 30 + r.u(12)
		}
		code += 2
		if v = (code + 2) / 2; code%2 == 1 {
			v = (-code - 1) / 2
		}
	default:
		return 0, fmt.Errorf("coeff_token begins with %d zeros", zeros)
	}
	if r.u(1) != 1 {
		return 0, errors.New("the coefficient is not the first")
	}
	return v, nil
}

// residual is the value that a DC coefficient adds to each pixel: the transforms of 8.5.10 and 8.5.11 of a block with
// nothing else, and 8.5.12. Scale is LevelScale(4, 0, 0).
func residual(v int, chroma bool) int {
	const scale = 16 * 16
	if chroma { // QP 22
		return ((v*scale)<<(22/6)>>5 + 32) >> 6
	}
	return ((v*scale+1<<(5-28/6))>>(6-28/6) + 32) >> 6
}

// decode returns the colors of the macroblocks of a key frame.
func decode(nal []byte, across, down int) ([][3]int, error) {
	r := &reader{}
	for i, b := range nal[1:] {
		if i >= 2 && b == 3 && nal[i] == 0 && nal[i-1] == 0 {
			continue
		}
		r.data = append(r.data, b)
	}
	for range 3 { // first macroblock, type, parameters
		r.ue()
	}
	r.u(4)
	r.ue()
	r.u(2)
	r.se()
	colors := make([][3]int, across*down)
	for i := range colors {
		kind, chroma := r.ue(), r.ue()
		r.se()
		before := [3]int{128, 128, 128}
		luma := (kind - 1) % 4
		switch {
		case luma == 1 && chroma == 1 && i%across > 0:
			before = colors[i-1]
		case luma == 0 && chroma == 2 && i >= across:
			before = colors[i-across]
		case luma != 2 || chroma != 0 || i > 0:
			return nil, fmt.Errorf("macroblock %d is predicted by %d and %d", i, luma, chroma)
		}
		for plane := range 3 {
			if plane > 0 && kind < 5 {
				colors[i][plane] = before[plane]
				continue
			}
			v, err := r.level(plane > 0)
			if err != nil {
				return nil, fmt.Errorf("macroblock %d: %w", i, err)
			}
			colors[i][plane] = before[plane] + residual(v, plane > 0)
		}
	}
	return colors, nil
}
