package audio

import (
	"encoding/binary"
	"time"
)

// track is the data about sound in the boxes of an MP4.
type track struct {
	length  time.Duration // the longest claimed length
	frames  int64
	configs []aacConfig // of the decoder
	sound   int         // tracks
	other   bool        // it has another track, or fragments
	boxes   int
}

// maxBoxes bounds the boxes that are read, and maxLength the claimed length of a file.
const (
	maxBoxes  = 1 << 12
	maxLength = 24 * time.Hour
)

// m4a reads an MP4 whose only track is AAC. Its length is the longest of the lengths that its boxes claim and of the
// duration of its frames, at the rate at which a decoder plays them.
func m4a(content []byte) (Sound, error) {
	var t track
	if err := t.walk(content, ""); err != nil {
		return Sound{}, err
	}
	if t.sound != 1 || t.other || t.frames == 0 || len(t.configs) != 1 {
		return Sound{}, Unsupported("audio/mp4 with %d tracks of sound, %d decoders and %d frames", t.sound,
			len(t.configs), t.frames)
	}
	length := max(t.length, playing(t.frames*t.configs[0].samples, t.configs[0].rate))
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

func (t *track) box(path string, body []byte) error {
	u32 := func(at int) int64 {
		if at+4 > len(body) {
			return 0
		}
		return int64(binary.BigEndian.Uint32(body[at:]))
	}
	const media, entry = "/moov/trak/mdia", "/moov/trak/mdia/minf/stbl/stsd/mp4a"
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
		if u32(4) != 1 || u32(12) != 0x6d703461 { // mp4a
			t.other = true
			return nil
		}
		return t.walk(body[8:], path)
	case entry:
		// Boxes follow its fields, whose rate no decoder reads. The second version of QuickTime has four more fields.
		const fields, version, more = 28, 8, 16
		skip := fields
		if len(body) > version+1 && binary.BigEndian.Uint16(body[version:]) == 1 {
			skip += more
		}
		return t.walk(body[min(skip, len(body)):], path)
	case entry + "/wave":
		return t.walk(body, path)
	case entry + "/esds", entry + "/wave/esds":
		config, err := readESDS(body)
		t.configs = append(t.configs, config)
		return err
	}
	return nil
}
