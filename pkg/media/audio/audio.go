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
	// spans are the ranges of bytes that were read as sound. The bytes outside of them are not needed to play it.
	spans []span
	// repair changes what is kept so that it agrees with itself. It is nil if nothing is to be changed.
	repair func([]byte) []byte
	// claimed reports whether the length is only claimed by the file, as that of a compressed WAV is.
	claimed bool
	// codec is the name of its compression, if it is known.
	codec string
}

// Speech reads a recording in memory, and returns it without the bytes around its sound: a player would find other
// sound there, or notes. The length is that of the bytes that are returned.
func Speech(content []byte) (Sound, []byte, error) {
	f := File{bytes.NewReader(content), int64(len(content))}
	has := func(offset int, magic string) bool {
		return len(content) >= offset+len(magic) && string(content[offset:offset+len(magic)]) == magic
	}
	var s Sound
	var err error
	switch {
	case has(8, "WAVE") && (has(0, "RIFF") || has(0, "RF64")):
		s, err = f.WAV()
	case has(4, "ftyp"):
		s, err = m4a(content)
	case len(content) > 1 && content[0] == 0xff && content[1]&0xf6 == 0xf0:
		s, err = f.aac()
	default:
		if s, err = f.MP3(); errors.Is(err, ErrUnsupported) {
			if other, failed := f.aac(); failed == nil { // behind a tag
				s, err = other, nil
			}
		}
	}
	if err == nil && s.codec != "" {
		err = Refuse("The sound of the WAV is %s. Convert it to WAV with PCM, or to MP3.", s.codec)
	}
	if err == nil && (s.claimed || s.Duration <= 0) {
		err = Unsupported("%s of a length that cannot be measured", s.MIMEType)
	}
	if err != nil {
		return Sound{}, nil, err
	}
	return s, s.kept(content), nil
}

// kept returns the bytes of the sound.
func (s Sound) kept(content []byte) []byte {
	if len(s.spans) == 1 && s.repair == nil {
		return content[s.spans[0].from:s.spans[0].to]
	}
	var kept []byte
	for _, p := range s.spans {
		kept = append(kept, content[p.from:p.to]...)
	}
	if s.repair != nil {
		kept = s.repair(kept)
	}
	return kept
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

// Refuse returns an error that wraps ErrUnsupported, with a sentence for callers.
func Refuse(format string, args ...any) error {
	return &Refusal{fmt.Sprintf(format, args...)}
}

// Refusal is the error of a recording that cannot be used as it is.
type Refusal struct {
	// Message is a sentence for callers. It says what the file is and what to do.
	Message string
}

// Error returns the message.
func (r *Refusal) Error() string { return "media: " + r.Message }

// Unwrap returns ErrUnsupported.
func (r *Refusal) Unwrap() error { return ErrUnsupported }

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
