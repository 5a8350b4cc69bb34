package sandbox

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math/bits"
	"time"
)

// box returns a box of an MP4 file (ISO/IEC 14496-12) with the parts as its content.
func box(name string, parts ...[]byte) []byte {
	size := 8
	for _, p := range parts {
		size += len(p)
	}
	out := make([]byte, 8, size)
	binary.BigEndian.PutUint32(out, uint32(size))
	copy(out[4:], name)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// words returns numbers of 32 bits, and halves of 16.
func words(all ...uint32) (out []byte) {
	for _, v := range all {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

func halves(all ...uint16) (out []byte) {
	for _, v := range all {
		out = binary.BigEndian.AppendUint16(out, v)
	}
	return out
}

// unity is the matrix that leaves a picture unchanged.
var unity = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

// track is a track of a movie whose samples all have the same duration.
type track struct {
	handler string // vide or soun
	entry   []byte // of stsd
	// rate is the number of units in a second, and each the duration of a sample.
	rate, each uint32
	samples    [][]byte
	keys       []uint32 // numbers of the key frames, from 1; empty if all samples are
	perChunk   int      // samples
	width      int
	height     int
}

func (t track) units() uint32 { return uint32(len(t.samples)) * t.each }

func (t track) chunks() (sizes []int) {
	for i, s := range t.samples {
		if i%t.perChunk == 0 {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1] += len(s)
	}
	return sizes
}

// table returns the table of the samples, whose chunks are at the offsets.
func (t track) table(offsets []uint32) []byte {
	sizes := make([]uint32, len(t.samples))
	for i, s := range t.samples {
		sizes[i] = uint32(len(s))
	}
	chunks := words(0, 1, 1, uint32(t.perChunk), 1)
	if rest := len(t.samples) % t.perChunk; rest > 0 {
		if last := uint32(len(t.samples)/t.perChunk) + 1; last == 1 {
			chunks = words(0, 1, 1, uint32(rest), 1)
		} else {
			chunks = words(0, 2, 1, uint32(t.perChunk), 1, last, uint32(rest), 1)
		}
	}
	var keys []byte
	if len(t.keys) > 0 {
		keys = box("stss", words(0, uint32(len(t.keys))), words(t.keys...))
	}
	return box("stbl",
		box("stsd", words(0, 1), t.entry),
		box("stts", words(0, 1, uint32(len(t.samples)), t.each)),
		keys,
		box("stsc", chunks),
		box("stsz", words(0, 0, uint32(len(sizes))), words(sizes...)),
		box("stco", words(0, uint32(len(offsets))), words(offsets...)))
}

// movieRate is the number of units in a second of the movie.
const movieRate = 1000

func (t track) length() uint32 {
	return uint32((uint64(t.units())*movieRate + uint64(t.rate)/2) / uint64(t.rate))
}

// trak returns the box of the n-th track.
func (t track) trak(n uint32, offsets []uint32) []byte {
	header, volume := box("vmhd", words(1, 0, 0)), uint16(0)
	if t.handler == "soun" {
		header, volume = box("smhd", words(0, 0)), 0x100
	}
	return box("trak",
		box("tkhd", words(3, 0, 0, n, 0, t.length(), 0, 0), halves(0, 0, volume, 0), unity,
			words(uint32(t.width)<<16, uint32(t.height)<<16)),
		box("mdia",
			box("mdhd", words(0, 0, 0, t.rate, t.units(), 0x55c40000)),
			box("hdlr", words(0, 0), []byte(t.handler), words(0, 0, 0), []byte{0}),
			box("minf", header, box("dinf", box("dref", words(0, 1), box("url ", words(1)))), t.table(offsets))))
}

// movie returns the file of the tracks. The index comes first, and the tracks alternate every second.
func movie(tracks ...track) []byte {
	offsets := make([][]uint32, len(tracks))
	for i, t := range tracks {
		offsets[i] = make([]uint32, len(t.chunks()))
	}
	moov := func() []byte {
		var length uint32
		var traks []byte
		for i, t := range tracks {
			length = max(length, t.length())
			traks = append(traks, t.trak(uint32(i+1), offsets[i])...)
		}
		return box("moov", box("mvhd", words(0, 0, 0, movieRate, length, 0x10000), halves(0x100, 0), words(0, 0), unity,
			words(0, 0, 0, 0, 0, 0, uint32(len(tracks)+1))), traks)
	}
	ftyp := box("ftyp", []byte("isom"), words(0x200), []byte("isomiso2avc1mp41"))
	at := len(ftyp) + len(moov()) + 8 // the size of moov does not depend on the offsets
	var data []byte
	for n, more := 0, true; more; n++ {
		more = false
		for i, t := range tracks {
			if n >= len(offsets[i]) {
				continue
			}
			more = true
			offsets[i][n] = uint32(at + len(data))
			for _, s := range t.samples[n*t.perChunk : min((n+1)*t.perChunk, len(t.samples))] {
				data = append(data, s...)
			}
		}
	}
	return append(append(ftyp, moov()...), box("mdat", data)...)
}

// videoTrack returns the track of a clip.
func videoTrack(s Scene, length time.Duration) track {
	frames := max(int(length*frameRate+time.Second/2)/int(time.Second), 1)
	c := newClip264(s, frames)
	sps, pps := c.sps(), pps()
	avcC := append([]byte{1, profile, constraints, byte(c.level()), 0xff, 0xe1}, halves(uint16(len(sps)))...)
	avcC = append(append(append(append(avcC, sps...), 1), halves(uint16(len(pps)))...), pps...)
	entry := box("avc1", words(0), halves(0, 1), words(0, 0, 0, 0), halves(uint16(s.Width), uint16(s.Height)),
		words(0x480000, 0x480000, 0), halves(1),
		make([]byte, 32), halves(24, 0xffff), box("avcC", avcC))
	t := track{handler: "vide", entry: entry, rate: 90000, each: 90000 / frameRate, perChunk: frameRate, width: s.Width,
		height: s.Height}
	sized := func(nal []byte) []byte { return append(words(uint32(len(nal))), nal...) }
	t.keys, t.samples = []uint32{1}, [][]byte{sized(c.key())}
	for n := 1; n < frames; n++ {
		t.samples = append(t.samples, sized(c.next(n)))
	}
	return t
}

// The sound of clips: AAC, mono, of 44,100 samples a second.
const (
	aacRate    = 44100
	aacSamples = 1024
)

// silence is a frame of AAC-LC in mono without sound (ISO/IEC 14496-3).
var silence = []byte{0x00, 0xc8, 0x00, 0x80, 0x23, 0x80}

func silentTrack(length time.Duration) track {
	config := []byte{0x12, 0x08} // AAC-LC, 44,100, one channel
	descriptor := func(tag byte, parts ...[]byte) []byte {
		b := box("", parts...)[8:]
		return append([]byte{tag, byte(len(b))}, b...)
	}
	esds := box("esds", words(0), descriptor(3, halves(2), []byte{0},
		descriptor(4, []byte{0x40, 0x15, 0, 0, 0}, words(2100, 2100), descriptor(5, config)), descriptor(6, []byte{2})))
	entry := box("mp4a", words(0), halves(0, 1), words(0, 0), halves(1, 16, 0, 0), words(aacRate<<16), esds)
	t := track{handler: "soun", entry: entry, rate: aacRate, each: aacSamples, perChunk: aacRate / aacSamples}
	for range max(int(length.Seconds()*aacRate)/aacSamples, 1) {
		t.samples = append(t.samples, silence)
	}
	return t
}

// MP4 makes a clip of the scene: H.264, and silence in AAC if sound is set. The result must not be changed: it may be
// shared.
func MP4(s Scene, length time.Duration, sound bool) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := checkLength(length); err != nil {
		return nil, err
	}
	return recent.get(fmt.Sprintf("MP4 %+v %v %t", s, length, sound), func() ([]byte, error) {
		tracks := []track{videoTrack(s, length)}
		if sound {
			tracks = append(tracks, silentTrack(length))
		}
		return movie(tracks...), nil
	})
}

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

// codes are the codes of coeff_token (table 9-5) for no coefficient, for one of 1, and for one of another size.
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

// align writes zeros up to the next byte.
func (w *bitWriter) align() {
	if w.n > 0 {
		w.u(8-w.n, 0)
	}
}

// nal ends a NAL unit and returns it with its header. It inserts the bytes that prevent a start code inside (7.4.1).
func (w *bitWriter) nal(header byte) []byte {
	w.u(1, 1)
	w.align()
	out := append(make([]byte, 0, len(w.out)+len(w.out)/64+1), header)
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

// Frames of MPEG-1 layer III (ISO/IEC 11172-3): mono, 48,000 samples a second, 32
// kbit/s, so that each has 96 bytes and plays 24 ms.
const (
	mp3Header  = 0xfffb14c4
	mp3Frame   = 96
	mp3Samples = 1152
	mp3Rate    = 48000
)

// The lowest and the highest pair of frequency lines of a note: a line is 41.7 Hz wide.
const lowest, highest = 3, 12

// note is the number of frames of a note, and rest the number of silent ones among them.
const note, rest = 10, 2

// loudness is the global gain of a note.
const loudness = 195

// tone returns a frame with a tone on one pair of frequency lines. 0 is silence.
func tone(pair uint32) []byte {
	// The main data: pairs of 0, each a 1 (table 1 of Huffman codes), and one pair (1,
	// 0), which is 01, with the sign.
	var pairs, length, gain, table uint32
	if pair > 0 {
		pairs, length, gain, table = pair+1, pair+3, loudness, 1
	}
	w := &bitWriter{}
	w.u(32, mp3Header)
	w.u(18, 0) // the data begins in this frame; no scale factors are shared
	for range 2 {
		w.u(12, length)
		w.u(9, pairs)
		w.u(8, gain)
		w.u(4, 0)
		w.u(1, 0)
		for range 3 {
			w.u(5, table)
		}
		w.u(10, 0)
	}
	for range 2 {
		if pair > 0 {
			w.u(int(pair), 1<<pair-1)
			w.u(3, 0b010)
		}
	}
	if w.n > 0 {
		w.u(8-w.n, 0)
	}
	return append(w.out, make([]byte, mp3Frame-len(w.out))...)
}

// MP3 makes a melody that depends on the seed.
func MP3(seed uint32, length time.Duration) ([]byte, error) {
	if err := checkLength(length); err != nil {
		return nil, err
	}
	const plays = time.Second * mp3Samples / mp3Rate
	r := random(seed)
	frames := max(int((length+plays/2)/plays), 1)
	out := make([]byte, 0, frames*mp3Frame)
	quiet, sounding := tone(0), tone(lowest+r.next(highest-lowest))
	for i := range frames {
		if i > 0 && i%note == 0 {
			sounding = tone(lowest + r.next(highest-lowest))
		}
		if i%note < note-rest {
			out = append(out, sounding...)
		} else {
			out = append(out, quiet...)
		}
	}
	return out, nil
}
