package media

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("media-failure", format.Format{
		Values: format.Words("not_uploaded not_fetched too_large size_mismatch checksum_mismatch type_mismatch " +
			"unreadable internal")})
	_ = format.Define("media-mime", format.Format{
		Values: format.Words("image/jpeg image/png image/webp image/heic image/heif image/avif audio/mpeg audio/wav audio/aac audio/mp4 video/mp4")})
)

// ItemKind is the kind of a media in the table.
const ItemKind = "media"

// State is the state of a media.
type State string

// The states. The last two are final.
const (
	Pending  State = "pending"
	Ready    State = "ready"
	Rejected State = "rejected"
)

// The times of a media.
const (
	// UploadTime is the time within which an upload may begin.
	UploadTime = 15 * time.Minute
	// ArrivalTime is when a file that was not uploaded is given up: one whose upload began late takes its time.
	ArrivalTime = time.Hour
	// unusedTime is the time for which an unused media stays.
	unusedTime = 30 * 24 * time.Hour
	// usedAgain is the time after its last use at which another use is noted: work that
	// uses a media often need not write it each time.
	usedAgain = 24 * time.Hour
	// KeepTime is the time for which the file of a deleted media stays: work that was accepted before still uses it.
	KeepTime = 24 * time.Hour
)

// MaxPending is the greatest number of pending media of one account and mode.
const MaxPending = 100

// The bytes that the media of an account may have together, and those of its sandbox.
const (
	MaxBytes     = 1 << 40
	MaxTestBytes = 25 << 30
)

// MostBytes is the number of bytes that the media of an owner may have, with the files that imports have brought.
func MostBytes(o tenant.Owner) int64 {
	if o.Mode == tenant.Test {
		return MaxTestBytes
	}
	return MaxBytes
}

// retryPending is when a caller with too many pending media should try again.
const retryPending = 30 * time.Second

// Reason is why a media was rejected.
type Reason struct {
	// Machine-readable reason.
	Code string `json:"code" format:"media-failure"`
	// What is wrong with the file, and what to do about it.
	Message string `json:"message"`
}

// Upload is the request that uploads the file.
type Upload struct {
	// Signed URL. It takes this one file only.
	URL string `json:"url" format:"uri"`
	// HTTP method.
	Method string `json:"method" enum:"PUT"`
	// Headers to send, exactly as they are. Clients add Content-Length themselves; it must be the declared size, so do
	// not send the file in chunks.
	Headers map[string]string `json:"headers"`
	// When the upload must have begun.
	ExpiresAt resource.Time `json:"expires_at"`
}

