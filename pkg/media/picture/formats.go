package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/webp"
)

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	jpegRestart = 0xd0 // to 0xd7
	jpegEnd     = 0xd9
	jpegScan    = 0xda
	jpegApp     = 0xe0 // to 0xef
)

var (
	// ExifMark begins the segment of a JPEG with EXIF.
	ExifMark = []byte("Exif\x00\x00")
	// ProfileMark begins the segments of a JPEG with a color profile.
	ProfileMark = []byte("ICC_PROFILE\x00")
	adobeMark   = []byte("Adobe")
)

// Segments calls f with the segments between the start of a JPEG and its end. The segment of a scan includes its data.
// It finds the segments that a decoder finds: bytes between segments are skipped.
func Segments(content []byte, f func(marker byte, segment []byte)) {
	at := 2
	for at+4 <= len(content) {
		marker := content[at+1]
		switch {
		case content[at] != 0xff || marker == 0xff: // filling
			at++
			continue
		case marker == 0 || marker&0xf8 == jpegRestart:
			at += 2
			continue
		case marker == jpegEnd:
			return
		}
		end := at + 2 + int(binary.BigEndian.Uint16(content[at+2:]))
		if marker == jpegScan {
			end += scanned(content[min(end, len(content)):])
		}
		if end > len(content) {
			return
		}
		f(marker, content[at:end])
		at = end
	}
}

// scanned returns the number of bytes of a scan's data.
func scanned(data []byte) int {
	for i := 0; i+1 < len(data); i++ {
		next := data[i+1]
		if data[i] == 0xff && next != 0 && next != 0xff && next&0xf8 != jpegRestart {
			return i
		}
	}
	return len(data)
}

// Colors are what the header of a JPEG says of its values.
type Colors struct {
	// Components is the number of values of a pixel: 1, 3 or 4.
	Components int
	// Adobe is set for a file with the mark of Adobe, whose inks are inverted.
	Adobe bool
	// Profile is the color profile of so many components, or nil.
	Profile []byte
}

// ColorsOf reads the beginning of a JPEG, up to its first frame. It reports whether that is there.
func ColorsOf(head []byte) (c Colors, ok bool) {
	if len(head) < 4 || head[0] != 0xff {
		return c, false
	}
	var parts [256][]byte
	Segments(head, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		switch {
		case ok:
		case marker == jpegApp+2 && bytes.HasPrefix(body, ProfileMark) && len(body) > len(ProfileMark)+2:
			parts[body[len(ProfileMark)]] = body[len(ProfileMark)+2:]
		case marker == jpegApp+14:
			c.Adobe = bytes.HasPrefix(body, adobeMark)
		case marker >= 0xc0 && marker <= 0xc2 && len(body) > 5:
			c.Components, ok = int(body[5]), true
		}
	})
	const named = 20 // the name of the space is behind so many bytes
	profile := slices.Concat(parts[:]...)
	space := map[int]string{1: "GRAY", 3: "RGB ", 4: "CMYK"}[c.Components]
	if bounded(profile) && string(profile[named-4:named]) == space {
		c.Profile = profile
	}
	return c, ok
}

// jpeg reads the segments of a JPEG.
func (p *Picture) jpeg() error {
	var parts [256][]byte // of the profile, by their numbers
	transformed := true   // as JFIF has it: luma and color differences
	components, scans := []byte(nil), 0
	progressive := false
	Segments(p.content, func(marker byte, segment []byte) {
		body := segment[min(4, len(segment)):]
		switch {
		case marker == jpegApp+1 && bytes.HasPrefix(body, ExifMark):
			p.Orientation = orientationOf(body[len(ExifMark):])
		case marker == jpegApp+2 && bytes.HasPrefix(body, ProfileMark):
			if rest := body[len(ProfileMark):]; len(rest) > 2 {
				parts[rest[0]] = rest[2:]
			}
		case marker == jpegApp+14 && bytes.HasPrefix(body, adobeMark) && len(body) >= 12:
			transformed = body[11] != 0
		case marker >= 0xc0 && marker <= 0xc2 && components == nil && len(body) > 6:
			p.storedSize = image.Pt(int(binary.BigEndian.Uint16(body[3:])), int(binary.BigEndian.Uint16(body[1:])))
			components, progressive = body[6:min(6+each*int(body[5]), len(body))], marker == 0xc2
		case marker == jpegScan:
			scans++
		}
	})
	if components == nil {
		return broken("a JPEG without a frame")
	}
	p.profile = slices.Concat(parts[:]...)
	p.scans = max(scans, 1)
	p.plain = len(components)/each == 1 || len(components)/each == 3 && transformed
	p.perPixel = jpegMemory(components, progressive, transformed)
	return nil
}

