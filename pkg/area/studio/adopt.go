package studio

import (
	"reflect"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds a generation of an export to the transaction, with its files. What was being made is canceled. A sandbox
// keeps it for as long as a new one, or for good if it lasts.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, g Generation, files []media.File, lasts bool) error {
	r := &Record{Generation: g, Files: files}
	r.Media, r.ProfileID, r.Progress = []media.View{}, o.ProfileID(), 0
	switch {
	case r.State == Generated && len(files) > 0:
		r.Progress, r.Failure = 100, nil
	case r.State != Failed:
		r.State, r.Failure = Canceled, nil
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

// InputOf returns the type of the body of the operation that creates a generation of a kind, or nil. Imports check what
// comes in by its schema.
func InputOf(k provider.Kind) reflect.Type {
	for _, b := range []body{videoBody{}, imageBody{}, musicBody{}, voiceBody{}, avatarBody{}} {
		if of, _, _ := b.asked(); of == k {
			return reflect.TypeOf(b)
		}
	}
	return nil
}
