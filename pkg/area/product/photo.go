package product

import (
	"cmp"
	"context"
	"time"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Photo is a photo of a product as callers see it.
type Photo struct {
	// Unique id (TypeID).
	ID string `json:"id" example:"pho_01h455vb4pex5vsknk084sn02q"`
	// Product that it shows.
	ProductID string `json:"product_id" example:"prd_01h455vb4pex5vsknk084sn02q"`
	// Time when it was added, UTC.
	CreatedAt resource.Time `json:"created_at"`
	// State of the photo. Only ready photos are used.
	State incoming.State `json:"state" enum:"pending,ready,rejected"`
	// Why it was rejected. Null otherwise.
	Reason *incoming.Reason `json:"reason"`
	// Where the service fetches it. Null otherwise.
	SourceURL *string `json:"source_url" format:"uri"`
	// MIME type: as declared, and once ready as found.
	MIMEType string `json:"mime_type,omitempty" example:"image/jpeg"`
	// Size in bytes: as declared, and once ready that of the file at url.
	Bytes int64 `json:"bytes,omitempty" example:"482113"`
	// In pixels, upright; once ready.
	Width int `json:"width,omitempty" example:"1600"`
	// In pixels, upright; once ready.
	Height int `json:"height,omitempty" example:"1200"`
	// The request that uploads the file, while it is pending and may be uploaded; only for keys with the scope
	// products:write. Each GET of the product signs it anew.
	Upload *incoming.Upload `json:"upload"`
	// Signed URL of the file, valid for one hour. Null until ready, and in responses to a key without the scope
	// products:read.
	URL *string `json:"url" format:"uri"`
}

// StoredPhoto is a photo as its product keeps it.
type StoredPhoto struct {
	Photo
	Declared incoming.Declared `json:"declared"`
	// Key is the object of the media that it is copied from, if it is.
	Key string `json:"key,omitempty"`
	// File is the stored file, once ready.
	File *media.File `json:"file,omitempty"`
}

// NewPhoto returns a pending photo of a product.
func NewPhoto(productID string, now time.Time, d incoming.Declared, sourceURL, key string) StoredPhoto {
	d.Type = media.Image
	p := StoredPhoto{Declared: d, Key: key, Photo: Photo{
		ID: id.New(id.Photo, now), ProductID: productID, CreatedAt: resource.Instant(now), State: incoming.Pending,
		MIMEType: d.MIMEType, Bytes: d.Bytes,
	}}
	if sourceURL != "" {
		p.SourceURL = &sourceURL
	}
	return p
}

// uploaded reports whether its caller uploads the photo.
func (p *StoredPhoto) uploaded() bool { return p.SourceURL == nil && p.Key == "" }

// Brought returns the source of the photo's file.
func (p *StoredPhoto) Brought() incoming.Brought {
	b := incoming.Brought{Declared: p.Declared, Key: p.Key, Arrival: p.CreatedAt.Add(incoming.ArrivalTime)}
	if p.SourceURL != nil {
		b.SourceURL = *p.SourceURL
	}
	return b
}

// Await adds the task of a new photo to the transaction. The commit fails with queue_full
// if too many files are pending.
func (p *StoredPhoto) Await(tx *store.Tx, now time.Time, o tenant.Owner) error {
	incoming.Await(tx, o)
	t := p.task(o, 1)
	if p.uploaded() {
		t.DueAt = p.Brought().Arrival
	}
	return task.Create(tx, now, t, incoming.Progress{Of: p.ProductID})
}

func (p *StoredPhoto) task(o tenant.Owner, attempt int) task.Task {
	return task.Task{Message: task.Message{
		ID: task.ID(incoming.Photo, p.ID, attempt), Kind: incoming.Photo, Queue: topology.ImportMedia,
		Subject: p.ID, Owner: o,
	}}
}

// Settle adds to the transaction how the photo ends: ready with a file, or rejected for a
// reason. The caller writes its product.
func (p *StoredPhoto) Settle(tx *store.Tx, o tenant.Owner, file *media.File, why *incoming.Reason) {
	if p.File, p.Reason, p.State = file, why, incoming.Rejected; file != nil {
		p.State = incoming.Ready
		p.MIMEType, p.Bytes, p.Width, p.Height = file.MIMEType, file.Bytes, file.Width, file.Height
	}
	incoming.Settled(tx, o, 1)
}

// drop adds the consequences of the end of photos to the transaction. The tasks of pending ones find them gone. The
// files of ready ones are removed after a day, since work that was accepted before still uses them.
func drop(tx *store.Tx, now time.Time, o tenant.Owner, productID string, photos []StoredPhoto) error {
	pending := int64(0)
	for _, p := range photos {
		switch p.State {
		case incoming.Pending:
			pending++
		case incoming.Ready:
			t := p.task(o, 2)
			t.DueAt = now.Add(incoming.KeepTime)
			if err := task.Create(tx, now, t, incoming.Progress{Of: productID}); err != nil {
				return err
			}
		}
	}
	if pending > 0 {
		incoming.Settled(tx, o, pending)
	}
	return nil
}

// Remove takes a photo, by its index, from the product, and adds the consequences to the transaction.
func (r *StoredProduct) Remove(tx *store.Tx, now time.Time, o tenant.Owner, i int) error {
	p := r.Photos[i]
	r.Photos = append(r.Photos[:i:i], r.Photos[i+1:]...)
	return drop(tx, now, o, r.ID, []StoredPhoto{p})
}

// View returns the photo as callers see it, with signed URLs.
func (p *StoredPhoto) View(ctx context.Context, signer *media.Signer, o tenant.Owner, now time.Time,
	uploads bool) (v Photo, err error) {
	v = p.Photo
	switch {
	case p.State == incoming.Ready:
		var url string
		url, err = signer.URL(ctx, p.File.Key, p.File.MIMEType)
		v.URL = &url
	case p.State == incoming.Pending && p.uploaded() && uploads:
		v.Upload, err = incoming.Sign(ctx, signer, o, p.ID, p.Declared, now, p.CreatedAt.Add(incoming.UploadTime))
	}
	return v, err
}

// PhotoWorker takes the photos that callers bring in.
type PhotoWorker struct{ Files *incoming.Importer }

// Import inspects the file of a photo, and then removes the upload. A second task removes the file of a deleted photo.
func (w *PhotoWorker) Import(ctx context.Context, s *task.Run) error {
	_, r, i, err := w.read(ctx, s)
	switch {
	case err != nil:
		return task.Again(err)
	case r == nil:
		return w.Files.Removed(ctx, s)
	case r.Photos[i].State != incoming.Pending:
		return task.Again(w.Files.Objects.Delete(ctx, media.UploadKey(s.Owner, s.Subject)))
	}
	file, why, err := w.Files.Look(ctx, s, r.Photos[i].Brought())
	if err != nil {
		return err
	}
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, i, err := w.read(ctx, s)
		if err != nil || r == nil || r.Photos[i].State != incoming.Pending {
			return cmp.Or(err, task.ErrMoved)
		}
		if file != nil {
			file.Inspection = nil // products need not keep it
		}
		r.Photos[i].Settle(tx, it.Owner, file, why)
		r.Touch(w.Files.Now())
		return Replace(tx, it, r, r.SKU)
	})
	return s.Sleep(0)
}

// read reads the product of a photo, and the photo's index. It returns nil if either was deleted.
func (w *PhotoWorker) read(ctx context.Context, s *task.Run) (it store.Item, r *StoredProduct, i int, err error) {
	var p incoming.Progress
	if err = s.Decode(&p); err == nil {
		it, err = w.Files.DB.Lookup(ctx, store.IDKey(p.Of))
	}
	if err != nil || it.Kind == "" {
		return it, nil, 0, err
	}
	if r, err = Decode(&it); err != nil {
		return it, nil, 0, err
	}
	if i = r.Photo(s.Subject); i < 0 {
		return it, nil, 0, nil
	}
	return it, r, i, nil
}
