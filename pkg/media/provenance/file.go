package provenance

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/base/budget"
)

// ErrUnsupported is the error of a file that cannot have a statement, or that is broken.
var ErrUnsupported = errors.New("provenance: the file cannot be marked")

// Findings is what is found in a file.
type Findings struct {
	Statement
	// Manifest reports whether the file has a manifest of C2PA, which nobody has checked.
	Manifest bool
}

// file is a file that is read.
type file struct {
	io.ReaderAt
	size int64
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// piece is a part of a marked file: new bytes, or a part of the file before.
type piece struct {
	bytes []byte
	span
}

// container is what is known of a file from its structure.
type container struct {
	// packets are the places of the XMP that the file has.
	packets  []span
	manifest bool
	// with returns the parts of the file with another XMP instead.
	with func(packet []byte) []piece
}

// maxParts bounds the segments, chunks and boxes that are looked at, so that a file of tiny ones ends.
const maxParts = 1 << 14

// bytes reads a part of the file.
func (f file) bytes(from, length int64) ([]byte, error) {
	if from < 0 || length < 0 || from > f.size || length > f.size-from {
		return nil, fmt.Errorf("%w: it is cut off at %d", ErrUnsupported, from)
	}
	b := make([]byte, length)
	if n, err := f.ReadAt(b, from); n < len(b) {
		return nil, fmt.Errorf("provenance: read: %w", err)
	}
	return b, nil
}

// open looks at the structure of a file.
func (f file) open() (container, error) {
	head, err := f.bytes(0, min(f.size, 12))
	if err != nil {
		return container{}, err
	}
	is := func(at int, magic string) bool {
		return len(head) >= at+len(magic) && string(head[at:at+len(magic)]) == magic
	}
	switch {
	case is(0, "\xff\xd8\xff"):
		return f.jpeg()
	case is(0, "\x89PNG\r\n\x1a\n"):
		return f.png()
	case is(0, "RIFF") && (is(8, "WEBP") || is(8, "WAVE")):
		return f.riff(is(8, "WEBP"))
	case is(4, "ftyp"):
		return f.mp4()
	case is(0, "ID3"), len(head) > 1 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && head[1]&0x06 != 0:
		return f.mp3()
	}
	return container{}, fmt.Errorf("%w: its format has no place for that", ErrUnsupported)
}

// Read reads the statement of a file of the given size. It reads JPEG, PNG, WebP, WAV, MP4, M4A and MP3, and wraps
// ErrUnsupported for anything else.
func Read(ctx context.Context, r io.ReaderAt, size int64) (found Findings, err error) {
	f := file{r, size}
	c, err := f.open()
	if err != nil {
		return found, err
	}
	found.Manifest = c.manifest
	found.Statement, err = f.statement(ctx, c)
	return found, err
}

// Plain reports whether the XMP of a file, if it has any, is as Mark writes it, and names no person. Errors are those
// of Read.
func Plain(ctx context.Context, r io.ReaderAt, size int64) (bool, error) {
	f := file{r, size}
	c, err := f.open()
	if err != nil {
		return false, err
	}
	for _, p := range c.packets {
		packet, err := f.bytes(p.from, min(p.to-p.from, maxPacket))
		if err != nil {
			return false, err
		}
		if !PlainPacket(ctx, packet) {
			return false, nil
		}
	}
	return true, nil
}

// PlainPacket is Plain for XMP alone.
func PlainPacket(ctx context.Context, packet []byte) bool {
	m, end := packets.Begin(ctx)
	defer end()
	said, err := parse(m, packet)
	return err == nil && said == said.Impersonal() && bytes.Equal(packet, said.packet())
}

// statement reads the XMP of a file, as far as the budget permits.
func (f file) statement(ctx context.Context, c container) (s Statement, err error) {
	m, end := packets.Begin(ctx)
	defer end()
	for _, p := range c.packets[:min(len(c.packets), mostPackets)] {
		packet, err := f.bytes(p.from, min(p.to-p.from, m.Left()))
		if err != nil {
			return s, err
		}
		read, err := parse(m, packet)
		s.Source = cmp.Or(s.Source, read.Source)
		s = s.With(read)
		switch {
		case errors.Is(err, budget.ErrExceeded):
			return s, nil
		case err != nil:
			return s, err
		}
	}
	return s, nil
}

// Copy is a copy of a file with another statement. It reads the file, and holds only what differs.
type Copy struct {
	*io.SectionReader
	file   file
	pieces []piece
	ends   []int64 // of the pieces, in the copy
}

// Mark returns a copy of a file with the statement, and the credits and models that the file has named before. A copy
// has no other XMP. Errors are those of Read.
func Mark(ctx context.Context, r io.ReaderAt, size int64, s Statement) (*Copy, error) {
	f := file{r, size}
	c, err := f.open()
	if err != nil {
		return nil, err
	}
	earlier, err := f.statement(ctx, c)
	if err != nil {
		return nil, err
	}
	marked := &Copy{file: f, pieces: c.with(s.With(earlier).packet())}
	size = 0
	for _, p := range marked.pieces {
		size += p.length()
		marked.ends = append(marked.ends, size)
	}
	marked.SectionReader = io.NewSectionReader(parts{marked}, 0, size)
	return marked, nil
}

func (p piece) length() int64 { return p.to - p.from + int64(len(p.bytes)) }

// parts reads a copy from its pieces.
type parts struct{ *Copy }

// ReadAt implements io.ReaderAt over the pieces, one after the other.
func (p parts) ReadAt(b []byte, at int64) (n int, err error) {
	first, _ := slices.BinarySearch(p.ends, at+1)
	if first > 0 {
		at -= p.ends[first-1]
	}
	for _, one := range p.pieces[first:] {
		length := one.length()
		into := b[n:min(int64(len(b)), int64(n)+length-at)]
		if one.bytes != nil {
			copy(into, one.bytes[at:])
		} else if m, err := p.file.ReadAt(into, one.from+at); m < len(into) {
			return n + m, fmt.Errorf("provenance: read: %w", err)
		}
		if n, at = n+len(into), 0; n == len(b) {
			return n, nil
		}
	}
	return n, io.EOF
}

// Marked returns a file in memory with a statement. A file that cannot have one is returned as it is.
func Marked(ctx context.Context, content []byte, s Statement) ([]byte, error) {
	marked, err := Mark(ctx, bytes.NewReader(content), int64(len(content)), s)
	if errors.Is(err, ErrUnsupported) {
		return content, nil
	}
	if err != nil {
		return nil, err
	}
	all := make([]byte, marked.Size())
	_, err = io.ReadFull(marked, all)
	return all, err
}

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
	described := false
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
			if described {
				break // it is the mark of a maker behind the boxes, or samples that are cut off
			}
			return c, fmt.Errorf("%w: box %q at %d claims %d bytes of %d", ErrUnsupported, head[4:8], at, size,
				f.size-at)
		}
		end := at + int64(size)
		switch string(head[4:8]) {
		case "moov", "meta":
			described = true
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
		if at = end; name == "IEND" {
			break // what is behind it is no part of the picture
		}
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
	end := f.size
	if head, err := f.bytes(4, 4); err != nil {
		return c, err
	} else if n := frame + int64(binary.LittleEndian.Uint32(head)); webp && n >= signature {
		end = min(n, f.size) // what is behind it is no part of the picture
	}
	for at, n := int64(signature), 0; at+frame <= end; n++ {
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
