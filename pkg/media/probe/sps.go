package probe

import "github.com/content-automation/api/pkg/media"

// Parameter sets of H.264 (ITU-T H.264, 7.3.2.1) and HEVC (ITU-T H.265, 7.3.2.2), as far as the description of the
// colors and the pixels, which is at their end. The readers of libraries take the memory that a set asks for.

// shape is what a parameter set says of pictures.
type shape struct {
	width, height int
	chroma        int // chroma_format_idc
	depth         int
	aspect        float64 // 0 if it is not said
	colors        media.Colors
	ranged        bool // colors.Full is said
}

// bits reads numbers of some bits each. Beyond the end it reads zeros.
type bits struct {
	b    []byte
	at   int
	over bool
}

// payload returns a reader of a NAL unit behind its header, without the bytes that keep start codes out of it.
func payload(nal []byte, header int) *bits {
	r := &bits{}
	for i := header; i < len(nal); i++ {
		if i >= header+2 && nal[i] == 3 && nal[i-1] == 0 && nal[i-2] == 0 {
			continue
		}
		r.b = append(r.b, nal[i])
	}
	return r
}

func (r *bits) u(n int) (v int) {
	for range n {
		v <<= 1
		if r.at/8 >= len(r.b) {
			r.over = true
			continue
		}
		v |= int(r.b[r.at/8]>>(7-r.at%8)) & 1
		r.at++
	}
	return v
}

func (r *bits) flag() bool { return r.u(1) == 1 }

// ue reads a number of an Exp-Golomb code of up to 32 bits.
func (r *bits) ue() int {
	zeros := 0
	for !r.over && zeros < 32 && r.u(1) == 0 {
		zeros++
	}
	return 1<<zeros - 1 + r.u(zeros)
}

// up reads a number that is not larger than a bound.
func (r *bits) up(most int) int {
	n := r.ue()
	if n > most {
		r.over = true
		return 0
	}
	return n
}

// skip reads so many codes.
func (r *bits) skip(codes int) {
	for ; codes > 0 && !r.over; codes-- {
		r.ue()
	}
}

// mostSide bounds the size that a parameter set may say, in pixels.
const mostSide = 1 << 15

// cropped sets the size without what is cut off at the edges, in units of so many pixels.
func (s *shape) cropped(r *bits, across, down int) {
	left, right, top, bottom := r.up(mostSide), r.up(mostSide), r.up(mostSide), r.up(mostSide)
	s.width -= (left + right) * across
	s.height -= (top + bottom) * down
}

// units returns the width and height of what a sample of color covers.
func units(chroma int) (across, down int) {
	across, down = 1, 1
	if chroma == 1 || chroma == 2 {
		across = 2
	}
	if chroma == 1 {
		down = 2
	}
	return across, down
}

// aspects are the pixels' aspects by their number (table E-1 of both standards).
var aspects = [][2]int{{0, 1}, {1, 1}, {12, 11}, {10, 11}, {16, 11}, {40, 33}, {24, 11}, {20, 11}, {32, 11}, {80, 33},
	{18, 11}, {15, 11}, {64, 33}, {160, 99}, {4, 3}, {3, 2}, {2, 1}}

// usability reads the beginning of what both standards call video usability information.
func (s *shape) usability(r *bits) {
	if r.flag() {
		wide, tall := 0, 1
		if n := r.u(8); n == 255 {
			wide, tall = r.u(16), r.u(16)
		} else if n < len(aspects) {
			wide, tall = aspects[n][0], aspects[n][1]
		}
		s.aspect = ratio(wide, tall)
	}
	if r.flag() { // overscan
		r.flag()
	}
	if !r.flag() {
		return
	}
	r.u(3) // the format of analog video
	s.ranged, s.colors.Full = true, r.flag()
	if r.flag() {
		s.colors.Primaries, s.colors.Transfer, s.colors.Matrix = r.u(8), r.u(8), r.u(8)
	}
}

// ratio returns a plausible aspect of pixels, or 0.
func ratio(wide, tall int) float64 {
	const most = 10
	if wide <= 0 || tall <= 0 || wide > most*tall || tall > most*wide {
		return 0
	}
	return float64(wide) / float64(tall)
}

// fine are the profiles of H.264 whose sets say the sampling of colors.
var fine = map[byte]bool{100: true, 110: true, 122: true, 244: true, 44: true, 83: true, 86: true, 118: true, 128: true,
	138: true, 139: true, 134: true, 135: true}

// shapeOfH264 reads a sequence parameter set of H.264. It reports whether that can be read.
func shapeOfH264(nal []byte) (s shape, ok bool) {
	if len(nal) < 4 || nal[0]&0x1f != 7 {
		return s, false
	}
	r := payload(nal, 4) // behind the profile and the level
	r.ue()
	s.chroma, s.depth = 1, 8
	if fine[nal[1]] {
		if s.chroma = r.up(3); s.chroma == 3 {
			r.flag()
		}
		s.depth = 8 + r.up(6)
		r.ue()
		r.flag()
		if r.flag() {
			lists := 8
			if s.chroma == 3 {
				lists = 12
			}
			for i := range lists {
				if r.flag() {
					r.scaling(16 + 48*min(i/6, 1))
				}
			}
		}
	}
	r.ue()
	switch r.up(2) {
	case 0:
		r.ue()
	case 1:
		r.flag()
		r.skip(2)
		r.skip(r.up(255))
	}
	r.ue()
	r.flag()
	s.width, s.height = 16*(r.up(mostSide/16)+1), 16*(r.up(mostSide/16)+1)
	across, down := units(s.chroma)
	if !r.flag() { // fields
		r.flag()
		s.height, down = 2*s.height, 2*down
	}
	r.flag()
	if r.flag() {
		s.cropped(r, across, down)
	}
	if r.flag() {
		s.usability(r)
	}
	return s, !r.over && s.width > 0 && s.height > 0
}

