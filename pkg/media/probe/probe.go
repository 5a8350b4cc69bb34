// Package probe reads the actual properties of a media file — format, dimensions, length — from its content. It trusts
// neither a file name nor a declared type, reads only headers, and bounds the sizes that a hostile file may claim. Only
// workers use it: it links decoders. Start with Read.
package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/budget"
	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/audio"
	"github.com/content-automation/api/pkg/media/heif"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/provenance"
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
	case has(0, webvttMagic), has(0, clip.ByteOrderMark+webvttMagic):
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

// Decoded is an accepted file.
type Decoded struct {
	Info
	// Came is the MIME type of the file as it came.
	Came string
	// Content is the file without the removed data, or nil if nothing was removed or Edits remove it.
	Content []byte
	// Edits are the changes that remove data from a video, which may be too large for the memory.
	Edits []Edit
	// Thumbnail is the thumbnail of a picture, or nil.
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

// Error returns the message, after the name of the package.
func (e *Refused) Error() string { return "decode: " + e.Message }

func broken(what string) error {
	return &Refused{broken: true, Message: fmt.Sprintf("The file is not a whole %s. Check that it opens elsewhere, "+
		"and that all of "+
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
	f.Came = cmp.Or(f.Came, f.MIMEType)
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
	case at(8, "WAVE") && (at(0, "RIFF") || at(0, "RF64")), at(0, "ID3"), at(0, "APETAGEX"), sounds(head),
		padded(head, r, size):
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

// padded reports whether a file begins with an MP3 behind zeros: those of its head, and more.
func padded(head []byte, r io.ReaderAt, size int64) bool {
	if size < 12 || len(bytes.TrimLeft(head, "\x00")) > 0 {
		return false
	}
	begin := make([]byte, min(size, 64<<10))
	n, _ := r.ReadAt(begin, 0)
	rest := bytes.TrimLeft(begin[:n], "\x00")
	return sounds(rest) || bytes.HasPrefix(rest, []byte("ID3"))
}

// boxes reads an MP4, an M4A, or a QuickTime movie that can become an MP4. What is behind its boxes becomes free space.
func boxes(ctx context.Context, r io.ReaderAt, size int64) (Decoded, error) {
	top, err := outlineOf(ctx, r, size)
	if err != nil {
		return Decoded{}, err
	}
	behind, err := top.trailer(r)
	if err != nil {
		return Decoded{}, err
	}
	if len(behind) > 0 { // what was behind the last box is in one of free space then
		top.end, top.broken = size, false
	}
	f, err := movieOrRecording(ctx, editedMovie{r, behind}, top)
	if f.Content == nil {
		f.Edits = append(behind, f.Edits...)
	}
	return f, err
}

// movieOrRecording reads a file of boxes, whose outline is given.
func movieOrRecording(ctx context.Context, r io.ReaderAt, top outline) (Decoded, error) {
	f, err := video(ctx, r, top.size)
	if !errors.Is(err, ErrUnsupported) {
		return f, err
	}
	f, failed := whole(r, top.size, media.Audio,
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
	if err := top.cutOff(); err != nil {
		return Decoded{}, err
	}
	return Decoded{}, broken("MP4 video or M4A recording")
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
		r = editedMovie{r, renamed}
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

// form is a format of pictures.
type form struct {
	name, ext string
	// strip removes what is not part of the picture. If notes is true, what says nothing about a person stays: which
	// program has encoded the file, and XMP.
	strip func(content []byte, notes bool) []byte
}

var forms = map[string]form{
	"image/jpeg": {"JPEG", "jpg", stripJPEG},
	"image/png":  {"PNG", "png", stripPNG},
	"image/webp": {"WebP", "webp", stripWebP},
}

// moving refuses a picture of several frames: the other ones would be lost without a word.
const moving = "The picture is animated, and one picture is needed. Save one frame of it as JPEG, PNG or WebP, or " +
	"all of it as an MP4 video."

// pixels reads the size of a picture from its headers.
func pixels(content []byte) (Info, error) {
	p, err := picture.Open(content)
	if err != nil {
		return Info{}, audio.Unsupported("%v", err)
	}
	return infoOf(p), nil
}

func infoOf(p *picture.Picture) Info {
	return Info{Type: media.Image, MIMEType: p.MIMEType, Ext: forms[p.MIMEType].ext, Width: p.Width, Height: p.Height}
}

// still decodes a picture. A picture that is stored on its side is turned upright, because readers may not support
// that.
func still(ctx context.Context, content []byte) (f Decoded, err error) {
	p, err := picture.Open(content)
	if err != nil {
		return f, broken("picture in one of the formats JPEG, PNG and WebP")
	}
	if p.Animated {
		return f, &Refused{Message: moving}
	}
	f.Info, f.Came = infoOf(p), p.MIMEType
	d, err := p.Decode(ctx)
	if err == nil {
		f.Likeness, f.Thumbnail, err = Look(ctx, d)
	}
	if err != nil {
		return Decoded{}, refusal(err, f.MIMEType)
	}
	strip := forms[p.MIMEType].strip
	if p.Orientation == 1 {
		if plain, err := nothingPersonal(ctx, content, strip(content, true)); plain || err != nil {
			return f, err
		}
		f.Content = strip(content, false)
	} else if f.Content, f.MIMEType, f.Ext, err = d.Upright(ctx); err != nil {
		return Decoded{}, refusal(err, p.MIMEType)
	} else if f.MIMEType == p.MIMEType {
		f.Content = withManifest(f.Content, strip(content, false), f.MIMEType)
	}
	f.Content, err = originKept(ctx, f.Content, content)
	return f, err
}

// Look returns the hash of what a picture shows, and its thumbnail: a JPEG in sRGB, as wide as thumbnails may be. The
// thumbnail is nil for a picture that is not wider, or is much taller than wide.
func Look(ctx context.Context, d *picture.Decoded) (hash provenance.Likeness, thumbnail []byte, err error) {
	seen, err := d.Within(ctx, image.Pt(min(d.Width, media.ThumbnailWidth),
		min(d.Height, tallest*media.ThumbnailWidth)))
	if err != nil {
		return 0, nil, err
	}
	if d.Width > media.ThumbnailWidth && d.Height <= tallest*d.Width {
		thumbnail, err = encoded(seen)
	}
	return provenance.LikenessOf(seen), thumbnail, err
}

// refusal returns why a picture cannot be used.
func refusal(err error, mimeType string) error {
	var large *picture.TooLargeError
	switch {
	case errors.As(err, &large):
		return &Refused{TooLarge: true, Message: large.Message}
	case errors.Is(err, picture.ErrBroken):
		return broken(forms[mimeType].name)
	}
	return err
}

// nothingPersonal reports whether a file is all that stays of it, with XMP that says where it comes from and no more.
func nothingPersonal(ctx context.Context, content, kept []byte) (bool, error) {
	if !bytes.Equal(content, kept) {
		return false, nil
	}
	plain, err := provenance.Plain(ctx, bytes.NewReader(content), int64(len(content)))
	if errors.Is(err, provenance.ErrUnsupported) {
		return false, nil
	}
	return plain, err
}

// originKept returns a picture without metadata with what the file has said of its origin in XMP, and the credit line
// of a model. Everything else that was there, such as a place or a name, is left out.
func originKept(ctx context.Context, stripped, content []byte) ([]byte, error) {
	found, err := provenance.Read(ctx, bytes.NewReader(content), int64(len(content)))
	said := found.Statement.Impersonal()
	if errors.Is(err, provenance.ErrUnsupported) || err == nil && said == (provenance.Statement{}) {
		return stripped, nil
	}
	if err != nil {
		return nil, err
	}
	return provenance.Marked(ctx, stripped, said)
}

// heif makes a JPEG of a HEIC or an AVIF, or a PNG if it is transparent. What the file says of persons and places goes.
func (d Decoder) heif(ctx context.Context, content []byte) (f Decoded, err error) {
	f, err = d.drawn(ctx, content)
	var refused *heif.RefusedError
	switch {
	case errors.As(err, &refused):
		return Decoded{}, &Refused{TooLarge: refused.TooLarge, Message: refused.Message}
	case errors.Is(err, heif.ErrBroken):
		return Decoded{}, broken("HEIC or AVIF picture")
	case errors.Is(err, budget.ErrExceeded):
		return Decoded{}, &Refused{TooLarge: true, Message: "The picture has more parts than one of a telephone or " +
			"an editor. Convert it to JPEG, PNG or WebP."}
	case err != nil:
		return Decoded{}, err
	}
	f.Content, err = originKept(ctx, f.Content, content)
	return f, err
}

func (d Decoder) drawn(ctx context.Context, content []byte) (f Decoded, err error) {
	p, err := heif.Open(ctx, content)
	if err != nil {
		return f, err
	}
	img, err := p.Decode(ctx, d.FFmpeg, os.TempDir())
	if err != nil {
		return f, err
	}
	profile, mimeType := p.Profile, "image/jpeg"
	if profile == nil {
		profile = picture.ProfileOf(img.Colors.Primaries, img.Colors.Transfer)
	}
	if clear, is := img.Image.(*image.NRGBA); is && !clear.Opaque() {
		mimeType = "image/png"
	}
	drawn := picture.Of(img.Image, mimeType, img.Orientation, profile)
	if f.Likeness, f.Thumbnail, err = Look(ctx, drawn); err != nil {
		return f, err
	}
	f.Info, f.Came = infoOf(drawn.Picture), p.MIMEType
	f.Content, f.MIMEType, f.Ext, err = drawn.Upright(ctx)
	return f, err
}

// webvttMagic is the beginning of a file of captions, perhaps after a byte order mark (W3C WebVTT, 4.1).
const webvttMagic = "WEBVTT"

// maxCaptions bounds a file of captions: an hour of speech has a tenth of it.
const maxCaptions = 1 << 20

// webvtt reads captions: they must be text, and must have something to show.
func (f file) webvtt() (Info, error) {
	if f.Size > maxCaptions {
		return Info{}, audio.Unsupported("captions of %d bytes", f.Size)
	}
	content := make([]byte, f.Size)
	if err := f.At(0, content); err != nil {
		return Info{}, err
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return Info{}, audio.Unsupported("captions that are no text")
	}
	head, _, _ := strings.Cut(strings.TrimPrefix(string(content), clip.ByteOrderMark), "\n")
	if rest := strings.TrimPrefix(strings.TrimSuffix(head, "\r"), webvttMagic); rest != "" && rest[0] != ' ' &&
		rest[0] != '\t' {
		return Info{}, audio.Unsupported("captions that begin with %q", head)
	}
	if !bytes.Contains(content, []byte(" --> ")) {
		return Info{}, audio.Unsupported("captions without a cue")
	}
	return Info{Type: media.Captions, MIMEType: "text/vtt", Ext: "vtt"}, nil
}

const (
	// thumbnailQuality is the quality of thumbnails, which have about 30 KB.
	thumbnailQuality = 80
	// tallest bounds the height of pictures with a thumbnail, as a multiple of their width: no post is as tall, and the
	// thumbnail of a picture of one column would be as large as the picture.
	tallest = 5
)

// encoded returns a thumbnail as a JPEG. White is seen where it is transparent.
func encoded(thumbnail *image.NRGBA) ([]byte, error) {
	var out bytes.Buffer
	flat := picture.Flat(thumbnail, image.White)
	if err := jpeg.Encode(&out, flat, &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("probe: encode a thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// What files of other formats are to be converted to.
const (
	toPicture = "Convert it to JPEG, PNG or WebP."
	toMoving  = "Convert it to PNG, or to MP4 if it moves."
	toDrawn   = "Export it as PNG or JPEG."
	toVideo   = "Convert it to MP4 with H.264 and AAC."
	toSound   = "Convert it to MP3, M4A with AAC, or WAV."
	toPlain   = "Take the pictures, recordings and videos out of it, and send each as a file of its own."
)

// refusedFormats are the formats that are not taken, by how they begin. The first that fits is that of the file.
var refusedFormats = []struct {
	at     int64
	magic  string
	what   string // with an article
	advice string
}{
	{0, "GIF8", "a GIF picture", toMoving},
	{0, "BM", "a BMP picture", toPicture},
	{0, "II*\x00", "a TIFF or raw picture of a camera", toPicture},
	{0, "MM\x00*", "a TIFF or raw picture of a camera", toPicture},
	{0, "II+\x00", "a BigTIFF picture", toPicture},
	{0, "MM\x00+", "a BigTIFF picture", toPicture},
	{0, "IIU\x00", "a raw picture of a camera (RW2)", toPicture},
	{0, "IIRO", "a raw picture of a camera (ORF)", toPicture},
	{0, "FUJIFILMCCD-RAW", "a raw picture of a camera (RAF)", toPicture},
	{0, "\x00\x00\x00\x0cJXL \r\n\x87\n", "a JPEG XL picture", toPicture},
	{0, "\xff\x0a", "a JPEG XL picture", toPicture},
	{0, "\x00\x00\x00\x0cjP  \r\n\x87\n", "a JPEG 2000 picture", toPicture},
	{0, "\xff\x4f\xff\x51", "a JPEG 2000 picture", toPicture},
	{0, "8BPS", "a Photoshop file (PSD)", toDrawn},
	{0, "gimp xcf", "a GIMP file (XCF)", toDrawn},
	{0, "\x00\x00\x01\x00", "an icon (ICO)", toPicture},
	{0, "\x00\x00\x02\x00", "a cursor (CUR)", toPicture},
	{0, "qoif", "a QOI picture", toPicture},
	{0, "v/1\x01", "an OpenEXR picture", toPicture},
	{0, "#?RADIANCE", "a Radiance HDR picture", toPicture},
	{0, "DDS ", "a DDS texture", toPicture},
	{0, "\x8aMNG\r\n\x1a\n", "an MNG animation", toMoving},
	{0, "%PDF", "a PDF document", toDrawn},
	{0, "%!PS", "a PostScript or Illustrator file", toDrawn},
	{0, "\xc5\xd0\xd3\xc6", "an EPS file", toDrawn},
	{0, "\x1aE\xdf\xa3", "a Matroska video (MKV)", toVideo},
	{0, "FLV\x01", "an FLV video", toVideo},
	{0, "OggS", "an Ogg file", toSound},
	{0, "fLaC", "a FLAC recording", toSound},
	{0, "#!AMR", "an AMR recording", toSound},
	{0, "caff", "a CAF recording of Apple", toSound},
	{0, ".snd", "an AU recording", toSound},
	{0, "wvpk", "a WavPack recording", toSound},
	{0, "MAC ", "a Monkey's Audio recording", toSound},
	{0, "ADIF", "an AAC recording in the form ADIF", toSound},
	{0, "MThd", "a MIDI file, which has notes and no sound", "Record it, and send it as MP3, M4A or WAV."},
	{0, "riff\x2e\x91\xcf\x11", "a Wave64 recording", toSound},
	{0, "0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel", "a Windows Media file (WMA, WMV or ASF)",
		"Convert a video to MP4 with H.264 and AAC, and a recording to MP3."},
	{0, ".RMF", "a RealMedia file", toVideo},
	{0, "\x00\x00\x01\xba", "an MPEG program stream (MPG or VOB)", toVideo},
	{0, "\x00\x00\x01\xb3", "an MPEG video", toVideo},
	{0, "\x00\x00\x00\x01", "a raw stream of H.264 or H.265", toVideo},
	{0, "PK\x03\x04", "a ZIP archive or an office document", toPlain},
	{0, "PK\x05\x06", "an empty ZIP archive", toPlain},
	{0, "Rar!\x1a\x07", "a RAR archive", toPlain},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", toPlain},
	{0, "\x1f\x8b", "a file compressed with gzip", "Unpack it, and send what is in it."},
	{0, "BZh", "a file compressed with bzip2", "Unpack it, and send what is in it."},
	{0, "\xfd7zXZ\x00", "a file compressed with xz", "Unpack it, and send what is in it."},
	{0, "\x28\xb5\x2f\xfd", "a file compressed with Zstandard", "Unpack it, and send what is in it."},
	{257, "ustar", "a TAR archive", toPlain},
	{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document of the old form (DOC, XLS or PPT)", toPlain},
	{0, "{\\rtf", "an RTF document", toPlain},
	{0, "SQLite format 3\x00", "an SQLite database", toPlain},
	{0, "\x7fELF", "a program", toPlain},
	{0, "MZ", "a program", toPlain},
	{0, "WEBVTT", "a file of captions (WebVTT)", "Captions are made from the script of a video."},
}

// riffs are the formats in RIFF and in IFF that are not taken, by the kind behind their length.
var riffs = map[string][2]string{
	"RIFFAVI ": {"an AVI video", toVideo}, "RIFFRMID": {"a MIDI file, which has notes and no sound",
		"Record it, and send it as MP3, M4A or WAV."}, "RIFFACON": {"an animated cursor", toMoving},
	"FORMAIFF": {"an AIFF recording", toSound}, "FORMAIFC": {"an AIFF recording", toSound},
	"FORMILBM": {"an IFF picture", toPicture}, "RIFFCDXA": {"a Video CD", toVideo},
}

// brands are the formats in the boxes of MP4 that are not taken, by the first brand.
var brands = map[string][2]string{
	"crx ": {"a raw picture of a Canon camera (CR3)", toPicture}, "jp2 ": {"a JPEG 2000 picture", toPicture},
	"jpx ": {"a JPEG 2000 picture", toPicture}, "jxl ": {"a JPEG XL picture", toPicture},
	"aax ": {"an encrypted audiobook", toSound}, "M4P ": {"an encrypted recording of iTunes", toSound},
	"msf1": {"a sequence of HEIF pictures", toPicture}, "hevc": {"a sequence of HEIC pictures", toPicture},
	"hevx": {"a sequence of HEIC pictures", toPicture}, "avis": {"a sequence of AVIF pictures", toMoving},
	"j2ki": {"a HEIF picture with JPEG 2000", toPicture}, "jpeg": {"a HEIF picture with JPEG", toPicture},
	"heic": {"a HEIC picture", toPicture}, "heix": {"a HEIC picture", toPicture}, "heim": {"a HEIC picture", toPicture},
	"heis": {"a HEIC picture", toPicture}, "mif1": {"a HEIF picture", toPicture}, "mif2": {"a HEIF picture", toPicture},
	"avif": {"an AVIF picture", toPicture},
}

// sniffBytes is the number of bytes at the beginning in which the format is looked for.
const sniffBytes = 1024

// unsupported returns the error of a file of a format that is not taken. It names the format, if it is known, and what
// to do.
func unsupported(r io.ReaderAt, size int64) error {
	if size == 0 {
		return &Refused{Message: "The file is empty: it has 0 bytes. Send its content."}
	}
	head := make([]byte, min(size, sniffBytes))
	if err := (audio.File{R: r, Size: size}).At(0, head); err != nil {
		return err
	}
	if what, advice := named(head); what != "" {
		return &Refused{Message: fmt.Sprintf("The file is %s. %s", what, advice)}
	}
	return &Refused{Message: "The format of the file is not supported. Send one of " + formats() + "."}
}

// named returns the format of a file with an article, and what to do with it, or "" for one that is not known.
func named(head []byte) (what, advice string) {
	if len(head) >= 12 {
		if of, ok := riffs[string(head[:4])+string(head[8:12])]; ok {
			return of[0], of[1]
		}
		if of, ok := brands[string(head[8:12])]; ok && string(head[4:8]) == "ftyp" {
			return of[0], of[1]
		}
		switch string(head[4:8]) {
		case "moov", "mdat", "wide", "pnot":
			return "a QuickTime movie of an old form", "Export it as MP4 (H.264)."
		}
	}
	for _, o := range refusedFormats {
		if int64(len(head)) >= o.at && bytes.HasPrefix(head[o.at:], []byte(o.magic)) {
			return streamed(head, o.what, o.advice)
		}
	}
	const packet = 188
	if len(head) > 2*packet && head[0] == 'G' && head[packet] == 'G' && head[2*packet] == 'G' {
		return "an MPEG transport stream (TS)", toVideo
	}
	if len(head) > 2 && head[0] == 0xff && head[1]&0xe0 == 0xe0 && head[1]&6 > 2 && head[1]&0x18 != 8 {
		return "an MPEG recording of layer I or II (MP2)", toSound
	}
	return textual(head)
}

// streamed distinguishes the formats that have the same beginning.
func streamed(head []byte, what, advice string) (string, string) {
	has := func(mark string) bool { return bytes.Contains(head, []byte(mark)) }
	switch {
	case what == "an Ogg file" && has("OpusHead"):
		return "an Opus recording", advice
	case what == "an Ogg file" && has("\x01vorbis"):
		return "an Ogg Vorbis recording", advice
	case what == "an Ogg file" && (has("\x80theora") || has("OVP80")):
		return "an Ogg video", toVideo
	case strings.HasPrefix(what, "a Matroska") && has("webm"):
		return "a WebM video", advice
	case what == "a BMP picture" && (len(head) < 18 || binary.LittleEndian.Uint32(head[6:]) != 0):
		return textual(head) // a text that begins with these letters
	case what == "a program" && head[0] == 'M' && bytes.IndexByte(head, 0) < 0:
		return textual(head)
	case has("word/"):
		return "a Word document", advice
	case has("xl/"):
		return "an Excel workbook", advice
	case has("ppt/"):
		return "a PowerPoint presentation", advice
	}
	return what, advice
}

// textual names the kinds of texts.
func textual(head []byte) (what, advice string) {
	for _, encoded := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(head, []byte(encoded)) {
			return "a text", "Send the file itself, and not a description of it."
		}
	}
	text := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head), clip.ByteOrderMark)))
	starts := func(marks ...string) bool {
		for _, m := range marks {
			if strings.HasPrefix(text, m) {
				return true
			}
		}
		return false
	}
	const page = "The address may lead to a page with the file, or need a sign-in. Send the address of the file itself."
	switch {
	case text == "" || strings.ContainsRune(text, 0):
		return "", ""
	case strings.Contains(text, "<svg") && starts("<"):
		return "an SVG drawing", toDrawn
	case starts("<!doctype html", "<html", "<head", "<body", "<script"):
		return "an HTML page", page
	case starts("<?xml", "<error", "<!doctype"):
		return "an XML document", page
	case starts("#extm3u"):
		return "a playlist (M3U8)", "Send the video or recording itself."
	case starts("data:"):
		return "a data URL", "Send the bytes that it encodes."
	case starts("{", "["):
		return "a JSON text", page
	}
	for _, b := range []byte(text) {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return "", ""
		}
	}
	if strings.ToValidUTF8(text[:max(0, len(text)-4)], "\x00") == text[:max(0, len(text)-4)] {
		return "a text", "Send the file itself."
	}
	return "", ""
}
