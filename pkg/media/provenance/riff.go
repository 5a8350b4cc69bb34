package provenance

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The flags of the chunk VP8X that announce other parts of a WebP.
const (
	webpXMP   = 1 << 2
	webpAlpha = 1 << 4
)

// riff looks at the chunks of a WebP or a WAV. XMP is behind all of them.
func (f file) riff(webp bool) (c container, err error) {
	const signature, frame = 12, 8
	name, all := "_PMX", []piece{{span: span{0, signature}}}
	if webp {
		name = "XMP "
	}
	first, missing := "", int64(0) // the name of the first chunk, and the filling that the last one lacks
	for at, n := int64(signature), 0; at+frame <= f.size; n++ {
		if n > maxParts {
			return c, fmt.Errorf("%w: it has more than %d chunks", ErrUnsupported, maxParts)
		}
		head, err := f.bytes(at, frame)
		if err != nil {
			return c, err
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		body := span{at + frame, at + frame + length}
		if body.to > f.size {
			if webp {
				return c, fmt.Errorf("%w: chunk %q at %d is cut off", ErrUnsupported, head[:4], at)
			}
			body.to = f.size // the length of a WAV that was streamed is not known at its beginning
			length = body.to - body.from
		}
		binary.LittleEndian.PutUint32(head[4:], uint32(length))
		missing = max(body.to+length%2-f.size, 0)
		rest := span{body.from, min(body.to+length%2, f.size)}
		if n == 0 {
			first = string(head[:4])
		}
		switch string(head[:4]) {
		case name:
			c.packets, missing = append(c.packets, body), 0
		case "C2PA":
			c.manifest = true
			fallthrough
		default:
			all = append(all, piece{bytes: head}, piece{span: rest})
		}
		at = rest.to
	}
	var extended []byte
	if webp {
		if extended, err = f.extended(first); err != nil {
			return c, err
		}
	}
	c.with = func(packet []byte) []piece {
		pieces := slices.Clone(all)
		if first == "VP8X" {
			pieces[1].bytes, pieces[2].from = extended, pieces[2].from+1
		} else if webp {
			pieces = slices.Insert(pieces, 1, piece{bytes: extended})
		}
		chunk := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(packet)))
		if chunk = append(chunk, packet...); len(packet)%2 == 1 {
			chunk = append(chunk, 0)
		}
		chunk = append(make([]byte, missing), chunk...)
		return sized(append(pieces, piece{bytes: chunk}), f)
	}
	return c, nil
}

// sized returns the parts of a RIFF with its size at the beginning.
func sized(all []piece, f file) []piece {
	size := int64(0)
	for _, p := range all {
		size += p.to - p.from + int64(len(p.bytes))
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(size-8))
	return append([]piece{{bytes: head}, {span: span{8, 12}}}, all[1:]...)
}

// extended returns the beginning of the chunk VP8X of a WebP, with the flag of XMP: the whole chunk if the file has
// none.
func (f file) extended(first string) ([]byte, error) {
	const begin = 12
	head, err := f.bytes(begin, min(18, f.size-begin))
	if err != nil || len(head) < 18 {
		return nil, fmt.Errorf("%w: its first chunk is cut off", ErrUnsupported)
	}
	chunk := append([]byte("VP8X"), 10, 0, 0, 0, webpXMP, 0, 0, 0)
	var width, height uint32
	switch first {
	case "VP8X":
		chunk[8] |= head[8]
		return chunk[:9], nil
	case "VP8L": // behind a byte of signature are two sizes of 14 bits, and a bit for transparency
		bits := binary.LittleEndian.Uint32(head[9:])
		width, height = bits&0x3fff, bits>>14&0x3fff
		if bits>>28&1 == 1 {
			chunk[8] |= webpAlpha
		}
	case "VP8 ": // behind a tag and a start code are two sizes of 14 bits
		width, height = uint32(binary.LittleEndian.Uint16(head[14:])&0x3fff)-1,
			uint32(binary.LittleEndian.Uint16(head[16:])&0x3fff)-1
	default:
		return nil, fmt.Errorf("%w: a WebP begins with %q", ErrUnsupported, first)
	}
	for _, side := range []uint32{width, height} {
		chunk = append(chunk, byte(side), byte(side>>8), byte(side>>16))
	}
	return chunk, nil
}
