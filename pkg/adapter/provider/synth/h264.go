package synth

import (
	"image/color"
	"math/bits"
)

// A small H.264 encoder (ITU-T H.264, constrained baseline). A key frame has one color for each macroblock, coded as
// the difference to the macroblock on its left or above. The frames after it repeat it, in about ten bytes each.

// macroblock is the edge of a macroblock in pixels.
const macroblock = 16

// frameRate is the number of frames in a second.
const frameRate = 30

// bitWriter writes bits, the highest first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    int
}

func (w *bitWriter) u(n int, v uint32) {
	w.bits, w.n = w.bits<<n|uint64(v), w.n+n
	for w.n >= 8 {
		w.n -= 8
		w.out = append(w.out, byte(w.bits>>w.n))
	}
}

// ue writes an unsigned Exp-Golomb code (9.1), and se a signed one.
func (w *bitWriter) ue(v uint32) {
	n := bits.Len32(v + 1)
	w.u(n-1, 0)
	w.u(n, v+1)
}

func (w *bitWriter) se(v int) {
	if v > 0 {
		w.ue(uint32(2*v - 1))
	} else {
		w.ue(uint32(-2 * v))
	}
}

// nal ends a NAL unit and returns it with its header. It inserts the bytes that prevent a start code inside (7.4.1).
func (w *bitWriter) nal(header byte) []byte {
	w.u(1, 1)
	if w.n > 0 {
		w.u(8-w.n, 0)
	}
	out := []byte{header}
	zeros := 0
	for _, b := range w.out {
		if zeros == 2 && b <= 3 {
			out, zeros = append(out, 3), 0
		}
		if out = append(out, b); b == 0 {
			zeros++
		} else {
			zeros = 0
		}
	}
	return out
}

// The types of NAL units, with the bit for units that others refer to.
const (
	nalSPS   = 0x67
	nalPPS   = 0x68
	nalKey   = 0x65
	nalFrame = 0x41
)

// The profile and level in the headers: 4.0 has room for 1920 x 1080 at 30 frames a second, 5.1 for the largest scene.
const (
	profile     = 66
	constraints = 0xc0
	level       = 40
	largeLevel  = 51
)

// clip264 is the video of a scene.
type clip264 struct {
	Scene
	across, down int // macroblocks
}

func newClip264(s Scene) clip264 {
	return clip264{s, (s.Width + macroblock - 1) / macroblock, (s.Height + macroblock - 1) / macroblock}
}

func (c clip264) level() uint32 {
	if c.across*c.down > 8192 {
		return largeLevel
	}
	return level
}

// sps returns the sequence parameter set (7.3.2.1).
func (c clip264) sps() []byte {
	w := &bitWriter{}
	w.u(8, profile)
	w.u(8, constraints)
	w.u(8, c.level())
	w.ue(0) // id
	w.ue(0) // 4 bits of frame_num
	w.ue(2) // frames are shown in the order of decoding
	w.ue(1) // reference frames
	w.u(1, 0)
	w.ue(uint32(c.across - 1))
	w.ue(uint32(c.down - 1))
	w.u(1, 1) // frames, not fields
	w.u(1, 0)
	right, bottom := c.across*macroblock-c.Width, c.down*macroblock-c.Height
	if right+bottom == 0 {
		w.u(1, 0)
	} else {
		w.u(1, 1)
		for _, cut := range []int{0, right / 2, 0, bottom / 2} {
			w.ue(uint32(cut))
		}
	}
	w.u(1, 0) // no VUI
	return w.nal(nalSPS)
}

// The quantizers: with them, a level of 1 changes luma, and each chroma, by 1 (8.5).
const (
	lumaQP       = 28
	chromaOffset = -6
)