// scaling reads a list of factors of H.264.
func (r *bits) scaling(size int) {
	last, next := 8, 8
	for range size {
		if next != 0 {
			code := r.ue()
			delta := (code + 1) / 2
			if code%2 == 0 {
				delta = -delta
			}
			next = (last + delta + 256) & 255
		}
		if next != 0 {
			last = next
		}
	}
}

// shapeOfHEVC reads a sequence parameter set of HEVC. It reports whether that can be read.
func shapeOfHEVC(nal []byte) (s shape, ok bool) {
	if len(nal) < 3 || nal[0]>>1&0x3f != 33 {
		return s, false
	}
	r := payload(nal, 2)
	r.u(4)
	layers := r.u(3)
	r.u(1)
	r.tiers(layers)
	r.ue()
	if s.chroma = r.up(3); s.chroma == 3 {
		r.flag()
	}
	s.width, s.height = r.up(mostSide), r.up(mostSide)
	if r.flag() {
		across, down := units(s.chroma)
		s.cropped(r, across, down)
	}
	s.depth = 8 + r.up(8)
	r.ue()
	order := r.up(12) + 4
	if r.flag() {
		r.skip(3 * (layers + 1))
	} else {
		r.skip(3)
	}
	r.skip(6)
	if present := r.flag(); present {
		if written := r.flag(); written {
			r.factors()
		}
	}
	r.u(2)
	if r.flag() {
		r.u(8)
		r.skip(2)
		r.flag()
	}
	r.references()
	if r.flag() {
		for n := r.up(32); n > 0; n-- {
			r.u(order + 1)
		}
	}
	r.u(2)
	if r.flag() {
		s.usability(r)
	}
	return s, !r.over && s.width > 0 && s.height > 0
}

// tiers reads the profile, the tier and the level of HEVC, and those of its layers.
func (r *bits) tiers(layers int) {
	r.u(32)
	r.u(32)
	r.u(32) // the profile, and its level
	var profile, level [8]bool
	for i := range layers {
		profile[i], level[i] = r.flag(), r.flag()
	}
	if layers > 0 {
		r.u(2 * (8 - layers))
	}
	for i := range layers {
		if profile[i] {
			r.u(44)
			r.u(44)
		}
		if level[i] {
			r.u(8)
		}
	}
}

// factors reads the scaling lists of HEVC.
func (r *bits) factors() {
	for size := range 4 {
		for i := 0; i < 6 && !r.over; i++ {
			if size == 3 && i%3 != 0 {
				continue
			}
			if !r.flag() {
				r.ue()
				continue
			}
			if size > 1 {
				r.ue()
			}
			r.skip(min(64, 1<<(4+2*size)))
		}
	}
}

// references reads the sets of reference pictures of HEVC.
func (r *bits) references() {
	before := 0
	for i, n := 0, r.up(64); i < n && !r.over; i++ {
		if i > 0 && r.flag() {
			r.flag()
			r.ue()
			kept := 0
			for range before + 1 {
				used := r.flag()
				if !used {
					used = r.flag()
				}
				if used {
					kept++
				}
			}
			before = kept
			continue
		}
		earlier, later := r.up(16), r.up(16)
		before = earlier + later
		for range before {
			r.ue()
			r.flag()
		}
	}
}

// ofAV1 reads the colors of the sequence header (AV1, 5.5), if that is in the configuration.
func (s *shape) ofAV1(b fields) {
	if b.u8(0)>>3&15 != 1 || b.u8(0)&2 == 0 { // no sequence header with a size comes first
		return
	}
	at := 1 + b.u8(0)>>2&1
	for b.u8(at)&0x80 != 0 {
		at++
	}
	r := &bits{b: b.from(at + 1)}
	profile := r.u(3)
	r.u(1)
	if reduced := r.flag(); reduced || !r.points() { // a reduced header is that of a still picture
		return
	}
	wide, tall := r.u(4)+1, r.u(4)+1
	width, height := r.u(wide)+1, r.u(tall)+1
	if r.flag() { // frames have ids
		r.u(7)
	}
	r.u(3)
	r.tools()
	high := r.flag()
	if profile == 2 && high {
		r.u(1)
	}
	mono := profile != 1 && r.flag()
	if r.flag() {
		s.colors.Primaries, s.colors.Transfer, s.colors.Matrix = r.u(8), r.u(8), r.u(8)
	}
	identity := s.colors.Primaries == 1 && s.colors.Transfer == 13 && s.colors.Matrix == 0
	if s.colors.Full = identity && !mono || r.flag(); r.over {
		s.colors = media.Colors{}
		return
	}
	s.ranged, s.width, s.height = true, width, height
}

// points reads the operating points of a sequence header. It reports false for one with a model of its decoder, which
// is rare in files.
func (r *bits) points() bool {
	if r.flag() { // the time of frames
		r.u(32)
		r.u(32)
		if r.flag() {
			r.ue()
		}
		if r.flag() {
			return false
		}
	}
	delayed := r.flag()
	for range r.u(5) + 1 {
		r.u(12)
		if r.u(5) > 7 {
			r.u(1)
		}
		if delayed && r.flag() {
			r.u(4)
		}
	}
	return !r.over
}

// tools reads which tools frames may use.
func (r *bits) tools() {
	r.u(4) // interintra, masked, warped, dual
	order := r.flag()
	if order {
		r.u(2)
	}
	forced := 2
	if !r.flag() {
		forced = r.u(1)
	}
	if forced > 0 && !r.flag() {
		r.u(1)
	}
	if order {
		r.u(3)
	}
	r.u(3) // super-resolution, cdef, restoration
}
