package provenance

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// xmpOwner begins a private frame of ID3 that has XMP.
var xmpOwner = []byte("XMP\x00")

// maxTag bounds the tag of an MP3: pictures are among its frames.
const maxTag = 16 << 20

// mp3 looks at the tag at the beginning of an MP3 (ID3v2.3 and 2.4). The frames that are not XMP stay. A tag in another
// form is replaced.
func (f file) mp3() (c container, err error) {
	const header, major = 10, 3
	head, err := f.bytes(0, header)
	if err != nil {
		return c, err
	}
	version, end := byte(major), int64(0)
	var kept []piece
	if string(head[:3]) == "ID3" {
		end = header + int64(sync28(head[6:]))
		if end > f.size || end > maxTag {
			return c, fmt.Errorf("%w: its tag has %d bytes", ErrUnsupported, end)
		}
		if plain := head[5] == 0 && (head[3] == major || head[3] == major+1); plain {
			version = head[3]
			if kept, err = f.frames(&c, end, version); err != nil {
				return c, err
			}
		} else if head[5]&0x10 != 0 { // a footer as long as the header
			end = min(end+header, f.size)
		}
	}
	c.with = func(packet []byte) []piece {
		// What is empty ends the frames of a tag.
		frame := append(privateFrame(packet, version), make([]byte, header)...)
		size := int64(len(frame))
		for _, p := range kept {
			size += p.length()
		}
		tag := append([]byte{'I', 'D', '3', version, 0, 0}, bytes28(int(size))...)
		all := append([]piece{{bytes: tag}}, kept...)
		return append(all, piece{bytes: frame}, piece{span: span{end, f.size}})
	}
	return c, nil
}

// frames notes what the frames of a tag have, and returns those that are not XMP.
func (f file) frames(c *container, end int64, version byte) (kept []piece, err error) {
	const header, named = 10, 64 // the name of an object is among its first bytes
	at := int64(header)
	for n := 0; at+header <= end; n++ {
		if n > maxParts {
			return nil, fmt.Errorf("%w: its tag has more than %d frames", ErrUnsupported, maxParts)
		}
		frame, err := f.bytes(at, min(header+named, end-at))
		if err != nil {
			return nil, err
		}
		size := int64(binary.BigEndian.Uint32(frame[4:]))
		if version == 4 {
			size = int64(sync28(frame[4:]))
		}
		next := at + header + size
		if frame[0] == 0 || next > end {
			break
		}
		body := frame[header:min(int64(len(frame)), header+size)]
		switch name := string(frame[:4]); {
		case name == "PRIV" && bytes.HasPrefix(body, xmpOwner):
			c.packets = append(c.packets, span{at + header + int64(len(xmpOwner)), next})
		default:
			c.manifest = c.manifest || name == "GEOB" && bytes.Contains(body, []byte("c2pa"))
			if last := len(kept) - 1; last >= 0 && kept[last].to == at {
				kept[last].to = next
			} else {
				kept = append(kept, piece{span: span{at, next}})
			}
		}
		at = next
	}
	return kept, nil
}

func privateFrame(packet []byte, version byte) []byte {
	size := len(xmpOwner) + len(packet)
	frame := []byte("PRIV")
	if version == 4 {
		frame = append(frame, bytes28(size)...)
	} else {
		frame = binary.BigEndian.AppendUint32(frame, uint32(size))
	}
	return append(append(append(frame, 0, 0), xmpOwner...), packet...)
}

// sync28 reads a number of which each byte has seven bits.
func sync28(b []byte) int {
	return int(b[0]&0x7f)<<21 | int(b[1]&0x7f)<<14 | int(b[2]&0x7f)<<7 | int(b[3]&0x7f)
}

// bytes28 writes a number in four bytes of seven bits.
func bytes28(n int) []byte {
	return []byte{byte(n >> 21 & 0x7f), byte(n >> 14 & 0x7f), byte(n >> 7 & 0x7f), byte(n & 0x7f)}
}
