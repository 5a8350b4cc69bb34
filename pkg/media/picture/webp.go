package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"

	"golang.org/x/image/webp"
)

// Flags of the chunk VP8X of a WebP.
const (
	webpAnimated = 1 << 1
	webpAlpha    = 1 << 4
)

// webp reads the chunks of a WebP.
func (p *Picture) webp() error {
	const signature, frame = 12, 8
	alpha, found := false, false
	for at := int64(signature); at+frame <= int64(len(p.content)); {
		length := int64(binary.LittleEndian.Uint32(p.content[at+4:]))
		end := at + frame + length + length%2
		body := p.content[at+frame : min(at+frame+length, int64(len(p.content)))]
		switch name := string(p.content[at : at+4]); {
		case name == "VP8X" && len(body) >= 10:
			p.Animated, alpha = body[0]&webpAnimated != 0, body[0]&webpAlpha != 0
			p.stored = image.Pt(1+int(uint24(body[4:])), 1+int(uint24(body[7:])))
			found = p.Animated
		case name == "VP8 " && len(body) >= 10: // behind a tag and a start code are two sizes of 14 bits
			p.stored = image.Pt(int(binary.LittleEndian.Uint16(body[6:])&0x3fff),
				int(binary.LittleEndian.Uint16(body[8:])&0x3fff))
			if p.perPixel, found = 1.5, true; alpha {
				p.perPixel = 6.5
			}
		case name == "VP8L" && len(body) >= 5: // behind a byte of signature are two sizes of 14 bits
			bits := binary.LittleEndian.Uint32(body[1:])
			p.stored = image.Pt(1+int(bits&0x3fff), 1+int(bits>>14&0x3fff))
			p.perPixel, found = 6, true
		case name == "EXIF":
			p.Orientation = orientationOf(bytes.TrimPrefix(body, ExifMark))
		case name == "ICCP":
			p.profile = body
		}
		at = end
	}
	if !found {
		return broken("a WebP without a picture")
	}
	return nil
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

func decodeWebP(ctx context.Context, content []byte) (image.Image, error) {
	return webp.Decode(&timely{ctx, bytes.NewReader(content)})
}
