package provenance

import (
	"encoding/binary"
	"fmt"
)

// The kinds of boxes that extend MP4: the one with XMP, and the one of C2PA.
var (
	xmpBox  = [16]byte{0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac}
	c2paBox = [16]byte{0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81}
)

// mp4 looks at the boxes of an MP4 or M4A. XMP goes behind all of them, so that nothing in the file changes its place:
// the tables of samples have places in the file. A box with earlier XMP becomes free space.
func (f file) mp4() (c container, err error) {
	const short, long, kind = 8, 16, 16
	at, insert := int64(0), f.size
	var edits []piece // new bytes in place of those of their spans
	for n := 0; at+short <= f.size; n++ {
		if n > maxParts {
			return c, fmt.Errorf("%w: it has more than %d boxes", ErrUnsupported, maxParts)
		}
		head, err := f.bytes(at, min(long, f.size-at))
		if err != nil {
			return c, err
		}
		body, size := at+short, uint64(binary.BigEndian.Uint32(head))
		switch {
		case size == 0: // to the end of the file, which is a box more now
			size = uint64(f.size - at)
			if size > 1<<32-1 {
				return c, fmt.Errorf("%w: its last box is too long", ErrUnsupported)
			}
			edits = append(edits, piece{binary.BigEndian.AppendUint32(nil, uint32(size)), span{at, at + 4}})
		case size == 1 && len(head) == long:
			size, body = binary.BigEndian.Uint64(head[8:]), at+long
		}
		if size < uint64(body-at) || size > uint64(f.size-at) {
			return c, fmt.Errorf("%w: box %q at %d claims %d bytes of %d", ErrUnsupported, head[4:8], at, size,
				f.size-at)
		}
		end := at + int64(size)
		switch string(head[4:8]) {
		case "mfra": // it must stay the last box of the file
			if end == f.size {
				insert = at
			}
		case "uuid":
			if end-body < kind {
				break
			}
			found, err := f.bytes(body, kind)
			if err != nil {
				return c, err
			}
			switch [kind]byte(found) {
			case xmpBox:
				c.packets = append(c.packets, span{body + kind, end})
				edits = append(edits, piece{[]byte("free"), span{at + 4, at + 8}})
			case c2paBox:
				c.manifest = true
			}
		}
		at = end
	}
	insert = min(insert, at) // a few bytes may be left, which are no box
	c.with = func(packet []byte) []piece {
		box := binary.BigEndian.AppendUint32(nil, uint32(short+kind+len(packet)))
		box = append(append(append(box, "uuid"...), xmpBox[:]...), packet...)
		return f.edited(insert, box, edits)
	}
	return c, nil
}

// edited returns the file with new bytes at a place, and with changes before it.
func (f file) edited(insert int64, content []byte, edits []piece) (all []piece) {
	at := int64(0)
	for _, e := range append(edits, piece{content, span{insert, insert}}) {
		if e.from > at {
			all = append(all, piece{span: span{at, e.from}})
		}
		all, at = append(all, piece{bytes: e.bytes}), e.to
	}
	if at < f.size {
		all = append(all, piece{span: span{at, f.size}})
	}
	return all
}
