package provenance

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// xmpOwner begins a private frame of ID3 that has XMP.
var xmpOwner = []byte("XMP\x00")

// maxTag bounds the frames of a tag, which are read whole: pictures are among them.
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
	var kept []byte
	if string(head[:3]) == "ID3" {
		end = header + int64(sync28(head[6:]))
		if end > f.size || end > maxTag {
			return c, fmt.Errorf("%w: its tag has %d bytes", ErrUnsupported, end)
		}
		if plain := head[5] == 0 && (head[3] == major || head[3] == major+1); plain {
			version = head[3]
			tag, err := f.bytes(header, end-header)
			if err != nil {
				return c, err
			}
			kept = c.frames(tag, version)
		} else if head[5]&0x10 != 0 { // a footer as long as the header
			end = min(end+header, f.size)
		}
	}
	c.with = func(packet []byte) []piece {
		// What is empty ends the frames of a tag.
		frame := append(privateFrame(packet, version), make([]byte, header)...)
		tag := []byte{'I', 'D', '3', version, 0, 0}
		tag = append(append(append(tag, bytes28(len(kept)+len(frame))...), kept...), frame...)
		return []piece{{bytes: tag}, {span: span{end, f.size}}}
	}
	return c, nil
}

// frames notes what the frames of a tag have, and returns those that are not XMP.
func (c *container) frames(tag []byte, version byte) (kept []byte) {
	const header = 10
	at := 0
	for at+header <= len(tag) && tag[at] != 0 {
		size := int(binary.BigEndian.Uint32(tag[at+4:]))
		if version == 4 {
			size = sync28(tag[at+4:])
		}
		end := at + header + size
		if size < 0 || end > len(tag) {
			break
		}
		body := tag[at+header : end]
		switch name := string(tag[at : at+4]); {
		case name == "PRIV" && bytes.HasPrefix(body, xmpOwner):
			c.packets = append(c.packets, span{int64(header + at + header + len(xmpOwner)), int64(header + end)})
		default:
			c.manifest = c.manifest || name == "GEOB" && bytes.Contains(body[:min(len(body), 64)], []byte("c2pa"))
			kept = append(kept, tag[at:end]...)
		}
		at = end
	}
	return kept
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
