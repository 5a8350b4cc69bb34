package provenance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/content-automation/api/pkg/base/budget"
)

// ErrUnsupported is the error of a file that cannot have a statement, or that is broken.
var ErrUnsupported = errors.New("provenance: the file cannot be marked")

// Found is what is found in a file.
type Found struct {
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
func Read(ctx context.Context, r io.ReaderAt, size int64) (found Found, err error) {
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
		if s.Source == "" {
			s.Source = read.Source
		}
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
