package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Decoded is an accepted file.
type Decoded struct {
	Info
	// Came is the MIME type of the file as it came.
	Came string
	// Content is the file without the removed data, or nil if nothing was removed or Edits remove it.
	Content []byte
	// Edits are the changes that remove data from a video, which may be too large for the memory.
	Edits []Edit
	// Thumbnail is that of a picture, or nil.
	Thumbnail []byte
	// Likeness is the hash of what a picture shows.
	Likeness provenance.Likeness
}

// Refused is the error of a file that cannot be used.
type Refused struct {
	// TooLarge distinguishes files that are too large from those that cannot be decoded.
	TooLarge bool
	// Message is a sentence for the caller.
	Message string
	broken  bool // nothing else is known of it
}

// Error returns the message.
func (e *Refused) Error() string { return "decode: " + e.Message }

func broken(what string) error {
	return &Refused{broken: true, Message: fmt.Sprintf("The file is not a whole %s. Check that it opens elsewhere, and that all of "+
		"it was sent.", what)}
}

// decodeTime bounds the decoding of a file. The largest picture takes about two seconds.
const decodeTime = 20 * time.Second

// Decoder checks files.
type Decoder struct {
	// FFmpeg decodes HEIC and AVIF, which are refused if it is nil.
	FFmpeg heif.Program
}

// Decode checks a file without a program, so that it refuses HEIC and AVIF. See Decoder.
func Decode(ctx context.Context, r io.ReaderAt, size int64) (Decoded, error) {
	return Decoder{}.Decode(ctx, r, size)
}

// Decode checks a file of the given size. It returns a *Refused for a file that cannot be used, or that takes too long
// to decode. Other errors are those of the reader, of the program and of the context.
func (d Decoder) Decode(ctx context.Context, r io.ReaderAt, size int64) (Decoded, error) {
	limited, cancel := context.WithTimeout(ctx, decodeTime)
	defer cancel()
	f, err := d.read(limited, r, size)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return Decoded{}, &Refused{TooLarge: true, Message: "The file takes too long to decode. Save it again in a " +
			"simpler form, or smaller."}
	}
	if f.Came == "" {
		f.Came = f.MIMEType
	}
	return f, err
}

func (d Decoder) read(ctx context.Context, r io.ReaderAt, size int64) (Decoded, error) {
	head := make([]byte, min(size, 12))
	if err := (audio.File{R: r, Size: size}).At(0, head); err != nil {
		return Decoded{}, err
	}
	at := func(offset int, magic string) bool {
		return len(head) >= offset+len(magic) && string(head[offset:offset+len(magic)]) == magic
	}
	switch {
	case at(0, "\xff\xd8\xff"), at(0, "\x89PNG\r\n\x1a\n"), at(0, "RIFF") && at(8, "WEBP"):
		return whole(r, size, media.Image, func(content []byte) (Decoded, error) { return still(ctx, content) })
	case d.FFmpeg != nil && heif.Is(head):
		return whole(r, size, media.Image, func(content []byte) (Decoded, error) { return d.heif(ctx, content) })
	case at(4, "ftyp") && brands[string(head[8:])][0] == "":
		return boxes(ctx, r, size)
	case at(8, "WAVE") && (at(0, "RIFF") || at(0, "RF64")), at(0, "ID3"), sounds(head):
		return whole(r, size, media.Audio, func(content []byte) (Decoded, error) { return decodeSound(ctx, content) })
	default:
		return Decoded{}, unsupported(r, size)
	}
}

// sounds reports whether a file begins with a frame of MP3 or AAC.
func sounds(head []byte) bool {
	const layer, mp3, adts = 6, 2, 0
	return len(head) > 1 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && (head[1]&layer == mp3 || head[1]&layer == adts)
}

// boxes reads an MP4, an M4A, or a QuickTime movie that can become an MP4.
func boxes(ctx context.Context, r io.ReaderAt, size int64) (Decoded, error) {
	f, err := video(ctx, r, size)
	if !errors.Is(err, ErrUnsupported) {
		return f, err
	}
	f, failed := whole(r, size, media.Audio,
		func(content []byte) (Decoded, error) { return recording(ctx, content) })
	refused, why := new(Refused), new(audio.Refusal)
	switch {
	case !errors.As(failed, &refused):
		return f, failed
	case refused.TooLarge: // for a recording, which it may not be
	case !refused.broken:
		return f, failed
	}
	if errors.As(err, &why) {
		return Decoded{}, &Refused{Message: why.Message}
	}
	if err := cutOff(ctx, r, size); err != nil {
		return Decoded{}, err
	}
	return Decoded{}, broken("MP4 video or M4A recording")
}

