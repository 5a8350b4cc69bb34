// Package audio reads the length of sound from its content: of MP3, WAV, AAC and M4A. It counts instead of trusting the
// file's own claims. Start with Speech.
package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrUnsupported is wrapped by every error about the content: its format is unknown, or it is broken. Errors of reading
// the file do not wrap it.
var ErrUnsupported = errors.New("unsupported media")

// Sound describes the sound of a file.
type Sound struct {
	MIMEType string
	Ext      string // of a file name, without the dot
	Duration time.Duration
	// From and To are the range of bytes that were read as sound. The bytes outside of it are not needed to play it.
	From, To int64
	// claimed reports whether the length is only claimed by the file.
	claimed bool
}

// Speech reads a recording in memory, and returns it without the bytes around it: sound that a player found there would
// not be counted.
func Speech(content []byte) (Sound, []byte, error) {
	f := File{bytes.NewReader(content), int64(len(content))}
	has := func(offset int, magic string) bool {
		return len(content) >= offset+len(magic) && string(content[offset:offset+len(magic)]) == magic
	}
	var s Sound
	var err error
	switch {
	case has(0, "RIFF") && has(8, "WAVE"):
		s, err = f.WAV()
	case has(4, "ftyp"):
		s, err = m4a(content)
	case len(content) > 1 && content[0] == 0xff && content[1]&0xf6 == 0xf0:
		s, err = aac(content)
	default:
		if s, err = f.MP3(); errors.Is(err, ErrUnsupported) && has(0, "ID3") {
			var at int64
			if at, err = f.afterID3(); err == nil {
				s, err = aac(content[at:])
				s.From, s.To = s.From+at, s.To+at
			}
		}
	}
	if err == nil && (s.claimed || s.Duration <= 0) {
		err = Unsupported("%s of a length that cannot be measured", s.MIMEType)
	}
	if err != nil {
		return Sound{}, nil, err
	}
	return s, content[s.From:s.To], nil
}

// File is a file that is being read.
type File struct {
	R    io.ReaderAt
	Size int64
}

// At fills buf from the offset. A file that ends too early is broken content. The error of a failing reader is not.
func (f File) At(offset int64, buf []byte) error {
	if offset < 0 || offset+int64(len(buf)) > f.Size {
		return Unsupported("it ends at %d of the %d bytes it needs", f.Size, offset+int64(len(buf)))
	}
	// A ReaderAt may return io.EOF with the last byte that was requested.
	if n, err := f.R.ReadAt(buf, offset); n < len(buf) {
		return fmt.Errorf("media: read at %d: %w", offset, err)
	}
	return nil
}

// Unsupported returns an error that wraps ErrUnsupported.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("media: %s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

// Watched keeps the reader's own error, which a decoder would report as broken content.
type Watched struct {
	R   io.Reader
	Err error
}

// Read implements io.Reader.
func (w *Watched) Read(p []byte) (int, error) {
	n, err := w.R.Read(p)
	if err != nil && err != io.EOF {
		w.Err = err
	}
	return n, err
}
