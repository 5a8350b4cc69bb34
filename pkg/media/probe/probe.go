// Package probe reads the actual properties of a media file — format, dimensions, length — from its content. It trusts
// neither a file name nor a declared type, reads only headers, and bounds the sizes that a hostile file may claim. Only
// workers use it: it links decoders. Start with Read.
package probe

import (
	"bytes"
	"io"
	"math"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
)

// ErrUnsupported is wrapped by every error about the content: its format is unknown, or it is broken. Errors of reading
// the file do not wrap it.
var ErrUnsupported = audio.ErrUnsupported

// Info describes the content of a file.
type Info struct {
	Type     media.Type
	MIMEType string
	Ext      string // of a file name, without the dot
	Width    int    // 0 for audio and captions
	Height   int
	Duration time.Duration // 0 for images and captions
	// Movie describes a video: its size and its length are those that are seen of it.
	Movie media.Movie
}

// File returns the description of a file as resources store it.
func (i Info) File() media.File {
	f := media.File{Type: i.Type, MIMEType: i.MIMEType, Width: i.Width, Height: i.Height, DurationSeconds: i.Seconds()}
	if i.Type == media.Video {
		f.Movie = &i.Movie
	}
	return f
}

// Seconds returns the length in seconds, to the millisecond.
func (i Info) Seconds() float64 {
	return math.Round(i.Duration.Seconds()*1000) / 1000
}

// Bytes reads a file that is in memory.
func Bytes(content []byte) (Info, error) {
	return Read(bytes.NewReader(content), int64(len(content)))
}

// Read reads a file of the given size. It supports PNG, JPEG, WebP, MP4, MP3, WAV and WebVTT. For other content the
// error wraps ErrUnsupported.
func Read(r io.ReaderAt, size int64) (Info, error) {
	f := file{audio.File{R: r, Size: size}}
	head := make([]byte, min(size, 12))
	if err := f.At(0, head); err != nil {
		return Info{}, err
	}
	has := func(offset int, magic string) bool {
		return len(head) >= offset+len(magic) && string(head[offset:offset+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"), has(0, "\xff\xd8\xff"), has(0, "RIFF") && has(8, "WEBP"):
		return f.picture()
	case has(0, "RIFF") && has(8, "WAVE"):
		return sound(f.WAV())
	case has(0, webvttMagic), has(0, byteOrderMark+webvttMagic):
		return f.webvtt()
	case has(4, "ftyp"):
		return f.mp4()
	case has(0, "ID3"), len(head) > 1 && head[0] == 0xff && head[1]&0xe0 == 0xe0:
		return sound(f.MP3())
	default:
		return Info{}, audio.Unsupported("no known format begins with % x", head)
	}
}

// file is a file that is being read.
type file struct{ audio.File }

// sound returns the result of a reader of pkg/media/audio.
func sound(s audio.Sound, err error) (Info, error) {
	return Info{Type: media.Audio, MIMEType: s.MIMEType, Ext: s.Ext, Duration: s.Duration}, err
}

// picture reads a picture. Its headers may be anywhere in it: EXIF is behind the pixels of a WebP.
func (f file) picture() (Info, error) {
	if most := media.Limit(media.Image); f.Size > most {
		return Info{}, audio.Unsupported("a picture of %d bytes, above %d", f.Size, most)
	}
	content := make([]byte, f.Size)
	if err := f.At(0, content); err != nil {
		return Info{}, err
	}
	return pixels(content)
}
