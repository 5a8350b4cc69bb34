package audio

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Bit rates of MPEG audio layer III in kbit/s, by the index in a frame's header. Index 0 ("free") and 15 are not used
// in practice.
var (
	bitRatesV1 = [16]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0}
	bitRatesV2 = [16]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}
)

// sampleRates are those of MPEG-1. MPEG-2 has half, MPEG-2.5 a quarter of them.
var sampleRates = [4]int{44100, 48000, 32000, 0}

// frame is the header of one frame of MPEG audio.
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

// MP3 reads an MPEG layer III file frame by frame: bit rates vary, so only the number of frames determines the length.
func (f File) MP3() (Sound, error) {
	offset, err := f.afterID3()
	if err != nil {
		return Sound{}, err
	}
	src := &Watched{R: io.NewSectionReader(f.R, offset, f.Size-offset)}
	r := bufio.NewReader(src)
	var samples int64
	var rate int
	end := offset
	for frames := 0; ; frames++ {
		header, err := r.Peek(4)
		if err != nil {
			break // the end of the file, or an error that src keeps
		}
		fr, ok := parseFrame(binary.BigEndian.Uint32(header))
		if !ok || rate != 0 && fr.sampleRate != rate {
			break // a tag at the end, or the end of the sound
		}
		// The first frame may have the encoder's notes instead of sound.
		silent := frames == 0 && notes(r, fr)
		if _, err := r.Discard(fr.length); err != nil {
			break // cut off in the middle
		}
		end += int64(fr.length)
		if rate = fr.sampleRate; !silent {
			samples += int64(fr.samples)
		}
	}
	if src.Err != nil {
		return Sound{}, src.Err
	}
	if samples == 0 {
		return Sound{}, Unsupported("audio/mpeg without a frame of sound")
	}
	return Sound{MIMEType: "audio/mpeg", Ext: "mp3", Duration: playing(samples, int64(rate)), From: offset,
		To: end}, nil
}

// notes reports whether the next frame is an encoder's table (Xing, Info), which no player plays.
func notes(r *bufio.Reader, fr frame) bool {
	ahead, err := r.Peek(4 + fr.side + 4)
	if err != nil {
		return false
	}
	mark := string(ahead[4+fr.side:])
	return mark == "Xing" || mark == "Info"
}

// maxTags bounds the tags at the beginning.
const maxTags = 100

// afterID3 skips the tags at the beginning, if there are any. The length of a tag is four times seven bits, and does
// not include its own header of ten bytes.
func (f File) afterID3() (int64, error) {
	var tag [10]byte
	for offset, n := int64(0), 0; ; n++ {
		if n > maxTags {
			return 0, Unsupported("audio/mpeg of more than %d tags", maxTags)
		}
		if f.Size-offset < int64(len(tag)) {
			return offset, nil // too short to be a tag, or anything else
		}
		if err := f.At(offset, tag[:]); err != nil {
			return 0, err
		}
		if string(tag[:3]) != "ID3" {
			return offset, nil
		}
		offset += int64(len(tag))
		for i, shift := range []int{21, 14, 7, 0} {
			offset += int64(tag[6+i]&0x7f) << shift
		}
		if footer := tag[5]&0x10 != 0; footer {
			offset += int64(len(tag))
		}
		if offset > f.Size {
			return 0, Unsupported("audio/mpeg whose tag ends at %d of %d bytes", offset, f.Size)
		}
	}
}
