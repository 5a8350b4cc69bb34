package media

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Adopt adds a ready media of an export, whose object has a key, to the transaction. It ends like one that was brought
// in now, unless it is kept.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, m Media, key string, kept bool) error {
	m.ProfileID, m.SourceURL, m.Upload, m.URL, m.Reason = o.ProfileID(), nil, nil, nil, nil
	m.State, m.ExpiresAt = Ready, resource.Instant(now.Add(unusedTime))
	r := &Record{Media: m, Kept: kept, Reserved: m.Bytes, File: &media.File{
		ID: m.ID, Type: m.Type, MIMEType: m.MIMEType, Key: key,
		Width: m.Width, Height: m.Height, DurationSeconds: m.DurationSeconds, Bytes: m.Bytes, SHA256: m.SHA256},
		Declared: Declared{Type: m.Type, MIMEType: m.MIMEType, Bytes: m.Bytes, SHA256: m.SHA256}}
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	if err != nil {
		return err
	}
	it.Filters = r.filters()
	tx.Create(it, nil)
	occupy(tx, o, r.Reserved)
	return task.Create(tx, now, task.Task{Message: r.message(o), DueAt: r.ExpiresAt.Time}, nil)
}
