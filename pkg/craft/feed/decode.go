package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/content-automation/api/pkg/base/text"
)

// unpackedFile is a feed, which may be compressed by gzip. Seek goes back to its beginning.
type unpackedFile struct {
	file io.ReadSeeker
	io.Reader
	// packed is the number of times that gzip has packed it: a server may pack the packed file of a shop again.
	packed int
}

// mostPacked bounds it.
const mostPacked = 2

// unpacked returns the bytes of a feed from its beginning, without gzip.
func unpacked(file io.ReadSeeker) (*unpackedFile, error) {
	u := &unpackedFile{file: file}
	for {
		if err := u.rewind(); err != nil {
			return nil, err
		}
		first := make([]byte, 4)
		n, err := io.ReadFull(u.Reader, first)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return nil, err
		}
		switch first = first[:n]; {
		case string(first) == "PK\x03\x04", string(first) == "\xd0\xcf\x11\xe0":
			return nil, fault("The feed is a ZIP file or a workbook of Excel. Send the file that is in it, or save " +
				"the workbook as CSV UTF-8.")
		case !bytes.HasPrefix(first, []byte{0x1f, 0x8b}):
			return u, u.rewind()
		}
		if u.packed++; u.packed > mostPacked {
			return nil, fault("The feed is packed by gzip more than twice.")
		}
	}
}

func (u *unpackedFile) rewind() error {
	_, err := u.file.Seek(0, io.SeekStart)
	u.Reader = u.file
	for i := 0; err == nil && i < u.packed; i++ {
		var z *gzip.Reader
		switch z, err = gzip.NewReader(bufio.NewReader(u.Reader)); {
		case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fault("The feed begins like a file of gzip, and is none.")
		case err == nil:
			u.Reader = &gzipReader{Reader: z, left: MaxBytes + 1}
		}
	}
	return err
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

// decoded returns a feed as UTF-8 without a byte order mark. A mark wins, then UTF-8, then the encoding that the XML or
// the server declares. What is left is windows-1251 if its letters stand together, as Cyrillic ones do, and else
// windows-1252. A few bytes that are no UTF-8, as of a text that was cut within a letter, become marks of their rows.
func decoded(u *unpackedFile, o Options) (io.Reader, error) {
	head := make([]byte, 1024)
	n, err := io.ReadFull(u, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	var from encoding.Encoding
	switch wide := text.Wide(head); {
	case wide != nil:
		from = wide
	case bytes.HasPrefix(head, []byte(text.ByteOrderMark)):
		from = unicode.UTF8
	default:
		v, err := look(io.MultiReader(bytes.NewReader(head), u))
		if err != nil {
			return nil, err
		}
		if v.letters >= v.broken {
			if v.broken > 0 {
				from = unicode.UTF8
			}
			break
		}
		if from = text.Declared(head, ""); from != nil {
			break
		}
		from = text.Declared(nil, o.Charset)
		if from == nil || from == charmap.Windows1252 { // servers name it for what they do not know
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

// withoutMark removes a byte order mark.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 64<<10)
	if mark, err := b.Peek(len(text.ByteOrderMark)); err == nil && string(mark) == text.ByteOrderMark {
		_, _ = b.Discard(len(text.ByteOrderMark))
	}
	return b
}

// view is what look has found.
type view struct {
	// letters is the number of characters beyond ASCII in UTF-8, and broken that of bytes that are in none.
	letters, broken int
	// together reports that most letters beyond ASCII have two others beside them, unlike those of Größe.
	together bool
}

// look reads a text to its end.
func look(r io.Reader) (v view, err error) {
	buffer, kept := make([]byte, 64<<10), 0
	pairs, alone, run := 0, 0, 0
	for err == nil {
		var n int
		n, err = r.Read(buffer[kept:])
		text := buffer[:kept+n]
		for _, b := range text[kept:] {
			switch {
			case b >= 0xc0:
				run++
			case run < 3:
				alone, run = alone+run, 0
			default:
				pairs, run = pairs+run, 0
			}
		}
		for len(text) > 0 && (utf8.FullRune(text) || err == io.EOF) {
			char, size := utf8.DecodeRune(text)
			switch {
			case char == utf8.RuneError && size == 1:
				v.broken++
			case size > 1:
				v.letters++
			}
			text = text[size:]
		}
		kept = copy(buffer, text)
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