// pps returns the picture parameter set (7.3.2.2).
func pps() []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(0)
	w.u(1, 0) // CAVLC
	w.u(1, 0)
	w.ue(0)
	w.ue(0)
	w.ue(0)
	w.u(3, 0) // no weighted prediction
	w.se(lumaQP - 26)
	w.se(0)
	w.se(chromaOffset)
	w.u(3, 0)
	return w.nal(nalPPS)
}

// key returns a key frame of the scene at a moment. Two consecutive ones need different ids.
func (c clip264) key(id uint32, moment float64) []byte {
	w := &bitWriter{}
	w.ue(0) // first macroblock
	w.ue(7) // I
	w.ue(0)
	w.u(4, 0) // frame_num
	w.ue(id)
	w.u(2, 0)
	w.se(0)
	img := c.draw(macroblock, moment)
	at := func(x, y int) [3]int {
		p := img.RGBAAt(x, y)
		return videoColor(p.R, p.G, p.B)
	}
	for y := range c.down {
		for x := range c.across {
			switch now := at(x, y); {
			case x > 0:
				w.block(now, at(x-1, y), horizontal)
			case y > 0:
				w.block(now, at(x, y-1), vertical)
			default:
				w.block(now, [3]int{128, 128, 128}, average)
			}
		}
	}
	return w.nal(nalKey)
}

// videoColor returns a color in the range of video (BT.601).
func videoColor(r, g, b uint8) [3]int {
	y, cb, cr := color.RGBToYCbCr(r, g, b)
	return [3]int{16 + int(y)*219/255, 128 + (int(cb)-128)*224/255, 128 + (int(cr)-128)*224/255}
}

// prediction is the prediction of a macroblock: its numbers for luma and chroma differ (8.3.3, 8.3.4).
type prediction struct{ luma, chroma uint32 }

var (
	vertical   = prediction{0, 2}
	horizontal = prediction{1, 1}
	average    = prediction{2, 0}
)

// block writes a macroblock of one color, Intra_16x16, by its difference from the predicted color (7.3.5).
func (w *bitWriter) block(now, predicted [3]int, p prediction) {
	dy, db, dr := now[0]-predicted[0], now[1]-predicted[1], now[2]-predicted[2]
	kind := 1 + p.luma
	if db != 0 || dr != 0 {
		kind += 4 // chroma has DC coefficients
	}
	w.ue(kind)
	w.ue(p.chroma)
	w.se(0)
	w.coefficient(dy, 6, 0b000101, 2, 0b01, 1)
	if db != 0 || dr != 0 {
		w.coefficient(db, 6, 0b000111, 1, 0b1, 2)
		w.coefficient(dr, 6, 0b000111, 1, 0b1, 2)
	}
}

// coefficient writes a block of at most one coefficient, the first (9.2). The codes are
// those of coeff_token: one coefficient of another size, one of 1, and none, which is a
// 1 in none bits.
func (w *bitWriter) coefficient(v, manyBits int, many uint32, oneBits int, one uint32, none int) {
	size := max(v, -v)
	switch size {
	case 0:
		w.u(none, 1)
		return
	case 1:
		w.u(oneBits, one)
		sign := uint32(0)
		if v < 0 {
			sign = 1
		}
		w.u(1, sign)
	default:
		w.u(manyBits, many)
		code := 2*size - 4 // a trailing 1 would have a code of its own
		if v < 0 {
			code++
		}
		switch {
		case code < 14:
			w.u(code+1, 1)
		case code < 30:
			w.u(15, 1)
			w.u(4, uint32(code-14))
		default:
			w.u(16, 1)
			w.u(12, uint32(code-30))
		}
	}
	w.u(1, 1) // no zeros before it
}

// repeat returns a frame that repeats the one before, the n-th after its key frame.
func (c clip264) repeat(n int) []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(5) // P
	w.ue(0)
	w.u(4, uint32(n%16))
	w.u(3, 0)
	w.se(0)
	w.ue(uint32(c.across * c.down)) // all skipped
	return w.nal(nalFrame)
}