// Media is a media as callers see it.
type Media struct {
	resource.Resource
	// Profile that it belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Type of the file. Absent until a source_url without declared type was fetched.
	Type media.Type `json:"type,omitempty" enum:"image,audio,video"`
	// MIME type: as declared, and once ready as found.
	MIMEType string `json:"mime_type,omitempty" example:"image/jpeg"`
	// Size in bytes: as declared, and once ready that of the file at url.
	Bytes int64 `json:"bytes,omitempty" example:"482113"`
	// SHA-256 in hexadecimal: as declared, and once ready that of the file at url.
	SHA256 string `json:"sha256,omitempty" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	// In pixels, upright; images and videos, once ready.
	Width int `json:"width,omitempty" example:"1080"`
	// In pixels, upright; images and videos, once ready.
	Height int `json:"height,omitempty" example:"1350"`
	// Length in seconds; audio and videos, once ready.
	DurationSeconds float64 `json:"duration_seconds,omitempty" example:"12.5"`
	// Where the service fetches the file. Null if it is uploaded.
	SourceURL *string `json:"source_url" format:"uri"`
	// State of the media. Only ready media can be used.
	State State `json:"state" enum:"pending,ready,rejected"`
	// Why it was rejected. Null otherwise.
	Reason *Reason `json:"reason"`
	// The request that uploads the file, while it is pending and may be uploaded; only for keys with the scope
	// content:write. Each GET signs it anew.
	Upload *Upload `json:"upload"`
	// Signed URL of the file, valid for one hour. Null until ready.
	URL *string `json:"url" format:"uri"`
	// Signed URL of a JPEG of the picture of at most 400 pixels in width, valid for one hour. Null until ready, and if
	// there is none: for audio, videos and small pictures.
	ThumbnailURL *string `json:"thumbnail_url" format:"uri"`
	// When the media is deleted. Each day on which it is used moves this to 30 days later; while it is the logo, the
	// intro or the outro of a factory, it is moved on by itself.
	ExpiresAt resource.Time `json:"expires_at"`
}

// Declared is the caller's description of a file. A zero value stands for an unknown one.
type Declared struct {
	Type     media.Type `json:"type,omitempty"`
	MIMEType string     `json:"mime_type,omitempty"`
	Bytes    int64      `json:"bytes,omitempty"`
	SHA256   string     `json:"sha256,omitempty"`
}

// Record is the stored document of a media.
type Record struct {
	Media
	Declared Declared `json:"declared"`
	// Reserved is the number of bytes that are counted for it: the bytes of its file once
	// it is ready, and before that the most that it may get.
	Reserved int64 `json:"reserved,omitempty"`
	// Kept says that it does not end by itself: a resource shows it.
	Kept bool `json:"kept,omitempty"`
	// Holders is the number of content items that show it. It does not end while there are any.
	Holders int `json:"holders,omitempty"`
	// File is the stored file, once ready.
	File *media.File `json:"file,omitempty"`
}

// New returns a pending media.
func New(mediaID string, now time.Time, d Declared, sourceURL string, metadata resource.Metadata) *Record {
	r := &Record{Declared: d, Media: Media{
		Resource: resource.New(mediaID, now, metadata),
		Type:     d.Type, MIMEType: d.MIMEType, Bytes: d.Bytes, SHA256: d.SHA256,
		State: Pending, ExpiresAt: resource.Instant(now.Add(unusedTime)),
	}}
	if r.Reserved = d.Bytes; r.Reserved == 0 {
		r.Reserved = media.Limit(d.Type)
	}
	if sourceURL != "" {
		r.SourceURL = &sourceURL
	}
	return r
}

// Decode reads the record of an item.
func Decode(it *store.Item) (*Record, error) {
	var r Record
	return &r, it.Decode(&r)
}

// Encode writes the record into its item.
func (r *Record) Encode(it *store.Item) error {
	it.Filters = r.filters()
	return it.Encode(r)
}

func (r *Record) filters() map[string]string {
	return map[string]string{"type": string(r.Type), "state": string(r.State)}
}

// until is when an upload must have begun.
func (r *Record) until() time.Time { return r.CreatedAt.Add(UploadTime) }

// Sign returns the request that uploads a declared file of a resource until a time, or nil if that has passed.
func Sign(ctx context.Context, signer *media.Signer, o tenant.Owner, resourceID string, d Declared, now,
	until time.Time) (*Upload, error) {
	if until.Sub(now) < time.Second {
		return nil, nil
	}
	req, err := signer.Upload(ctx, media.UploadKey(o, resourceID), media.File{MIMEType: d.MIMEType, Bytes: d.Bytes,
		SHA256: d.SHA256}, until)
	if err != nil {
		return nil, err
	}
	return &Upload{URL: req.URL, Method: req.Method, Headers: req.Headers, ExpiresAt: resource.Instant(until)}, nil
}

// View returns the media as its GET shows it, with signed URLs. Only who may bring media in is shown how to upload it.
func (r *Record) View(ctx context.Context, signer *media.Signer, o tenant.Owner, now time.Time,
	uploads bool) (Media, error) {
	v := r.Media
	switch {
	case r.State == Ready:
		url, err := signer.URL(ctx, r.File.Key, r.File.MIMEType)
		if err != nil {
			return Media{}, err
		}
		v.URL = &url
		if v.ThumbnailURL, err = signer.ThumbnailURL(ctx, *r.File); err != nil {
			return Media{}, err
		}
	case r.State == Pending && r.SourceURL == nil && uploads:
		var err error
		if v.Upload, err = Sign(ctx, signer, o, r.ID, r.Declared, now, r.until()); err != nil {
			return Media{}, err
		}
	}
	return v, nil
}

// pendingKey is the key of the count of an owner's pending media.
func pendingKey(o tenant.Owner) store.Key { return store.IDKey("media-pending#" + o.String()) }

func errTooManyPending() error {
	e := errs.New(errs.QueueFull, "This account already has %d pending media, which is the maximum. Upload or delete "+
		"them, or wait until some have ended.", MaxPending)
	e.RetryAfter = retryPending
	return e
}

// ErrTooManyBytes is the refusal of more bytes than MostBytes.
func ErrTooManyBytes(o tenant.Owner) error {
	e := errs.New(errs.QueueFull, "The media of this account have %d GiB together, which is the maximum, or would "+
		"have more with this one; pending media count with what they may have. Delete some, or wait until some have "+
		"expired.", MostBytes(o)>>30)
	e.RetryAfter = retryPending
	return e
}