// each is the number of bytes of a component in the header of a frame.
const each = 3

// jpegMemory returns the bytes that the decoder holds for each pixel: the values of each component, its coefficients if
// there are several scans, and the picture that is made of them unless it is luma and color differences.
func jpegMemory(components []byte, progressive, transformed bool) float64 {
	n := len(components) / each
	most, sum := 1, 0
	for i := range n {
		area := int(components[each*i+1]>>4) * int(components[each*i+1]&15)
		most, sum = max(most, area), sum+area
	}
	memory := 1.
	if n > 1 {
		memory = float64(sum) / float64(most)
	}
	if progressive {
		memory *= 5
	}
	if n == 4 || n == 3 && !transformed {
		memory += 4
	}
	return memory
}

// Whole returns a JPEG with its end, which some programs leave out, and players do not need.
func Whole(content []byte) []byte {
	switch n := len(content); {
	case n < 4 || bytes.Contains(content[n-min(n, 1<<10):], []byte{0xff, jpegEnd}):
		return content
	case content[n-1] == 0xff:
		return append(content[:n:n], jpegEnd)
	default:
		return append(content[:n:n], 0xff, jpegEnd)
	}
}

func decodeJPEG(ctx context.Context, content []byte) (image.Image, error) {
	img, err := jpeg.Decode(&timely{ctx, bytes.NewReader(content)})
	if errors.Is(err, io.ErrUnexpectedEOF) && len(Whole(content)) > len(content) {
		return jpeg.Decode(&timely{ctx, bytes.NewReader(Whole(content))})
	}
	return img, err
}

// orientationOf reads the orientation of the first picture of a TIFF structure, or returns 1 if it has none.
func orientationOf(tiff []byte) int {
	const tag, entry = 0x0112, 12
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	count := int64(order.Uint16(tiff[at:]))
	for at += 2; count > 0 && at+entry <= int64(len(tiff)); count, at = count-1, at+entry {
		if order.Uint16(tiff[at:]) == tag {
			if o := int(order.Uint16(tiff[at+8:])); o >= 1 && o <= 8 {
				return o
			}
		}
	}
	return 1
}

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
			p.storedSize = image.Pt(int(min(size[0], maxSide+1)), int(min(size[1], maxSide+1)))
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
		length, step := (p.storedSize.X*h.bits()+7)/8, max(h.bits()/8, 1)
		row, above := make([]byte, 1+length), make([]byte, 1+length)
		out := make([]byte, part.Dx()*n)
		for y := range p.storedSize.Y {
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
			p.storedSize = image.Pt(1+int(uint24(body[4:])), 1+int(uint24(body[7:])))
			found = p.Animated
		case name == "VP8 " && len(body) >= 10: // behind a tag and a start code are two sizes of 14 bits
			p.storedSize = image.Pt(int(binary.LittleEndian.Uint16(body[6:])&0x3fff),
				int(binary.LittleEndian.Uint16(body[8:])&0x3fff))
			if p.perPixel, found = 1.5, true; alpha {
				p.perPixel = 6.5
			}
		case name == "VP8L" && len(body) >= 5: // behind a byte of signature are two sizes of 14 bits
			bits := binary.LittleEndian.Uint32(body[1:])
			p.storedSize = image.Pt(1+int(bits&0x3fff), 1+int(bits>>14&0x3fff))
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
