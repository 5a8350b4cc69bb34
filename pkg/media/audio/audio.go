// Package audio reads the length of sound from its content, as far as it is played:
// of MP3, WAV, AAC and M4A. It believes nothing that a file says of itself where it
// can count. Unlike pkg/media/probe it links no decoder, so that the functions behind
// the gateway may use it.
package audio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrUnsupported is wrapped by every error about the content: it is of none of the
// formats known here, or broken. Errors of reading the file do not wrap it.
var ErrUnsupported = errors.New("unsupported media")

// Sound is what is read from a file.
type Sound struct {
	MIMEType string
	Ext      string // of a file name, without the dot
	Duration time.Duration
	// From and To are the bytes of the file that were read as sound. What is outside
	// of them is not needed to play it.
	From, To int64
	// claimed reports that the length follows from what the file says of itself alone.
	claimed bool
}

// Speech reads a recording in memory, and returns it without what is around it: what
// a player could find there would not be counted.
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

// At fills buf from the offset. A file that ends too early is broken content; a
// reader that fails is not the content's fault.
func (f File) At(offset int64, buf []byte) error {
	if offset < 0 || offset+int64(len(buf)) > f.Size {
		return Unsupported("it ends at %d of the %d bytes it needs", f.Size, offset+int64(len(buf)))
	}
	// A ReaderAt may answer io.EOF with the last byte of what was asked for.
	if n, err := f.R.ReadAt(buf, offset); n < len(buf) {
		return fmt.Errorf("media: read at %d: %w", offset, err)
	}
	return nil
}

// Unsupported returns an error that wraps ErrUnsupported.
func Unsupported(format string, args ...any) error {
	return fmt.Errorf("media: %s: %w", fmt.Sprintf(format, args...), ErrUnsupported)
}

// Watched keeps the reader's own failure, which a decoder would report as if the
// content were broken.
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
