package audio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// Bit rates of MPEG audio layer III in kbit/s, by the index in a frame's header. Index 0 is a rate that the header does
// not tell ("free"), which few players know, and 15 is none.
var (
	bitRatesV1 = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	bitRatesV2 = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
)

// sampleRates are the sample rates of MPEG-1. MPEG-2 has half, MPEG-2.5 a quarter of them.
var sampleRates = [4]int{44100, 48000, 32000, 0}

// frame is the header of one frame of sound.
type frame struct {
	length     int // bytes, including its header
	samples    int
	sampleRate int
	side       int // bytes of side information after the header
}

// parseFrame reads the four bytes of a frame's header, and returns false if they are no header.
func parseFrame(header uint32) (frame, bool) {
	const sync, layer3 = 0x7ff, 1
	if header>>21 != sync || header>>17&3 != layer3 {
		return frame{}, false
	}
	kbits, rate := bitRatesV1[header>>12&15], sampleRates[header>>10&3]
	fr := frame{samples: 1152, side: 32}
	version := header >> 19 & 3
	switch version {
	case 0: // MPEG-2.5
		rate /= 4
	case 1: // reserved
		return frame{}, false
	case 2: // MPEG-2
		rate /= 2
	}
	if version != 3 {
		kbits = bitRatesV2[header>>12&15]
		fr = frame{samples: 576, side: 17}
	}
	if kbits == 0 || rate == 0 {
		return frame{}, false
	}
	if mono := header>>6&3 == 3; mono {
		fr.side = fr.side/2 + 1
	}
	padding := int(header >> 9 & 1)
	fr.sampleRate, fr.length = rate, fr.samples/8*kbits*1000/rate+padding
	return fr, true
}

// mp3Header reads the header of a frame of MPEG audio, layer III.
func mp3Header(b []byte) (frame, bool) {
	if len(b) < 4 {
		return frame{}, false
	}
	return parseFrame(binary.BigEndian.Uint32(b))
}

// MP3 reads an MPEG layer III file frame by frame: bit rates vary, so only the number of frames determines the length.
// Frames are looked for again after tags, padding and damage, as players do.
func (f File) MP3() (Sound, error) {
	s := scan{name: "MP3", header: mp3Header, notes: notes}
	if err := s.read(f); err != nil {
		return Sound{}, err
	}
	return Sound{MIMEType: "audio/mpeg", Ext: "mp3", Duration: playing(s.samples, int64(s.rate)), spans: s.spans,
		repair: s.repair(f)}, nil
}

// notes reports whether a frame is an encoder's table, which no player plays: Xing's, also by the name of Info, or that
// of Fraunhofer (VBRI).
func notes(r *bufio.Reader, fr frame) bool {
	const vbri = 4 + 32
	ahead, _ := r.Peek(vbri + 4)
	at := func(offset int, mark string) bool {
		return len(ahead) >= offset+len(mark) && string(ahead[offset:offset+len(mark)]) == mark
	}
	return at(4+fr.side, "Xing") || at(4+fr.side, "Info") || at(vbri, "VBRI")
}

// repair returns what makes the encoder's table at the beginning true: it tells players the number of frames. A table
// in another form than Xing's is left out if it is false. A file whose table is true, or that has none, is not changed.
func (s *scan) repair(f File) func([]byte) []byte {
	const most = 4 + 32 + 4 + 4 + 4 + 4
	if !s.noted || len(s.spans) == 0 {
		return nil
	}
	head := make([]byte, min(most, s.spans[0].to-s.spans[0].from))
	if f.At(s.spans[0].from, head) != nil {
		return nil
	}
	fr, _ := mp3Header(head)
	const hasFrames, hasBytes = 1, 2
	at := 4 + fr.side
	if len(head) < at+16 || string(head[at:at+4]) == "VBRI" || bytes.Equal(head[at:at+4], make([]byte, 4)) {
		if len(s.spans) == 1 {
			return nil
		}
		return func(kept []byte) []byte { return kept[fr.length:] }
	}
	flags := binary.BigEndian.Uint32(head[at+4:])
	if flags&hasFrames == 0 || int64(binary.BigEndian.Uint32(head[at+8:])) == s.frames && len(s.spans) == 1 {
		return nil
	}
	return func(kept []byte) []byte {
		binary.BigEndian.PutUint32(kept[at+8:], uint32(s.frames))
		if flags&hasBytes != 0 {
			binary.BigEndian.PutUint32(kept[at+12:], uint32(len(kept)))
		}
		return kept
	}
}

// scan finds the frames of a stream of sound.
type scan struct {
	name   string // of the format
	header func([]byte) (frame, bool)
	// notes reports whether the next frame has no sound.
	notes func(*bufio.Reader, frame) bool

	r         *bufio.Reader
	at, end   int64 // the place in the file, and its size
	rate      int   // samples a second
	samples   int64
	frames    int64 // with sound
	noted     bool  // the first frame has no sound
	spans     []span
	tags      int
	lostBytes int64 // bytes that are neither frames nor tags nor padding
}

// span is a range of bytes.
type span struct{ from, to int64 }

const (
	// scanAhead is more than a frame and the headers of the three after it take.
	scanAhead = 1 << 16
	// maxSpans bounds the places at which the sound is interrupted, and maxTags the tags.
	maxSpans, maxTags = 1 << 12, 1 << 12
	// maxLost is one of so many bytes of a file that may be damaged: what players skip without a notice.
	maxLost = 20
)

