// Package media describes generated files and signs the URLs by which callers fetch them. It links neither the S3
// client nor any decoder, because the functions behind the gateway need neither: pkg/media/objects stores files, and
// pkg/media/probe reads them. Start with File, which is stored, and View, which callers see.
package media

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media/provenance"
)

// Type is the type of a file, independent of its format.
type Type string

// The types of media.
const (
	Image    Type = "image"
	Video    Type = "video"
	Audio    Type = "audio"
	Captions Type = "captions" // WebVTT
	Data     Type = "data"     // feeds of products
)

// Role is the purpose of a file of a content item.
type Role string

// The roles.
const (
	Final     Role = "final" // the published file
	Poster    Role = "poster"
	Slide     Role = "slide"
	Narration Role = "narration"
	Clip      Role = "clip"
	Still     Role = "still" // the first picture of a clip
	Cover     Role = "cover"
	Track     Role = "track"
	Subtitles Role = "captions"
)

// File is one stored file as a resource keeps it: with the key of its object, which callers never see, and without a
// URL, which is signed when the file is read.
type File struct {
	ID              string  `json:"id"`
	Role            Role    `json:"role,omitempty"`
	Type            Type    `json:"type"`
	MIMEType        string  `json:"mime_type"`
	Key             string  `json:"key"`
	Width           int     `json:"width,omitempty"`
	Height          int     `json:"height,omitempty"`
	DurationSeconds float64 `json:"duration_seconds,omitempty"`
	Bytes           int64   `json:"bytes"`
	SHA256          string  `json:"sha256"`
	// Thumb says that there is a thumbnail at ThumbnailKey.
	Thumb bool `json:"thumb,omitempty"`
	// Movie describes a video. Width, Height and DurationSeconds are those that are seen of it.
	Movie *Movie `json:"movie,omitempty"`
	// Alt describes a picture to those who cannot see it.
	Alt string `json:"alt_text,omitempty"`
	// Provenance is what the file says of its origin. It is nil for a file that nobody has marked.
	Provenance *Provenance `json:"provenance,omitempty"`
	// Likeness is the hash of what a finished picture shows, of package provenance.
	Likeness string `json:"likeness,omitempty"`
	// Inspection is what was found out about the origin of a file that a caller has brought in.
	Inspection *provenance.Inspection `json:"inspection,omitempty"`
}

// ThumbnailWidth bounds the width of thumbnails, in pixels.
const ThumbnailWidth = 400

// ThumbnailType is the MIME type of thumbnails.
const ThumbnailType = "image/jpeg"

// ThumbnailKey returns the key of the object of the file's thumbnail. It is in the same place, so that it is removed
// with the file.
func (f File) ThumbnailKey() string { return f.Key + ".thumb.jpg" }

// ErrExists is returned for an object that was to be stored under a key that has one.
var ErrExists = errors.New("media: there is an object with that key")

// Object is an object of the bucket.
type Object struct {
	Key   string
	Bytes int64
	// At is the time at which it was stored.
	At time.Time
}

// Thumbnail returns the file of the file's thumbnail, to store it.
func (f File) Thumbnail(content []byte) File {
	sum := sha256.Sum256(content)
	return File{Type: Image, MIMEType: ThumbnailType, Key: f.ThumbnailKey(), Bytes: int64(len(content)),
		SHA256: hex.EncodeToString(sum[:])}
}

// Provenance is what a file says of its origin.
type Provenance struct {
	// IPTC's term for how the file was made, which its XMP has: `trainedAlgorithmicMedia` if models have made it,
	// `compositeWithTrainedAlgorithmicMedia` if there are files of yours in it. Absent if no part was generated.
	DigitalSourceType string `json:"digital_source_type,omitempty" format:"uri"`
	// Whether the file has Content Credentials: a signed manifest of C2PA.
	C2PA bool `json:"c2pa"`
	// Name in the certificate of the signature. Absent without one of this service.
	Signer string `json:"signer,omitempty" example:"Acme GmbH"`
}

// Generated reports whether a file says that a model has made it, or a part of it.
func (p *Provenance) Generated() bool {
	if p == nil {
		return false
	}
	switch provenance.SourceOf(p.DigitalSourceType) {
	case provenance.Generated, provenance.Composite, "algorithmicMedia", "compositeSynthetic", "virtualRecording":
		return true
	}
	return false
}