// cutOff returns an error that says so of a file that ends within a box, or that has no description of its content.
func cutOff(ctx context.Context, r io.ReaderAt, size int64) error {
	s := &stripper{File: audio.File{R: r, Size: size}, ctx: ctx}
	whole, described := int64(0), false
	err := s.each(0, size, func(b box) error {
		whole = b.end
		described = described || b.name == "moov"
		return nil
	})
	switch {
	case errors.Is(err, ErrUnsupported) || whole < size:
		return &Refused{Message: fmt.Sprintf("The file is an MP4 that is cut off after %d bytes. Send all of it.", size)}
	case err == nil && !described:
		return &Refused{Message: "The file is an MP4 without the description of its content, as of a recording that " +
			"was not ended. Repair or export it, and send it again."}
	}
	return err
}

func formats() string {
	return strings.Join(slices.Concat(media.Formats[media.Image], media.Formats[media.Audio],
		media.Formats[media.Video]), ", ")
}

// whole reads a file into memory, up to the limit of its type.
func whole(r io.ReaderAt, size int64, t media.Type, read func([]byte) (Decoded, error)) (Decoded, error) {
	if most := media.Limit(t); size > most {
		return Decoded{}, &Refused{TooLarge: true, Message: fmt.Sprintf("The file has %d bytes. Files of the type %s "+
			"may have up to %d.", size, t, most)}
	}
	content := make([]byte, size)
	if err := (audio.File{R: r, Size: size}).At(0, content); err != nil {
		return Decoded{}, err
	}
	f, err := read(content)
	if bytes.Equal(f.Content, content) {
		f.Content = nil
	}
	return f, err
}

// decodeSound reads a recording frame by frame.
func decodeSound(ctx context.Context, content []byte) (Decoded, error) {
	s, kept, err := audio.Speech(content)
	if why := new(audio.Refusal); errors.As(err, &why) {
		return Decoded{}, &Refused{Message: why.Message}
	}
	if err != nil {
		return Decoded{}, broken("MP3, WAV, AAC or M4A recording whose length can be measured")
	}
	if kept, err = originKept(ctx, kept, content); err != nil {
		return Decoded{}, err
	}
	return Decoded{Info: Info{Type: media.Audio, MIMEType: s.MIMEType, Ext: s.Ext, Duration: s.Duration},
		Content: kept}, nil
}

// video reads the boxes of an MP4, or of a QuickTime movie as an MP4.
func video(ctx context.Context, r io.ReaderAt, size int64) (f Decoded, err error) {
	brand, renamed := make([]byte, 4), []Edit(nil)
	if err := (audio.File{R: r, Size: size}).At(8, brand); err != nil {
		return f, err
	}
	if string(brand) == quickTime {
		if renamed, err = asMP4(ctx, r, size); err != nil {
			return f, err
		}
		r = edited{r, renamed}
	}
	if f.Info, err = Read(r, size); err != nil {
		return f, err
	}
	if f.Edits, err = stripMP4(ctx, r, size); errors.Is(err, ErrUnsupported) {
		err = broken("MP4 video")
	}
	f.Edits = append(renamed, f.Edits...)
	return f, err
}

// recording reads an M4A.
func recording(ctx context.Context, content []byte) (Decoded, error) {
	f, err := decodeSound(ctx, content)
	if err != nil {
		return f, err
	}
	edits, err := stripMP4(ctx, bytes.NewReader(f.Content), int64(len(f.Content)), "soun")
	if errors.Is(err, ErrUnsupported) {
		err = broken("M4A recording")
	}
	f.Content = slices.Clone(f.Content)
	for _, e := range edits {
		clear(f.Content[e.At : e.At+e.Zeros])
		copy(f.Content[e.At:], e.Bytes)
	}
	return f, err
}
