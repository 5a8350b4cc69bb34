package media

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var (
	_ = format.Define("media-failure", format.Format{
		Values: format.Words("not_uploaded not_fetched too_large size_mismatch checksum_mismatch type_mismatch " +
			"unreadable internal")})
	_ = format.Define("media-mime", format.Format{
		Values: format.Words("image/jpeg image/png image/webp image/heic image/heif image/avif audio/mpeg audio/wav " +
			"audio/aac audio/mp4 video/mp4 text/csv text/tab-separated-values application/xml application/json")})
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
	Type media.Type `json:"type,omitempty" filter:"type" enum:"image,audio,video,data"`
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
	State State `json:"state" filter:"state" enum:"pending,ready,rejected"`
	// Why it was rejected. Null otherwise.
	Reason *Reason `json:"reason"`
	// The request that uploads the file, while it is pending and may be uploaded; only for keys with the scope
	// content:write. Each GET signs it anew.
	Upload *Upload `json:"upload"`
	// Signed URL of the file, valid for one hour. Null until ready.
	URL *string `json:"url" format:"uri"`
	// Signed URL of a JPEG of the picture of at most 400 pixels in width, valid for one hour or more. Null until ready,
	// and if there is none: for audio, videos and small pictures.
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
	// ReservedBytes is the number of bytes that are counted for it: the bytes of its file once
	// it is ready, and before that the most that it may get.
	ReservedBytes int64 `json:"reserved,omitempty"`
	// InUse reports that a resource shows it, so it does not expire.
	InUse bool `json:"kept,omitempty"`
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
	if r.ReservedBytes = d.Bytes; r.ReservedBytes == 0 {
		r.ReservedBytes = media.Limit(d.Type)
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

// Kind is the kind of the task that accompanies a media from its beginning until its files
// are gone. Photo is the same for the photo of a product.
const (
	Kind  task.Kind = "media"
	Photo task.Kind = "photo"
)

// kindOf returns the kind of the tasks of a media or photo.
func kindOf(subject string) task.Kind {
	if strings.HasPrefix(subject, id.Photo+"_") {
		return Photo
	}
	return Kind
}

// taskID returns the id of the task of a media or photo.
func taskID(subject string) string { return task.ID(kindOf(subject), subject, 1) }

// TaskKey returns the key of the task of a media or photo.
func TaskKey(subject string) store.Key { return store.IDKey(taskID(subject)) }

// Wake returns the message that the file of a media or photo has arrived.
func Wake(subject string) task.Message {
	return task.Message{ID: taskID(subject), Kind: kindOf(subject), Queue: topology.ImportMedia,
		Subject: subject, Wake: true}
}

// Create adds a media with its task to the transaction. The commit fails with queue_full if too many are pending.
func Create(tx *store.Tx, now time.Time, o tenant.Owner, r *Record) error {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	Await(tx, o)
	occupy(tx, o, r.ReservedBytes)
	t := task.Task{Message: r.message(o), DueAt: now}
	if r.SourceURL == nil {
		t.DueAt = r.Arrival()
	}
	return task.Create(tx, now, t, nil)
}

// message is the message of the task of a media.
func (r *Record) message(o tenant.Owner) task.Message {
	return task.Message{ID: taskID(r.ID), Kind: Kind, Queue: topology.ImportMedia, Subject: r.ID, Owner: o}
}

// Arrival is when a file that was not uploaded is given up.
func (r *Record) Arrival() time.Time { return r.CreatedAt.Add(ArrivalTime) }

// occupy adds to the bytes of an owner's media, or subtracts from them. The commit fails
// with queue_full if they would be too many.
func occupy(tx *store.Tx, o tenant.Owner, bytes int64) {
	if bytes != 0 {
		tx.Count(quota.BytesKey(o), bytes, MostBytes(o), ErrTooManyBytes(o))
	}
}

// Expire adds to the transaction that a media ends that was not used.
func Expire(tx *store.Tx, it store.Item, r *Record) {
	tx.Delete(it)
	occupy(tx, it.Owner, -r.ReservedBytes)
}

// Await adds to the transaction that one more file of an owner is pending. The commit fails
// with queue_full if too many are.
func Await(tx *store.Tx, o tenant.Owner) {
	tx.Count(pendingKey(o), 1, MaxPending, errTooManyPending())
}

// Settled adds to the transaction that n files of an owner are no longer pending. It is called
// once for a transaction, which may write an item only once.
func Settled(tx *store.Tx, o tenant.Owner, n int64) {
	tx.Count(pendingKey(o), -n, MaxPending, store.ErrConflict)
}

// Delete adds to the transaction that a media ends, whose item and whose task's item were read. Its task then removes
// the files. It removes the files of a ready one after a day, since work that was accepted before still uses them.
func Delete(tx *store.Tx, now time.Time, it store.Item, r *Record, taskItem store.Item) error {
	tx.Delete(it)
	return r.end(tx, now, it.Owner, taskItem)
}

// end is Delete without the item of the media.
func (r *Record) end(tx *store.Tx, now time.Time, o tenant.Owner, taskItem store.Item) error {
	occupy(tx, o, -r.ReservedBytes)
	at := now
	switch r.State {
	case Pending:
		Settled(tx, o, 1)
		at = r.Arrival() // an upload may be under way
	case Ready:
		at = now.Add(KeepTime)
	}
	return task.Reschedule(tx, taskItem, at)
}

// Settle adds to the transaction how a pending media ends: ready with a file, or rejected for a reason.
func Settle(tx *store.Tx, now time.Time, it store.Item, r *Record, file *media.File, why *Reason) error {
	if file != nil {
		r.File, r.State = file, Ready
		r.Type, r.MIMEType, r.Bytes, r.SHA256 = file.Type, file.MIMEType, file.Bytes, file.SHA256
		r.Width, r.Height, r.DurationSeconds = file.Width, file.Height, file.DurationSeconds
	} else {
		r.Reason, r.State = why, Rejected
	}
	if r.ReservedBytes > 0 {
		kept := int64(0)
		if file != nil {
			kept = file.Bytes
		}
		// A picture that was turned may be larger than its upload.
		if more := kept - r.ReservedBytes; more != 0 {
			tx.Count(quota.BytesKey(it.Owner), more, math.MaxInt64, store.ErrConflict)
		}
		r.ReservedBytes = kept
	}
	r.Touch(now)
	if err := tx.Rewrite(it, r); err != nil {
		return err
	}
	Settled(tx, it.Owner, 1)
	told := event.MediaReady
	if r.State == Rejected {
		told = event.MediaRejected
	}
	return event.Add(tx, now, it.Owner, told, r.Media)
}

// Member is a member of a body that takes the URL of a file or the id of a media.
type Member struct {
	// Param is its JSON pointer.
	Param string
	Value string
	// Type is the required type of the file. Others are types that it may have as well.
	Type   media.Type
	Others []media.Type
}

// IsID reports whether the value is the id of a media, not a URL.
func (m Member) IsID() bool { return strings.HasPrefix(m.Value, id.Media+"_") }

// MediaRefs are the media that the members of a body refer to.
type MediaRefs struct {
	items map[string]store.Item
	// Beside are the other items that were read.
	Beside []store.Item
}

// Read reads the media of the caller's account and mode that members refer to, and other
// items with them, in one round trip at most.
func Read(ctx context.Context, db *store.DB, members []Member, others ...store.Key) (g MediaRefs, err error) {
	var ids []string
	for _, m := range members {
		if m.IsID() {
			ids = append(ids, m.Value)
		}
	}
	if len(ids)+len(others) > 0 {
		g.items, g.Beside, err = resource.FindAll(ctx, db, id.Media, ids, others...)
	}
	return g, err
}

// Keys returns the keys of the media that members refer to, for those who read them with
// other items. Members that refer to the same media share its key.
func Keys(members []Member) (keys []store.Key) {
	for _, m := range members {
		if key := store.IDKey(m.Value); id.Valid(id.Media, m.Value) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Of returns the media among items of Keys that belong to an owner.
func Of(o tenant.Owner, items []store.Item) MediaRefs {
	g := MediaRefs{items: map[string]store.Item{}}
	for _, it := range items {
		if it.Kind == ItemKind && o.Uses(it.Owner) {
			g.items[it.PK] = it
		}
	}
	return g
}

// For returns the media that a resource of an owner may use.
func (g MediaRefs) For(o tenant.Owner) MediaRefs {
	g.items = maps.Clone(g.items)
	maps.DeleteFunc(g.items, func(_ string, it store.Item) bool { return !o.Uses(it.Owner) })
	return g
}

// File returns the file that a member refers to. It refuses a media that does not exist,
// is not ready or is of another type.
func (g MediaRefs) File(m Member) (media.File, error) {
	it, ok := g.items[m.Value]
	if !ok {
		return media.File{}, errs.MissingAt(m.Param, "media", m.Value)
	}
	r, err := Decode(&it)
	if err != nil {
		return media.File{}, err
	}
	switch {
	case r.State == Pending:
		return media.File{}, errs.Invalid(m.Param, "The media %s is pending. Wait until its state is ready.", r.ID)
	case r.State == Rejected:
		return media.File{}, errs.Invalid(m.Param, "The media %s is rejected: %s", r.ID, r.Reason.Message)
	case r.Type != m.Type && !slices.Contains(m.Others, r.Type):
		takes := string(m.Type)
		for _, other := range m.Others {
			takes += " or " + string(other)
		}
		e := errs.New(errs.UnsupportedMedia, "The media %s is of the type %s. This takes the type %s.", r.ID,
			r.Type, takes)
		e.Param = m.Param
		return media.File{}, e
	}
	f := *r.File
	f.Inspection = nil // resources that use the file need not repeat it
	return f, nil
}

// Keep adds to the transaction that the media do not end by themselves.
func (g MediaRefs) Keep(tx *store.Tx, now time.Time) error {
	for _, it := range g.items {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		r.InUse = true
		r.Touch(now)
		if err := tx.Rewrite(it, r); err != nil {
			return err
		}
	}
	return nil
}

// Extend moves the end of a media that is kept.
func (r *Record) Extend(now time.Time) { r.ExpiresAt = resource.Instant(now.Add(unusedTime)) }

// Use adds to the transaction that the media were used, unless that was noted within the last day.
func (g MediaRefs) Use(tx *store.Tx, now time.Time) error { return g.Hold(tx, now, nil) }

// Hold is Use for media that content items show: it adds to the number of the items of each media, which does not end
// while it has any.
func (g MediaRefs) Hold(tx *store.Tx, now time.Time, by map[string]int) error {
	for mediaID, it := range g.items {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		until := resource.Instant(now.Add(unusedTime))
		late := until.Sub(r.ExpiresAt.Time) >= usedAgain
		if by[mediaID] == 0 && !late {
			continue
		}
		r.Holders = max(0, r.Holders+by[mediaID])
		if late {
			r.ExpiresAt = until
		}
		r.Touch(now)
		if err := tx.Rewrite(it, r); err != nil {
			return err
		}
	}
	return nil
}

// FileSource is a file that a caller brings in: its source, and its declaration.
type FileSource struct {
	Declared Declared
	// SourceURL is the address that it is fetched from, and Key the object that it is
	// copied from. Both are empty for an upload.
	SourceURL, Key string
	// Arrival is when a file that was not uploaded is given up.
	Arrival time.Time
}

// Brought returns the file of a media.
func (r *Record) Brought() FileSource {
	b := FileSource{Declared: r.Declared, Arrival: r.Arrival()}
	if r.SourceURL != nil {
		b.SourceURL = *r.SourceURL
	}
	return b
}

// Progress is the payload of the task of a file.
type Progress struct {
	// Of is the resource that the file belongs to, if it is not the subject of the task.
	Of string `json:"of,omitempty"`
}

// Adopt is AdoptFile for a media that says itself what its object is.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, m Media, key string, kept bool) error {
	return AdoptFile(tx, now, o, m, media.File{Key: key, Type: m.Type, MIMEType: m.MIMEType, Width: m.Width,
		Height: m.Height, DurationSeconds: m.DurationSeconds, Bytes: m.Bytes, SHA256: m.SHA256}, kept)
}

// AdoptFile adds a ready media of an export to the transaction, with its file as it was read. It ends like one that was
// brought in now, unless it is kept.
func AdoptFile(tx *store.Tx, now time.Time, o tenant.Owner, m Media, f media.File, kept bool) error {
	m.ProfileID, m.SourceURL, m.Upload, m.URL, m.Reason, m.ThumbnailURL = o.ProfileID(), nil, nil, nil, nil, nil
	m.State, m.ExpiresAt = Ready, resource.Instant(now.Add(unusedTime))
	m.Type, m.MIMEType, m.Bytes, m.SHA256 = f.Type, f.MIMEType, f.Bytes, f.SHA256
	m.Width, m.Height, m.DurationSeconds = f.Width, f.Height, f.DurationSeconds
	f.ID = m.ID
	r := &Record{Media: m, InUse: kept, ReservedBytes: f.Bytes, File: &f,
		Declared: Declared{Type: f.Type, MIMEType: f.MIMEType, Bytes: f.Bytes, SHA256: f.SHA256}}
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	occupy(tx, o, r.ReservedBytes)
	return task.Create(tx, now, task.Task{Message: r.message(o), DueAt: r.ExpiresAt.Time}, nil)
}
