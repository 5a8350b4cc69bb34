package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// maxProfile bounds the bytes of a color profile. Those of printers have some hundred KB.
const maxProfile = 4 << 20

// Kinds of the colors of a PNG.
const (
	pngGray    = 0
	pngColors  = 2
	pngPalette = 3
	pngGrayA   = 4
	pngColorsA = 6
)

// header is what a PNG says before its pixels.
type header struct {
	depth, colors int
	interlaced    bool
	palette       []byte // four values each
	// clear is the color that is transparent, of a picture without opacity, or nil.
	clear []byte
}

// bits returns the bits of a pixel.
func (h header) bits() int {
	return h.depth * map[int]int{pngGray: 1, pngColors: 3, pngPalette: 1, pngGrayA: 2, pngColorsA: 4}[h.colors]
}

// Chunk is a part of a PNG.
type Chunk struct {
	Name string
	// Body is its content, and All the chunk with its frame.
	Body, All []byte
	// Right reports whether its checksum is that of its content.
	Right bool
}

// Critical reports whether a decoder needs the chunk.
func (c Chunk) Critical() bool { return c.Name[0]&0x20 == 0 }

// Chunks calls f with the chunks of a PNG up to its end, or until f returns false.
func Chunks(content []byte, f func(Chunk) bool) {
	const frame = 12 // a length, a name and a checksum
	for at := int64(len(pngSignature)); at+frame <= int64(len(content)); {
		end := at + frame + int64(binary.BigEndian.Uint32(content[at:]))
		if end > int64(len(content)) {
			return
		}
		all := content[at:end]
		c := Chunk{Name: string(all[4:8]), Body: all[8 : len(all)-4], All: all}
		c.Right = crc32.ChecksumIEEE(all[4:len(all)-4]) == binary.BigEndian.Uint32(all[len(all)-4:])
		if !f(c) || c.Name == "IEND" {
			return
		}
		at = end
	}
}

// pngHeader reads the chunks of a PNG. An optional chunk whose checksum is wrong counts for nothing, as for libpng.
func (p *Picture) pngHeader() (err error) {
	h := &p.png
	var clear []byte
	first := true
	Chunks(p.content, func(c Chunk) bool {
		switch {
		case first && c.Name != "IHDR", c.Critical() && !c.Right:
			err = broken("the chunk %q of a PNG", c.Name)
			return false
		case !c.Right:
			return true
		}
		first = false
		switch c.Name {
		case "IHDR":
			if len(c.Body) != 13 {
				err = broken("the chunk IHDR has %d bytes", len(c.Body))
				return false
			}
			size := [2]uint32{binary.BigEndian.Uint32(c.Body), binary.BigEndian.Uint32(c.Body[4:])}
			p.stored = image.Pt(int(min(size[0], maxSide+1)), int(min(size[1], maxSide+1)))
			h.depth, h.colors, h.interlaced = int(c.Body[8]), int(c.Body[9]), c.Body[12] == 1
		case "PLTE":
			h.palette = opaque(c.Body)
		case "tRNS":
			clear = c.Body
		case "eXIf":
			p.Orientation = orientationOf(c.Body)
		case "acTL":
			p.Animated = len(c.Body) >= 4 && binary.BigEndian.Uint32(c.Body) > 1
		case "iCCP":
			p.profile = inflatedProfile(c.Body)
		}
		return true
	})
	switch {
	case err != nil:
		return err
	case first:
		return broken("a PNG without a header")
	case !h.known():
		return broken("a PNG of the kind %d with %d bits", h.colors, h.depth)
	}
	if h.interlaced {
		p.perPixel = max(float64(h.bits())/8, 1) * 2
	}
	h.transparent(clear)
	return nil
}

// known reports whether the standard has the kind of colors with the depth.
func (h header) known() bool {
	switch h.colors {
	case pngGray:
		return h.depth == 1 || h.depth == 2 || h.depth == 4 || h.depth == 8 || h.depth == 16
	case pngPalette:
		return (h.depth == 1 || h.depth == 2 || h.depth == 4 || h.depth == 8) && len(h.palette) > 0
	case pngColors, pngGrayA, pngColorsA:
		return h.depth == 8 || h.depth == 16
	}
	return false
}

