package sandbox

import (
	"time"
)

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
