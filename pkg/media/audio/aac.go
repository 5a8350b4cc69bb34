package audio

import (
	"encoding/binary"
	"time"
)

// aacRates are the sample rates of AAC, by their index.
var aacRates = [16]int{96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350}

// aacSamples is how many samples a block of AAC has.
const aacSamples = 1024

// aac reads a stream of AAC in ADTS frame by frame.
func aac(content []byte) (Sound, error) {
	var at, blocks, rate int
	for at+7 <= len(content) {
		h := content[at:]
		is := aacRates[h[2]>>2&15]
		length := int(h[3]&3)<<11 | int(h[4])<<3 | int(h[5]>>5)
		if h[0] != 0xff || h[1]&0xf6 != 0xf0 || is == 0 || rate != 0 && is != rate || length < 7 || at+length > len(content) {
			break
		}
		blocks += int(h[6]&3) + 1
		rate, at = is, at+length
	}
	if blocks == 0 {
		return Sound{}, Unsupported("audio/aac without a frame of sound")
	}
	return Sound{MIMEType: "audio/aac", Ext: "aac", Duration: playing(int64(blocks)*aacSamples, int64(rate)), To: int64(at)}, nil
}

// playing is how long samples play at a rate.
func playing(n, rate int64) time.Duration {
	return time.Duration(float64(n) / float64(rate) * float64(time.Second))
}

// track is what the boxes of an MP4 say of its sound.
type track struct {
	length time.Duration // the longest that any of them claims
	frames int64
	rate   int64 // samples a second
	sound  int   // tracks
	other  bool  // it has a track of something else, or is in fragments
	boxes  int
}

// maxBoxes bounds the boxes looked at, and maxLength what a file may claim to play.
const (
	maxBoxes  = 1 << 12
	maxLength = 24 * time.Hour
)

// m4a reads an MP4 whose only track is AAC. Its length is the longest of what its
// boxes claim and of what its frames play.
func m4a(content []byte) (Sound, error) {
	var t track
	if err := t.walk(content, ""); err != nil {
		return Sound{}, err
	}
	if t.sound != 1 || t.other || t.frames == 0 || t.rate == 0 {
		return Sound{}, Unsupported("audio/mp4 with %d tracks of sound and %d frames", t.sound, t.frames)
	}
	length := max(t.length, playing(t.frames*aacSamples, t.rate))
	if length <= 0 || length > maxLength {
		return Sound{}, Unsupported("audio/mp4 of %v", length)
	}
	return Sound{MIMEType: "audio/mp4", Ext: "m4a", Duration: length, To: int64(len(content))}, nil
}

// walk reads the boxes of a part of the file.
func (t *track) walk(content []byte, path string) error {
	for len(content) >= 8 {
		if t.boxes++; t.boxes > maxBoxes {
			return Unsupported("audio/mp4 of more than %d boxes", maxBoxes)
		}
		size, header := uint64(binary.BigEndian.Uint32(content)), uint64(8)
		switch {
		case size == 0: // to the end
			size = uint64(len(content))
		case size == 1 && len(content) >= 16:
			size, header = binary.BigEndian.Uint64(content[8:]), 16
		}
		if size < header || size > uint64(len(content)) {
			return Unsupported("audio/mp4: a box in %q claims %d of %d bytes", path, size, len(content))
		}
		if err := t.box(path+"/"+string(content[4:8]), content[header:size]); err != nil {
			return err
		}
		content = content[size:]
	}
	return nil
}

// box reads one box.
func (t *track) box(path string, body []byte) error {
	u32 := func(at int) int64 {
		if at+4 > len(body) {
			return 0
		}
		return int64(binary.BigEndian.Uint32(body[at:]))
	}
	const media = "/moov/trak/mdia"
	switch path {
	case "/moov", "/moov/trak", media, media + "/minf", media + "/minf/stbl":
		return t.walk(body, path)
	case "/moof", "/moov/mvex":
		t.other = true
	case "/moov/mvhd", media + "/mdhd":
		rate, units := u32(12), u32(16)
		if len(body) > 0 && body[0] == 1 { // 64 bits
			rate, units = u32(20), u32(24)<<32|u32(28)
		}
		if rate > 0 && units > 0 && units != 1<<32-1 {
			t.length = max(t.length, min(playing(units, rate), 2*maxLength))
		}
	case media + "/hdlr":
		if u32(8) == 0x736f756e { // soun
			t.sound++
		} else {
			t.other = true
		}
	case media + "/minf/stbl/stsz":
		t.frames += u32(8)
	case media + "/minf/stbl/stsd":
		// Of the first entry: its size and name, and the sample rate in its upper half.
		if u32(4) != 1 || u32(12) != 0x6d703461 { // mp4a
			t.other = true
		}
		t.rate = u32(8+32) >> 16
	}
	return nil
}