// opaque returns the colors of a palette, each with its opacity.
func opaque(colors []byte) (all []byte) {
	for ; len(colors) >= 3 && len(all) < 4*256; colors = colors[3:] {
		all = append(all, colors[0], colors[1], colors[2], 255)
	}
	return all
}

// transparent notes what of a picture is transparent.
func (h *header) transparent(clear []byte) {
	switch {
	case h.colors == pngPalette:
		for i := range min(len(clear), len(h.palette)/4) {
			h.palette[4*i+3] = clear[i]
		}
	case h.colors == pngGray && len(clear) == 2, h.colors == pngColors && len(clear) == 6:
		h.clear = clear
	}
}

// inflatedProfile returns the profile of the chunk iCCP, behind a name and the kind of compression, or nil.
func inflatedProfile(body []byte) []byte {
	name := bytes.IndexByte(body, 0)
	if name < 0 || len(body) < name+2 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(body[name+2:]))
	if err != nil {
		return nil
	}
	profile, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err != nil || len(profile) > maxProfile {
		return nil
	}
	return profile
}

// decodePNG decodes a PNG as a whole.
func decodePNG(ctx context.Context, content []byte) (image.Image, error) {
	return png.Decode(&timely{ctx, bytes.NewReader(Sound(content))})
}

// Sound returns a PNG without the optional chunks whose checksum is wrong: the content itself if there are none.
func Sound(content []byte) []byte {
	wrong := false
	Chunks(content, func(c Chunk) bool {
		wrong = wrong || !c.Right && !c.Critical()
		return !wrong
	})
	if !wrong {
		return content
	}
	kept := []byte(pngSignature)
	Chunks(content, func(c Chunk) bool {
		if c.Right || c.Critical() {
			kept = append(kept, c.All...)
		}
		return true
	})
	return kept
}

// data reads the content of the chunks IDAT.
type data struct {
	ctx  context.Context
	left [][]byte
}

// Read implements io.Reader.
func (d *data) Read(b []byte) (int, error) {
	for len(d.left) > 0 && len(d.left[0]) == 0 {
		d.left = d.left[1:]
	}
	if err := d.ctx.Err(); err != nil {
		return 0, err
	}
	if len(d.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, d.left[0])
	d.left[0] = d.left[0][n:]
	return n, nil
}

// stream returns the rows of a PNG, which are read from the file as they are needed: the picture is never in memory.
func (p *Picture) stream() source {
	h := p.png
	s := source{kind: rgb}
	switch {
	case h.colors == pngGray && h.clear == nil:
		s.kind = gray
	case h.colors == pngGray, h.colors == pngGrayA:
		s.kind = grayA
	case h.colors != pngColors || h.clear != nil:
		s.kind = rgba
	}
	n := s.kind.values()
	s.rows = func(ctx context.Context, part image.Rectangle, f func(row []byte) error) error {
		in := &data{ctx: ctx}
		ended := false
		Chunks(p.content, func(c Chunk) bool {
			if c.Name == "IDAT" {
				in.left = append(in.left, c.Body)
			}
			ended = c.Name == "IEND"
			return true
		})
		if !ended {
			return io.ErrUnexpectedEOF
		}
		z, err := zlib.NewReader(in)
		if err != nil {
			return err
		}
		length, step := (p.stored.X*h.bits()+7)/8, max(h.bits()/8, 1)
		row, above := make([]byte, 1+length), make([]byte, 1+length)
		out := make([]byte, part.Dx()*n)
		for y := range p.stored.Y {
			if _, err := io.ReadFull(z, row); err != nil {
				return fmt.Errorf("row %d: %w", y, err)
			}
			if err := unfilter(row[0], row[1:], above[1:], step); err != nil {
				return err
			}
			if y >= part.Min.Y && y < part.Max.Y {
				if err := h.expand(out, row[1:], part.Min.X, n); err != nil {
					return err
				}
				if err := f(out); err != nil {
					return err
				}
			}
			row, above = above, row
		}
		_, err = io.ReadFull(z, make([]byte, 1)) // which reads the checksum
		if err == io.EOF || err == nil {
			return nil
		}
		return err
	}
	return s
}