// View is a File as the API returns it.
type View struct {
	// Id of the file. It consists of the id of the resource, the attempt and a number, and does not change.
	ID string `json:"id" example:"cnt_01h455vb4pex5vsknk084sn02q_1_1"`
	// Purpose of the file in its content item. Absent in generations.
	Role Role `json:"role,omitempty" enum:"final,poster,slide,narration,clip,still,cover,track,captions"`
	// Type of the file.
	Type Type `json:"type" enum:"image,video,audio,captions"`
	// MIME type, detected from the content.
	MIMEType string `json:"mime_type" example:"image/png"`
	// Signed URL, valid for one hour. Read the resource again for a new one.
	URL string `json:"url" format:"uri"`
	// Signed URL of a JPEG of at most 400 pixels in width, valid for one hour or more: of the picture, or of a frame of
	// the video. Null if there is none: use `url` then. Finished files of content items have one.
	ThumbnailURL *string `json:"thumbnail_url" format:"uri"`
	// In pixels; images and videos only.
	Width int `json:"width,omitempty" example:"1080"`
	// In pixels; images and videos only.
	Height int `json:"height,omitempty" example:"1350"`
	// Length in seconds; videos and audio only.
	DurationSeconds float64 `json:"duration_seconds,omitempty" example:"3"`
	// Size in bytes.
	Bytes int64 `json:"bytes" example:"13691"`
	// SHA-256 of the file in hexadecimal.
	SHA256 string `json:"sha256" format:"sha256"`
	// What is seen, for people who cannot see it, in the language of the item; generated pictures of content items
	// only. Platforms that take an alternative text get it, unless options of the publication have another.
	AltText string `json:"alt_text,omitempty"`
	// What the file says of its origin. Absent for captions and for your own files.
	Provenance *Provenance `json:"provenance,omitempty"`
}

// Place is the location of the files of one attempt at one resource.
type Place struct {
	tenant.Owner
	Resource string // id of the content item, generation, …
	Attempt  int    // 1 for the first
}

// ID returns the id of the n-th file (from 1) of the attempt. It depends only on the place and n, so that a worker that
// runs twice replaces a file instead of adding one. No two resources or attempts share an id.
func (p Place) ID(n int) string {
	return fmt.Sprintf("%s_%d_%d", p.Resource, p.Attempt, n)
}

// Key returns the key of the n-th file's object. Like the id it depends only on the place and n, so that a repeated
// upload replaces its own object. ext has no dot.
func (p Place) Key(n int, ext string) string {
	return fmt.Sprintf("%s%d.%s", p.Prefix(), n, ext)
}

// Prefix returns the prefix of the keys of all files of the attempt.
func (p Place) Prefix() string {
	return fmt.Sprintf("media/%s/%s/%s/%d/", p.Account, p.Mode, p.Resource, p.Attempt)
}

// Validate returns an error if the parts of the place do not make a key of five segments.
func (p Place) Validate() error {
	for _, part := range []string{string(p.Account), string(p.Mode), p.Resource} {
		if part == "" || strings.ContainsAny(part, "/ %?#") || strings.HasPrefix(part, ".") {
			return fmt.Errorf("media: %+v is no place: %q cannot be a segment of a key", p, part)
		}
	}
	if p.Attempt < 1 {
		return fmt.Errorf("media: %+v is no place: attempts count from 1", p)
	}
	return nil
}

// Movie describes what is seen and heard of a video. It is read once, when a file comes in, from the boxes of the file
// and, for what these do not say, from the headers of its codecs. Everything that shows, fits, checks or publishes the
// video uses it. The zero value describes a file that was stored before videos were described.
type Movie struct {
	Picture Picture `json:"picture"`
	Sound   Sound   `json:"sound,omitzero"`
	// Edited reports whether the edit list matters: without it, a reader shows more than half of a tenth of a second
	// that it should not, or in another order, or with the sound at another time. Lists that only skip what a codec
	// needs to begin do not count.
	Edited bool `json:"edited,omitempty"`
}

// Codec is the name of a codec, as people and ffmpeg write it.
type Codec string

// The codecs of pictures and sound that MP4 files have.
const (
	H264  Codec = "h264"
	HEVC  Codec = "hevc"
	AV1   Codec = "av1"
	VP8   Codec = "vp8"
	VP9   Codec = "vp9"
	MPEG4 Codec = "mpeg4"
	MPEG2 Codec = "mpeg2"
	MPEG1 Codec = "mpeg1"
	MJPEG Codec = "mjpeg"

	AAC  Codec = "aac"
	MP3  Codec = "mp3"
	AC3  Codec = "ac3"
	EAC3 Codec = "eac3"
	Opus Codec = "opus"
	FLAC Codec = "flac"
	ALAC Codec = "alac"
	AMR  Codec = "amr"
	PCM  Codec = "pcm"
)

// titles are the names of codecs that are not their capitals.
var titles = map[Codec]string{H264: "H.264", HEVC: "HEVC (H.265)", MPEG4: "MPEG-4 Visual", MPEG2: "MPEG-2",
	MPEG1: "MPEG-1", AC3: "AC-3", EAC3: "E-AC-3", Opus: "Opus"}

// Label returns the name by which people know the codec.
func (c Codec) Label() string { return cmp.Or(titles[c], strings.ToUpper(string(c))) }

