package media

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

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
	r := &Record{Media: m, Kept: kept, Reserved: f.Bytes, File: &f,
		Declared: Declared{Type: f.Type, MIMEType: f.MIMEType, Bytes: f.Bytes, SHA256: f.SHA256}}
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Filters = r.filters()
	tx.Create(it, nil)
	occupy(tx, o, r.Reserved)
	return task.Create(tx, now, task.Task{Message: r.message(o), DueAt: r.ExpiresAt.Time}, nil)
}
