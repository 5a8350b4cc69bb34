package sandbox

import (
	"image"
	"image/color"
)

// A small H.264 encoder (ITU-T H.264, constrained baseline). A clip is a slow pan over a picture that is wider than its
// frames. The first frame has the whole picture: a macroblock of nearly one color is coded as the difference to the
// macroblock on its left or above, any other by its pixels. The frames after it move it, and show a part of it.

// macroblock is the edge of a macroblock in pixels.
const macroblock = 16

// frameRate is the number of frames in a second.
const frameRate = 30

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

// The pan: a step every third frame, so that also drafts with a third of the frames move evenly. With an even number of
// pixels, the chroma moves by whole pixels as well.
const (
	panStep  = 2 // pixels
	panEvery = 3 // frames
	panShare = 8 // the part of the width that a pan has at most
)

// clip264 is the video of a scene.
type clip264 struct {
	Scene
	across, down int // macroblocks
	steps        int // of the pan
}

// newClip264 returns the video of a scene with a number of frames.
func newClip264(s Scene, frames int) clip264 {
	steps := min((frames-1)/panEvery, s.Width/panShare/panStep)
	wide := s.Width + steps*panStep
	return clip264{s, (wide + macroblock - 1) / macroblock, (s.Height + macroblock - 1) / macroblock, steps}
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

// picture returns the picture of the clip, as wide as all frames together.
func (c clip264) picture() *image.YCbCr {
	wide := c.Scene
	wide.Width, wide.Height = c.across*macroblock, c.down*macroblock
	img := wide.draw(1, 0.5)
	out := image.NewYCbCr(img.Rect, image.YCbCrSubsampleRatio420)
	for y := range wide.Height {
		pix, luma := img.Pix[y*img.Stride:], out.Y[y*out.YStride:]
		for x := range wide.Width {
			p := pix[4*x:][:3]
			now := videoColor(p[0], p[1], p[2])
			luma[x] = uint8(now[0])
			if x%2+y%2 == 0 {
				at := y/2*out.CStride + x/2
				out.Cb[at], out.Cr[at] = uint8(now[1]), uint8(now[2])
			}
		}
	}
	return out
}

// plane is a part of a macroblock in one plane of a picture.
type plane struct {
	pix          []uint8
	stride, edge int
}

// planes returns the planes of a macroblock.
func planes(img *image.YCbCr, x, y int) [3]plane {
	x, y = x*macroblock, y*macroblock
	at := img.COffset(x, y)
	return [3]plane{{img.Y[img.YOffset(x, y):], img.YStride, macroblock}, {img.Cb[at:], img.CStride, macroblock / 2},
		{img.Cr[at:], img.CStride, macroblock / 2}}
}

// flatness is the greatest deviation from its middle of a plane that is coded as one color.
const flatness = 2

// flat returns the color of a macroblock if it has nearly one.
func flat(all [3]plane) (now [3]int, ok bool) {
	for i, p := range all {
		least, most := 255, 0
		for y := range p.edge {
			for _, v := range p.pix[y*p.stride:][:p.edge] {
				least, most = min(least, int(v)), max(most, int(v))
			}
		}
		if most-least > 2*flatness {
			return now, false
		}
		now[i] = (least + most + 1) / 2
	}
	return now, true
}

// key returns the first frame.
func (c clip264) key() []byte {
	w := &bitWriter{}
	w.ue(0) // first macroblock
	w.ue(7) // I
	w.ue(0)
	w.u(4, 0) // frame_num
	w.ue(0)
	w.u(2, 0)
	w.se(0)
	img := c.picture()
	type coded struct {
		color [3]int
		flat  bool
	}
	var left coded
	above := make([]coded, c.across)
	for y := range c.down {
		for x := range c.across {
			part := planes(img, x, y)
			now := coded{}
			now.color, now.flat = flat(part)
			// A neighbor of several colors predicts several, and changes the codes of coefficients.
			beside := x > 0 && !left.flat || y > 0 && !above[x].flat
			switch {
			case !now.flat, beside && (x == 0 || !left.flat) && (y == 0 || !above[x].flat):
				now.flat = false
				w.pixels(part)
			case x > 0 && left.flat:
				w.block(now.color, left.color, horizontal, beside)
			case y > 0:
				w.block(now.color, above[x].color, vertical, beside)
			default:
				w.block(now.color, [3]int{128, 128, 128}, average, false)
			}
			left, above[x] = now, now
		}
	}
	return w.nal(nalKey)
}

// pixels writes a macroblock by its pixels, I_PCM (7.3.5).
func (w *bitWriter) pixels(all [3]plane) {
	w.ue(25)
	w.align()
	for _, p := range all {
		for y := range p.edge {
			for _, v := range p.pix[y*p.stride:][:p.edge] {
				w.u(8, uint32(v))
			}
		}
	}
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

// block writes a macroblock of one color, Intra_16x16, by its difference from the predicted color (7.3.5). beside tells
// whether a neighbor was written by its pixels.
func (w *bitWriter) block(now, predicted [3]int, p prediction, beside bool) {
	dy, db, dr := now[0]-predicted[0], now[1]-predicted[1], now[2]-predicted[2]
	kind := 1 + p.luma
	if db != 0 || dr != 0 {
		kind += 4 // chroma has DC coefficients
	}
	w.ue(kind)
	w.ue(p.chroma)
	w.se(0)
	luma := lumaCodes
	if beside {
		luma = pixelCodes
	}
	w.coefficient(dy, luma)
	if db != 0 || dr != 0 {
		w.coefficient(db, chromaCodes)
		w.coefficient(dr, chromaCodes)
	}
}

// code is a code of some bits.
type code struct {
	bits  int
	value uint32
}

// codes are those of coeff_token (table 9-5) for no coefficient, for one of 1, and for one of another size.
type codes struct{ none, one, other code }

var (
	lumaCodes = codes{code{1, 0b1}, code{2, 0b01}, code{6, 0b000101}}
	// beside macroblocks that were written by their pixels
	pixelCodes  = codes{code{6, 0b000011}, code{6, 0b000001}, code{6, 0b000000}}
	chromaCodes = codes{code{2, 0b01}, code{1, 0b1}, code{6, 0b000111}}
)

func (w *bitWriter) code(c code) { w.u(c.bits, c.value) }

// coefficient writes a block of at most one coefficient, the first (9.2).
func (w *bitWriter) coefficient(v int, c codes) {
	size, sign := max(v, -v), uint32(0)
	if v < 0 {
		sign = 1
	}
	switch size {
	case 0:
		w.code(c.none)
		return
	case 1:
		w.code(c.one)
		w.u(1, sign)
	default:
		w.code(c.other)
		level := 2*size - 4 + int(sign) // a trailing 1 would have a code of its own
		switch {
		case level < 14:
			w.u(level+1, 1)
		case level < 30:
			w.u(15, 1)
			w.u(4, uint32(level-14))
		default:
			w.u(16, 1)
			w.u(12, uint32(level-30))
		}
	}
	w.u(1, 1) // no zeros before it
}

// next returns the n-th frame after the key frame, which repeats or moves the one before.
func (c clip264) next(n int) []byte {
	w := &bitWriter{}
	w.ue(0)
	w.ue(5) // P
	w.ue(0)
	w.u(4, uint32(n%16))
	w.u(3, 0)
	w.se(0)
	if n%panEvery > 0 || n/panEvery > c.steps {
		w.ue(uint32(c.across * c.down)) // all skipped
		return w.nal(nalFrame)
	}
	// The first macroblock has a motion vector, and the others are predicted to move as their neighbors do. Those with
	// a neighbor on the left and above are skipped: they have the predicted vector (8.4.1.1).
	for y := range c.down {
		for x := range c.across {
			if x > 0 && y > 0 {
				continue
			}
			skipped := 0
			if x == 0 && y > 1 {
				skipped = c.across - 1
			}
			w.ue(uint32(skipped))
			w.ue(0) // P_L0_16x16
			if x+y == 0 {
				w.se(4 * panStep) // quarters of a pixel
			} else {
				w.se(0)
			}
			w.se(0)
			w.ue(0) // no coefficients
		}
	}
	if rest := c.across - 1; c.down > 1 && rest > 0 {
		w.ue(uint32(rest))
	}
	return w.nal(nalFrame)
}