// Picture describes the pictures of a video.
type Picture struct {
	// Track is the place of the track among those of pictures, from 0: a cover may come before it.
	Track int   `json:"track,omitempty"`
	Codec Codec `json:"codec,omitempty"`
	// Profile is the name of the codec's profile, such as "High 10", or empty if the file does not say it. Level is
	// that of the codec multiplied by ten, such as 41.
	Profile string `json:"profile,omitempty"`
	Level   int    `json:"level,omitempty"`
	// Chroma is the sampling of colors, such as "4:2:0", and Depth the number of bits of a sample.
	Chroma string `json:"chroma,omitempty"`
	Depth  int    `json:"depth,omitempty"`
	// Width and Height are those of the stored frames. They are shown mirrored (left and right are exchanged), and then
	// turned clockwise by so many quarters.
	Width    int  `json:"width,omitempty"`
	Height   int  `json:"height,omitempty"`
	Mirrored bool `json:"mirrored,omitempty"`
	Turn     int  `json:"turn,omitempty"`
	// Aspect is the width of a stored pixel divided by its height. 0 is 1.
	Aspect float64 `json:"aspect,omitempty"`
	Colors Colors  `json:"colors,omitzero"`
	// Start is the time of the first frame, and Rate the mean number of frames in a second.
	Start time.Duration `json:"start,omitempty"`
	Rate  float64       `json:"rate,omitempty"`
}

// Shown returns the size in which the pictures are seen: upright, and with square pixels.
func (p Picture) Shown() (width, height int) {
	width, height = p.Width, p.Height
	if p.Aspect > 0 {
		width = max(int(float64(width)*p.Aspect+0.5), 1)
	}
	if p.Turn%2 == 1 {
		width, height = height, width
	}
	return width, height
}

// Square reports whether the pixels are square.
func (p Picture) Square() bool { return p.Aspect == 0 || p.Aspect == 1 }

// Colors are the numbers of ITU-T H.273 that say which colors the samples mean.
type Colors struct {
	Primaries int `json:"primaries,omitempty"`
	Transfer  int `json:"transfer,omitempty"`
	Matrix    int `json:"matrix,omitempty"`
	// Full reports whether black is 0 and white the largest number, as in pictures.
	Full bool `json:"full,omitempty"`
}

// The numbers of H.273 that matter here.
const (
	ColorsBT709       = 1
	ColorsUnknown     = 2
	ColorsBT601       = 6
	ColorsBT2020      = 9
	PrimariesP3       = 12 // of telephones: Display P3
	PrimariesDCI      = 11
	TransferPQ        = 16 // SMPTE ST 2084
	TransferHLG       = 18 // ARIB STD-B67
	MatrixBT2020Const = 10
)

// HDR reports whether the pictures have a high dynamic range, and must be tone-mapped to be seen elsewhere.
func (c Colors) HDR() bool { return c.Transfer == TransferPQ || c.Transfer == TransferHLG }

// Wide reports whether the colors are outside of those that other screens show, or HDR.
func (c Colors) Wide() bool {
	return c.HDR() || c.Primaries == ColorsBT2020 || c.Primaries == PrimariesP3 || c.Primaries == PrimariesDCI
}

// Sound describes the sound of a video. Without a codec, there is none.
type Sound struct {
	Codec Codec `json:"codec,omitempty"`
	// Profile is the profile of AAC, such as "LC" or "HE".
	Profile  string `json:"profile,omitempty"`
	Rate     int    `json:"rate,omitempty"` // samples a second
	Channels int    `json:"channels,omitempty"`
	// Start is the time at which it begins.
	Start time.Duration `json:"start,omitempty"`
}

// Formats are the MIME types of files that callers may import, by the type of the file.
var Formats = map[Type][]string{
	Image: {"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif", "image/avif"},
	Audio: {"audio/mpeg", "audio/wav", "audio/aac", "audio/mp4"},
	Video: {"video/mp4"},
	Data:  {"text/csv", "text/tab-separated-values", "application/xml", "application/json"},
}

// limits are the largest sizes of files, in bytes.
var limits = map[Type]int64{Image: 20 << 20, Audio: 25 << 20, Video: 200 << 20, Data: 200 << 20}

// MaxPixels is the largest number of pixels of a picture.
const MaxPixels = 50_000_000

// Limit returns the largest size of a file of a type that callers may import. For an empty type it returns the largest
// of all limits.
func Limit(t Type) int64 {
	if t == "" {
		return slices.Max(slices.Collect(maps.Values(limits)))
	}
	return limits[t]
}

// Same reports whether two MIME types are of one format: telephones call HEIC by both of its names.
func Same(a, b string) bool {
	const heic, heif = "image/heic", "image/heif"
	return a == b || a == heic && b == heif || a == heif && b == heic
}

// TypeOf returns the type of files of a MIME type, or an empty type if none has it.
func TypeOf(mimeType string) Type {
	for t, formats := range Formats {
		if slices.Contains(formats, mimeType) {
			return t
		}
	}
	return ""
}