// unfilter undoes the filter of a row (PNG, 9.2). step is the distance of a byte from that of the pixel before.
func unfilter(kind byte, row, above []byte, step int) error {
	switch kind {
	case 0:
	case 1:
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
	case 2:
		for i, v := range above[:len(row)] {
			row[i] += v
		}
	case 3:
		for i := range min(step, len(row)) {
			row[i] += above[i] / 2
		}
		for i := step; i < len(row); i++ {
			row[i] += byte((int(row[i-step]) + int(above[i])) / 2)
		}
	case 4:
		for i := range min(step, len(row)) {
			row[i] += above[i]
		}
		for i := step; i < len(row); i++ {
			row[i] += paeth(int(row[i-step]), int(above[i]), int(above[i-step]))
		}
	default:
		return fmt.Errorf("a filter of the kind %d", kind)
	}
	return nil
}

// paeth returns the one of three neighbors that is nearest to their gradient.
func paeth(left, above, corner int) byte {
	a, b := above-corner, left-corner
	c := a + b
	a, b, c = max(a, -a), max(b, -b), max(c, -c)
	switch {
	case a <= b && a <= c:
		return byte(left)
	case b <= c:
		return byte(above)
	}
	return byte(corner)
}

// expand writes pixels of a row, beginning with a column, as values of eight bits.
func (h header) expand(out, row []byte, from, n int) error {
	wide := h.depth / 8 // bytes of a value, or 0
	for i, x := 0, from; i < len(out); i, x = i+n, x+1 {
		p := out[i : i+n]
		switch h.colors {
		case pngPalette:
			at := 4 * int(h.value(row, x))
			if at+4 > len(h.palette) {
				return fmt.Errorf("the color %d of a palette of %d", at/4, len(h.palette)/4)
			}
			copy(p, h.palette[at:at+4])
		case pngGray:
			v := byte(int(h.value(row, x)) * 255 / (1<<min(h.depth, 8) - 1))
			p[0] = v
			if n == 4 {
				p[1], p[2], p[3] = v, v, 255
				if h.isClear(row, x, 1) {
					p[3] = 0
				}
			}
		case pngGrayA:
			v, a := row[2*wide*x], row[2*wide*x+wide]
			p[0], p[1], p[2], p[3] = v, v, v, a
		case pngColors:
			at := 3 * wide * x
			p[0], p[1], p[2] = row[at], row[at+wide], row[at+2*wide]
			if n == 4 {
				p[3] = 255
				if h.isClear(row, x, 3) {
					p[3] = 0
				}
			}
		case pngColorsA:
			at := 4 * wide * x
			p[0], p[1], p[2], p[3] = row[at], row[at+wide], row[at+2*wide], row[at+3*wide]
		}
	}
	return nil
}

// value returns the only value of a pixel, of which that of 16 bits has its upper half.
func (h header) value(row []byte, x int) byte {
	if h.depth >= 8 {
		return row[x*h.depth/8]
	}
	at := x * h.depth
	return row[at/8] >> (8 - h.depth - at%8) & (1<<h.depth - 1)
}

// isClear reports whether a pixel of some values has the color that is transparent.
func (h header) isClear(row []byte, x, values int) bool {
	for i := range values {
		want := int(binary.BigEndian.Uint16(h.clear[2*i:]))
		got := int(h.value(row, x))
		switch h.depth {
		case 16:
			got = int(binary.BigEndian.Uint16(row[2*(values*x+i):]))
		case 8:
			got = int(row[values*x+i])
		}
		if got != want {
			return false
		}
	}
	return true
}