// read reads the frames of a file.
func (s *scan) read(f File) error {
	src := &ErrorReader{R: io.NewSectionReader(f.R, 0, f.Size)}
	s.r, s.end = bufio.NewReaderSize(src, scanAhead), f.Size
	inside := false // the byte behind a frame is next
	for {
		ahead, _ := s.r.Peek(10)
		if len(ahead) == 0 {
			break // the end of the file, or an error that src keeps
		}
		fr, ok := s.header(ahead)
		whole := ok && s.at+int64(fr.length) <= s.end
		switch {
		case whole && (inside && fr.sampleRate == s.rate || s.follows(fr)):
			if s.rate != 0 && fr.sampleRate != s.rate {
				return Refuse("The %s has %d samples a second at its beginning and %d after %.1f seconds. Players do "+
					"not agree about such files. Save it again with one sample rate.", s.name, s.rate, fr.sampleRate,
					playing(s.samples, int64(s.rate)).Seconds())
			}
			s.take(fr)
			inside = true
		case ok && inside && !whole:
			s.skip(s.end - s.at) // the last frame is cut off
		default:
			s.miss(ahead)
			inside = false
		}
		if len(s.spans) > maxSpans || s.tags > maxTags {
			return Refuse("The %s is interrupted in more than %d places. Save it again from the original.", s.name,
				maxSpans)
		}
	}
	if src.Err != nil {
		return src.Err
	}
	return s.judge()
}

// miss skips a tag, or a byte that is not part of a frame.
func (s *scan) miss(ahead []byte) {
	if n := tagLength(ahead, s.r); n > 0 && n <= s.end-s.at {
		s.tags++
		s.skip(n)
		return
	}
	if ahead[0] != 0 { // zeros are padding
		s.lostBytes++
	}
	s.skip(1)
}

// judge refuses a file without sound, and one of which too much would be left behind.
func (s *scan) judge() error {
	if s.samples == 0 {
		return Unsupported("%s without a frame of sound", s.name)
	}
	var kept int64
	for _, p := range s.spans {
		kept += p.to - p.from
	}
	if s.lostBytes*maxLost > kept {
		return Refuse("The %s is damaged: %d of its bytes are no sound, and %.1f seconds are left. Save it again from "+
			"the original.", s.name, s.lostBytes, playing(s.samples, int64(s.rate)).Seconds())
	}
	return nil
}

// take notes the next frame.
func (s *scan) take(fr frame) {
	silent := s.notes(s.r, fr)
	if silent && s.frames > 0 { // the table of a file that was appended
		s.skip(int64(fr.length))
		return
	}
	if last := len(s.spans) - 1; last >= 0 && s.spans[last].to == s.at {
		s.spans[last].to += int64(fr.length)
	} else {
		s.spans = append(s.spans, span{s.at, s.at + int64(fr.length)})
	}
	if s.rate = fr.sampleRate; silent {
		s.noted = true
	} else {
		s.samples += int64(fr.samples)
		s.frames++
	}
	s.skip(int64(fr.length))
}

// skip skips bytes within the file. An error of the reader ends the scan as it reads the next ones.
func (s *scan) skip(n int64) {
	for s.at += n; n > 0; n -= scanAhead {
		_, _ = s.r.Discard(int(min(n, scanAhead)))
	}
}

// follows reports whether a frame is one of a stream: others of the same rate follow it, or the end of the file or a
// tag. Bytes that look like a header are frequent.
func (s *scan) follows(fr frame) bool {
	want := 3
	if fr.sampleRate == s.rate {
		want = 1
	}
	at := 0
	for range want {
		if at += fr.length; s.at+int64(at) >= s.end {
			return s.at+int64(at) == s.end
		}
		ahead, _ := s.r.Peek(at + 10)
		if len(ahead) < at {
			return false
		}
		if tagLength(ahead[at:], nil) > 0 {
			return true
		}
		next, ok := s.header(ahead[at:])
		if !ok && s.rate == 0 && s.at+int64(at+maxFrame) >= s.end {
			return true // the rest is shorter than a frame
		}
		if !ok || next.sampleRate != fr.sampleRate {
			return false
		}
		fr = next
	}
	return true
}

// maxFrame is the longest frame of MP3, in bytes.
const maxFrame = 1441

// tagLength returns the length of the tag that begins here, or 0: ID3 (both versions), or APE. The length in ID3v2 is
// four times seven bits, and does not include its own header of ten bytes.
func tagLength(b []byte, r *bufio.Reader) int64 {
	const header, first, ape = 10, 128, 32
	has := func(mark string) bool { return len(b) >= len(mark) && string(b[:len(mark)]) == mark }
	switch {
	case has("ID3") && len(b) >= header && b[3] != 0xff && b[4] != 0xff && (b[6]|b[7]|b[8]|b[9])&0x80 == 0:
		n := int64(header)
		for i, shift := range []int{21, 14, 7, 0} {
			n += int64(b[6+i]) << shift
		}
		if footer := b[5]&0x10 != 0; footer {
			n += header
		}
		return n
	case has("TAG"):
		return first
	case has("APETAGEX"):
		if r == nil {
			return ape
		}
		if b, _ = r.Peek(ape); len(b) < ape {
			return int64(len(b))
		}
		const isHeader = 1 << 29
		if binary.LittleEndian.Uint32(b[20:])&isHeader != 0 {
			return ape + int64(binary.LittleEndian.Uint32(b[12:]))
		}
		return ape
	}
	return 0
}
