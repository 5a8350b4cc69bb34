package heif

import (
	"encoding/binary"
	"io"
)

// codec is how the tiles of a picture are encoded.
type codec struct {
	// demuxer is the name of the reader in ffmpeg.
	demuxer string
	// depth is the number of bits of a sample. The color differences are less by these numbers; 3 means that there
	// are none.
	depth        int
	across, down int
	// parameters come before each tile: sets of HEVC, in the form of Annex B, or the header of a sequence of AV1.
	parameters []byte
	length     int // of HEVC: bytes of the length of a unit
}

const gray = 3

// hevc reads hvcC (ISO/IEC 14496-15, 8.3.3.1).
func hevc(body []byte) (c codec, err error) {
	f := &fields{b: body}
	f.take(16)
	chroma, depth := f.int(1)&3, f.int(1)&7
	f.take(3)
	c = codec{demuxer: "hevc", depth: 8 + depth, length: f.int(1)&3 + 1}
	c.across, c.down = sampling(chroma)
	for range f.int(1) {
		kind := f.int(1) & 0x3f
		for range f.int(2) {
			if f.short {
				break
			}
			if unit := f.take(f.int(2)); kind >= 32 && kind <= 34 {
				c.parameters = append(append(c.parameters, 0, 0, 0, 1), unit...)
			}
		}
	}
	if f.short || len(c.parameters) == 0 {
		return c, broken("hvcC is too short")
	}
	return c, nil
}

func sampling(chroma int) (across, down int) {
	switch chroma {
	case 0:
		return gray, gray
	case 1:
		return 1, 1
	case 2:
		return 1, 0
	}
	return 0, 0
}

// av1 reads av1C (AV1 Codec ISO Media File Format Binding, 2.3.3).
func av1(body []byte) (c codec, err error) {
	f := &fields{b: body}
	if f.take(2); f.short {
		return c, broken("av1C is too short")
	}
	flags := f.int(1)
	bit := func(n int) int { return flags >> n & 1 }
	c = codec{demuxer: "ivf", depth: 8 + 2*bit(6) + 2*bit(6)*bit(5), across: bit(3), down: bit(2)}
	if bit(4) == 1 {
		c.across, c.down = gray, gray
	}
	f.take(1)
	c.parameters = f.b
	return c, nil
}

// write writes the tiles as ffmpeg reads them.
func (l *layer) write(w io.Writer) error {
	if l.codec.demuxer == "ivf" {
		return l.ivf(w)
	}
	for _, t := range l.tiles {
		if _, err := w.Write(t.codec.parameters); err != nil {
			return err
		}
		if err := t.units(w); err != nil {
			return err
		}
	}
	return nil
}

// units writes the units of a tile that are parts of a picture, or parameters of it. Others could turn it, or end the
// stream.
func (t tile) units(w io.Writer) error {
	const parts, sets = 31, 34
	f := &fields{b: t.data}
	for len(f.b) > t.codec.length {
		unit := f.take(f.int(t.codec.length))
		if f.short {
			return broken("a tile is cut off")
		}
		if len(unit) < 2 {
			continue
		}
		kind := unit[0] >> 1 & 0x3f
		if layer := unit[0]&1<<5 | unit[1]>>3; kind > sets || kind > parts && kind < 32 || layer != 0 {
			continue
		}
		if _, err := w.Write(append([]byte{0, 0, 0, 1}, unit...)); err != nil {
			return err
		}
	}
	return nil
}

// ivf writes the tiles as the frames of a file of the form IVF.
func (l *layer) ivf(w io.Writer) error {
	head := make([]byte, 32)
	copy(head, "DKIF\x00\x00\x20\x00AV01")
	binary.LittleEndian.PutUint16(head[12:], 16)
	binary.LittleEndian.PutUint16(head[14:], 16)
	binary.LittleEndian.PutUint32(head[16:], 25)
	binary.LittleEndian.PutUint32(head[20:], 1)
	binary.LittleEndian.PutUint32(head[24:], uint32(len(l.tiles)))
	if _, err := w.Write(head); err != nil {
		return err
	}
	delimiter := []byte{0x12, 0}
	for n, t := range l.tiles {
		frame := binary.LittleEndian.AppendUint32(nil, uint32(len(delimiter)+len(t.codec.parameters)+len(t.data)))
		frame = binary.LittleEndian.AppendUint64(frame, uint64(n))
		frame = append(append(frame, delimiter...), t.codec.parameters...)
		if _, err := w.Write(append(frame, t.data...)); err != nil {
			return err
		}
	}
	return nil
}
