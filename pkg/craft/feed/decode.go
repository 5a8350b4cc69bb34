package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// unpackedFile is a feed, which may be compressed by gzip. Seek goes back to its beginning.
type unpackedFile struct {
	file io.ReadSeeker
	io.Reader
	packed bool
}

// unpacked returns the bytes of a feed from its beginning, without gzip.
func unpacked(file io.ReadSeeker) (*unpackedFile, error) {
	u := &unpackedFile{file: file}
	var magic [2]byte
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	n, err := io.ReadFull(file, magic[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	u.packed = n == 2 && magic == [2]byte{0x1f, 0x8b}
	return u, u.rewind()
}

func (u *unpackedFile) rewind() error {
	_, err := u.file.Seek(0, io.SeekStart)
	if u.Reader = u.file; err != nil || !u.packed {
		return err
	}
	z, err := gzip.NewReader(bufio.NewReader(u.file))
	if err != nil {
		return fault("The feed begins like a file of gzip, and is none.")
	}
	u.Reader = &gzipReader{Reader: z, left: MaxBytes + 1}
	return nil
}

// gzipReader ends a file that unpacks into more than a feed may have.
type gzipReader struct {
	io.Reader
	left int64
}

// Read implements io.Reader.
func (g *gzipReader) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, fault("The feed is larger than %d MB once it is unpacked.", MaxBytes>>20)
	}
	n, err := g.Reader.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	if err != nil && err != io.EOF {
		return n, fault("The feed is damaged: gzip ends it with %q.", strings.TrimPrefix(err.Error(), "gzip: "))
	}
	return n, err
}

var xmlDeclaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)
})

// decoded returns a feed as UTF-8 without a byte order mark. A mark wins, then valid UTF-8, then the encoding that the
// XML or the server declares. What is left is windows-1251 if its letters stand together, as Cyrillic ones do, and else
// windows-1252.
func decoded(u *unpackedFile, o Options) (io.Reader, error) {
	head := make([]byte, 1024)
	n, err := io.ReadFull(u, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	var from encoding.Encoding
	switch wide := encodingOfWide(head); {
	case wide != nil:
		from = wide
	default:
		v, err := look(io.MultiReader(bytes.NewReader(head), u))
		if err != nil {
			return nil, err
		}
		if v.utf8 {
			break
		}
		label := o.Charset
		if m := xmlDeclaration().FindSubmatch(head); m != nil {
			label = string(m[1])
		}
		if from, _ = charset.Lookup(label); from == nil || isUTF8(label) {
			from = charmap.Windows1252
			if v.together {
				from = charmap.Windows1251
			}
		}
	}
	if err := u.rewind(); err != nil {
		return nil, err
	}
	if from == nil {
		return withoutMark(u), nil
	}
	return withoutMark(transform.NewReader(u, from.NewDecoder())), nil
}

func isUTF8(label string) bool {
	return strings.EqualFold(label, "utf-8") || strings.EqualFold(label, "utf8")
}

// encodingOfWide returns the encoding of a text of which each character has two bytes, or nil.
func encodingOfWide(head []byte) encoding.Encoding {
	little := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	big := unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return little
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return big
	case len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return nil
}

// withoutMark removes a byte order mark.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, err := b.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = b.Discard(3)
	}
	return b
}

// view is what look has found.
type view struct {
	utf8 bool
	// together reports that most letters beyond ASCII have another one beside them.
	together bool
}

// look reads a text to its end.
func look(r io.Reader) (v view, err error) {
	buffer, kept := make([]byte, 64<<10), 0
	v.utf8 = true
	pairs, alone, run := 0, 0, 0
	for err == nil {
		var n int
		n, err = r.Read(buffer[kept:])
		text := buffer[:kept+n]
		for _, b := range text[kept:] {
			switch {
			case b >= 0xc0:
				run++
			case run == 1:
				alone, run = alone+1, 0
			default:
				pairs, run = pairs+run, 0
			}
		}
		for v.utf8 && len(text) > 0 {
			if char, size := utf8.DecodeRune(text); char != utf8.RuneError || size > 1 {
				text = text[size:]
				continue
			}
			if utf8.FullRune(text) || err == io.EOF {
				v.utf8 = false
			}
			break
		}
		if kept = 0; v.utf8 {
			kept = copy(buffer, text)
		}
	}
	if err != io.EOF {
		var f *FaultError
		if !errors.As(err, &f) {
			err = fmt.Errorf("feed: read: %w", err)
		}
		return v, err
	}
	v.together = pairs > alone
	return v, nil
}
