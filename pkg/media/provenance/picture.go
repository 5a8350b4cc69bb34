package provenance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// xmpMark begins the segments of JPEG that have XMP, and furtherMark those with the rest of a long one.
var (
	xmpMark     = []byte("http://ns.adobe.com/xap/1.0/\x00")
	furtherMark = []byte("http://ns.adobe.com/xmp/extension/\x00")
)

// The markers of JPEG (ITU-T T.81, table B.1); those of applications end at 0xef.
const (
	jpegScan = 0xda
	jpegApp  = 0xe0
)

// jpeg looks at the segments before the picture. Its own goes behind those of JFIF and Exif.
func (f file) jpeg() (c container, err error) {
	const mark = 4
	insert := int64(2)
	var dropped []span
	for at, n := int64(2), 0; ; n++ {
		if n > maxParts {
			return c, fmt.Errorf("%w: it has more than %d segments", ErrUnsupported, maxParts)
		}
		head, err := f.bytes(at, mark)
		switch {
		case err != nil:
			return c, err
		case head[0] != 0xff:
			return c, fmt.Errorf("%w: there is no segment at %d", ErrUnsupported, at)
		case head[1] == 0xff: // a marker may begin with more such bytes
			at++
			continue
		}
		end := at + 2 + int64(binary.BigEndian.Uint16(head[2:]))
		if head[1] == jpegScan {
			break
		}
		begin, err := f.bytes(at+mark, max(min(end-at-mark, int64(len(furtherMark))), 0))
		if err != nil {
			return c, err
		}
		switch app := head[1]; {
		case app == jpegApp+1 && bytes.HasPrefix(begin, xmpMark):
			c.packets = append(c.packets, span{at + mark + int64(len(xmpMark)), end})
			dropped = append(dropped, span{at, end})
		case app == jpegApp+1 && bytes.HasPrefix(begin, furtherMark):
			dropped = append(dropped, span{at, end})
		case app == jpegApp+11 && bytes.HasPrefix(begin, []byte("JP")):
			c.manifest = true
		case at == insert && (app == jpegApp || app == jpegApp+1):
			insert = end
		}
		at = end
	}
	c.with = func(packet []byte) []piece {
		segment := []byte{0xff, jpegApp + 1}
		segment = binary.BigEndian.AppendUint16(segment, uint16(2+len(xmpMark)+len(packet)))
		segment = append(append(segment, xmpMark...), packet...)
		return f.replaced(insert, segment, dropped)
	}
	return c, nil
}

// replaced returns the file with new bytes at a place, and without some spans.
func (f file) replaced(insert int64, content []byte, dropped []span) (all []piece) {
	at := int64(0)
	add := func(to int64) {
		if to > at {
			all = append(all, piece{span: span{at, to}})
			at = to
		}
	}
	inserted := false
	for _, d := range append(dropped, span{f.size, f.size}) {
		if !inserted && insert <= d.from {
			add(insert)
			all, inserted = append(all, piece{bytes: content}), true
		}
		add(d.from)
		at = d.to
	}
	return all
}

// xmpText begins the data of a chunk of PNG that has XMP.
var xmpText = []byte("XML:com.adobe.xmp\x00")

// png looks at the chunks before the picture.
func (f file) png() (c container, err error) {
	const signature, frame, first = 8, 12, 33 // the first chunk is behind the signature and has 25 bytes
	var dropped []span
	for at, n := int64(signature), 0; at+frame <= f.size; n++ {
		if n > maxParts {
			return c, fmt.Errorf("%w: it has more than %d chunks", ErrUnsupported, maxParts)
		}
		head, err := f.bytes(at, 8)
		if err != nil {
			return c, err
		}
		name, end := string(head[4:]), at+frame+int64(binary.BigEndian.Uint32(head))
		if end > f.size {
			return c, fmt.Errorf("%w: chunk %q at %d is cut off", ErrUnsupported, name, at)
		}
		if n == 0 && (name != "IHDR" || end != first) {
			return c, fmt.Errorf("%w: it begins with the chunk %q", ErrUnsupported, name)
		}
		switch name {
		case "caBX":
			c.manifest = true
		case "iTXt":
			text, err := f.bytes(at+8, min(end-at-frame, int64(len(xmpText))+4))
			if err != nil {
				return c, err
			}
			// Not compressed, without a language and a translated keyword.
			if bytes.HasPrefix(text, xmpText) {
				if bytes.Equal(text[len(xmpText):], make([]byte, 4)) {
					c.packets = append(c.packets, span{at + 8 + int64(len(text)), end - 4})
				}
				dropped = append(dropped, span{at, end})
			}
		}
		at = end
	}
	if f.size < first {
		return c, fmt.Errorf("%w: it is cut off", ErrUnsupported)
	}
	c.with = func(packet []byte) []piece {
		chunk := binary.BigEndian.AppendUint32(nil, uint32(len(xmpText)+4+len(packet)))
		chunk = append(append(append(chunk, "iTXt"...), xmpText...), 0, 0, 0, 0)
		chunk = append(chunk, packet...)
		chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
		return f.replaced(first, chunk, dropped)
	}
	return c, nil
}
