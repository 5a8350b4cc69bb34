package probe

import "github.com/content-automation/api/pkg/media"

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
