// Package media describes generated files and signs the URLs by which callers fetch them. It links neither the S3
// client nor any decoder, because the functions behind the gateway need neither: pkg/media/objects stores files, and
// pkg/media/probe reads them. Start with File, which is stored, and View, which callers see.
package media

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	// Signed URL of a JPEG of at most 400 pixels in width, valid for one hour: of the picture, or of a frame of the
	// video. Null if there is none: use `url` then. Finished files of content items have one.
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
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$"`
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
