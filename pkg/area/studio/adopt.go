package studio

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a generation of an export to the transaction, with its files. What was being made is canceled. A sandbox
// keeps it for as long as a new one, or for good if it lasts.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, g Generation, files []media.File, lasts bool) error {
	r := &Record{Generation: g, Files: files}
	r.Media, r.ReservedCredits = []media.View{}, 0
	if r.Runs() {
		r.State = Canceled
	}
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	if !lasts {
		if r.ExpiresAt, err = generate.ExpireFrom(tx, now, o, r.ID); err != nil {
			return err
		}
		if err := it.Encode(r); err != nil {
			return err
		}
	}
	tx.Create(it, nil)
	return nil
}
