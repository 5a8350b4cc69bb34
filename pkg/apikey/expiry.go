package apikey

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// notice is how long before a key expires its account is told.
const notice = 7 * 24 * time.Hour

// expiring is the partition of store.ByDue that lists the keys that will have to
// be told of, of all accounts, by the time for it.
const expiring = "keys#expiring"

// plan sets when the account is to be told that the key expires, where that is about
// to be changed. Whoever sets an end that is nearer needs not be told.
func (r *record) plan(expiry *time.Time, now time.Time) {
	if expiry != nil && r.ExpiresAt != nil && expiry.Equal(*r.ExpiresAt) {
		return
	}
	r.WarnAt = nil
	if expiry == nil {
		return
	}
	if at := expiry.Add(-notice); at.After(now) {
		r.WarnAt = &at
	}
}

// warning is the key's place in that list; empty where it has none.
func (r *record) warning() store.Key {
	if r.WarnAt == nil || r.State == stateRevoked {
		return store.Key{}
	}
	return store.Key{PK: expiring, SK: until(*r.WarnAt) + r.ID}
}

// until begins the sort key of all that is due at a time.
func until(t time.Time) string { return t.UTC().Format(time.RFC3339) + "#" }

// Warn tells the accounts of all keys of which it is time to be told, and gives how
// many these were. Each is told of once: the event commits with the end of its place
// in the list. Where one fails, the next call begins with it again.
func (s *Service) Warn(ctx context.Context) (told int, err error) {
	now := s.now()
	q := store.Query{
		Index: store.ByDue, Partition: expiring, To: until(now.Add(time.Second)), Limit: 100, OldestFirst: true,
	}
	var failed error
	err = s.db.Each(ctx, q, func(it store.Item) error {
		done, err := s.warn(ctx, it, now)
		switch {
		case errors.Is(err, store.ErrConflict):
			// It was changed meanwhile, or the list is behind: the next call sees.
		case err != nil:
			failed = errors.Join(failed, err)
		case done:
			told++
		}
		return ctx.Err()
	})
	return told, errors.Join(err, failed)
}

// warn tells of one key, unless it has ended already.
func (s *Service) warn(ctx context.Context, it store.Item, now time.Time) (bool, error) {
	r, err := s.read(&it)
	if err != nil {
		return false, err
	}
	tx := &store.Tx{}
	active := r.State == stateActive
	if active {
		e, err := event.New(now, tenant.Of(it.Account, r.Kind), event.APIKeyExpiring, r.Key, nil)
		if err != nil {
			return false, err
		}
		tx.Create(e, nil)
	}
	// Nothing that callers see changes, so neither does the version that they see.
	var stored record
	if err := it.Decode(&stored); err != nil {
		return false, err
	}
	stored.WarnAt = nil
	if err := it.Encode(stored); err != nil {
		return false, err
	}
	it.Due = store.Key{}
	tx.Replace(it)
	return active, s.db.Commit(ctx, tx)
}
