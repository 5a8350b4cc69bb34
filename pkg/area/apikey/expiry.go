package apikey

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// notice is the time between the warning and the end of a key.
const notice = 7 * 24 * time.Hour

// latestYear is the last year that a time in a document can have, by RFC 3339. A key that
// ends close to its end is not removed.
const latestYear = 9999

// expiring is the partition of store.ByDue that lists the keys of all accounts with a planned warning, by its time.
const expiring = "keys#expiring"

// PlanExpiry sets the time of the warning for a key whose end is about to change. An end that is nearer than the notice
// needs no warning: its caller has just chosen it. A key with an end is removed some time after it.
func PlanExpiry(r *keyrecord.Record, end *resource.Time, now time.Time) {
	r.RemoveAt = nil
	if end != nil {
		if at := end.Add(Keep); at.Year() <= latestYear {
			r.RemoveAt = &at
		}
	}
	if end != nil && r.ExpiresAt != nil && end.Equal(r.ExpiresAt.Time) {
		return
	}
	r.WarnAt = nil
	if end == nil {
		return
	}
	if at := end.Add(-notice); at.After(now) {
		r.WarnAt = &at
	}
}

// DueExpiry returns the key's place in the list of planned warnings and removals, or the zero key if none is planned.
func DueExpiry(r *keyrecord.Record) store.Key {
	at := r.RemoveAt
	if r.WarnAt != nil && r.State != keyrecord.Revoked {
		at = r.WarnAt
	}
	if at == nil {
		return store.Key{}
	}
	return store.DueAt(expiring, *at, r.ID)
}

// WarnExpiring emits the event of every key whose warning is due, and returns how many these were. It removes keys that
// have ended long ago. Each key has one warning: the event commits together with the removal from the list. A warning
// that fails stays in the list for the next call.
func WarnExpiring(ctx context.Context, db *store.DB, now time.Time) (warned int, err error) {
	return db.EachDue(ctx, expiring, now, func(it store.Item) (int, error) {
		done, err := warn(ctx, db, it, now)
		if done {
			return 1, err
		}
		return 0, err
	})
}

// warn emits the event of one key, unless the key has ended already, and reports whether it did.
func warn(ctx context.Context, db *store.DB, it store.Item, now time.Time) (bool, error) {
	r, err := keyrecord.Read(&it, now)
	if err != nil {
		return false, err
	}
	var stored keyrecord.Record
	if err := it.Decode(&stored); err != nil {
		return false, err
	}
	if stored.WarnAt == nil || stored.State == keyrecord.Revoked {
		if r.State == keyrecord.Active || stored.RemoveAt == nil || stored.RemoveAt.After(now) {
			return false, store.ErrConflict // the index is behind
		}
		return false, remove(ctx, db, it, stored, now)
	}
	tx := &store.Tx{}
	active := r.State == keyrecord.Active
	if active {
		e, err := event.New(now, tenant.Of(it.Account, r.Kind), event.APIKeyExpiring, r.Key, nil)
		if err != nil {
			return false, err
		}
		tx.Create(e, nil)
	}
	// Nothing that callers see changes, so the version stays.
	stored.WarnAt = nil
	if err := it.Encode(stored); err != nil {
		return false, err
	}
	it.Due = DueExpiry(&stored)
	tx.Replace(it)
	return active, db.Commit(ctx, tx)
}
