package erasure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// Deleter deletes what an owner has made, each as its own operation does.
type Deleter struct {
	DB *store.DB
	// Loaders open the items that something is generated for, by their kind.
	Loaders map[string]generate.Loader
	Now     func() time.Time
}

const (
	// atOnce is the number of items that one step deletes.
	atOnce = 25
	// lag is the time to wait for the index to show the latest writes.
	lag = 2 * time.Second
)

// Pass is a place in the passes over what an owner has made.
type Pass struct {
	// At is the index of the kind that is being deleted, and After the position in its list.
	At    int           `json:"at"`
	After *store.Cursor `json:"after,omitempty"`
	// Found reports that this pass over the kinds has deleted something, and Again that it is not the first: the index
	// lags behind the latest writes.
	Found bool `json:"found,omitempty"`
	Again bool `json:"again,omitempty"`
}

// Next deletes the next items of an owner: of an account and mode, or of a profile. Items that were made after a time
// stay, unless it is the zero time, and so does the item with the id keep. It returns the number of deleted items, the
// time to wait, and whether nothing is left. Called again with the same pass it finds others, or none.
func (h Deleter) Next(ctx context.Context, o tenant.Owner, p *Pass, before time.Time, keep string) (deleted int,
	wait time.Duration, done bool, err error) {
	kind := Made[p.At]
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, kind.Name), Limit: atOnce,
		OldestFirst: true, After: p.After, Filters: map[string]string{store.ProfileFilter: string(o.Profile)}}
	if !before.IsZero() {
		q.To = id.First(kind.Prefix, before.Add(time.Millisecond))
	}
	page, err := h.DB.List(ctx, q)
	if err != nil {
		return 0, 0, false, err
	}
	page.Items = slices.DeleteFunc(page.Items, func(it store.Item) bool { return it.PK == keep })
	for _, it := range page.Items {
		found, err := h.Delete(ctx, o, it.Key)
		if err != nil {
			return deleted, 0, false, fmt.Errorf("erasure: delete %s: %w", it.PK, err)
		}
		if found {
			deleted++
		}
	}
	switch {
	case deleted > 0:
		p.Found = true
	case len(page.Items) > 0:
		wait = lag // all of them are deleted, which the index does not show yet
	case page.Next != nil: // this page had items of other profiles only
		p.After = page.Next
	case p.At+1 < len(Made):
		p.At, p.After = p.At+1, nil
	case p.Found || !p.Again:
		*p, wait = Pass{Again: true}, lag
	default:
		done = true
	}
	return deleted, wait, done, nil
}

// Delete deletes an item, and reports whether there was one. What is being generated for
// it is canceled, and its files are removed by a task.
func (h Deleter) Delete(ctx context.Context, o tenant.Owner, key store.Key) (found bool, err error) {
	err = h.DB.Change(ctx, func(tx *store.Tx) error {
		it, err := h.DB.Get(ctx, key)
		found = err == nil
		switch {
		case errors.Is(err, store.ErrNotFound):
			// It is gone, or has expired and is listed until DynamoDB removes it.
			if tx.Remove(key); id.Valid(id.SocialAccount, key.PK) {
				tx.Remove(social.ScheduledKey(key.PK))
			}
			return nil
		case err != nil:
			return err
		case !it.Owner.Same(o):
			return fmt.Errorf("erasure: %s belongs to %s", key.PK, it.Owner)
		case it.Kind == plan.ItemKind:
			return plan.Remove(ctx, h.DB, h.Now(), it,
				func(ctx context.Context, key store.Key) (bool, error) { return h.Delete(ctx, o, key) })
		}
		return h.add(ctx, tx, it)
	})
	return found && err == nil, err
}

// add adds the deletion of an item to the transaction.
func (h Deleter) add(ctx context.Context, tx *store.Tx, it store.Item) error {
	if it.Kind == incoming.ItemKind {
		r, err := incoming.Decode(&it)
		if err != nil {
			return err
		}
		work, err := h.DB.Lookup(ctx, incoming.TaskKey(it.PK))
		if err != nil {
			return err
		}
		return incoming.Delete(tx, h.Now(), it, r, work)
	}
	if it.Kind == product.ItemKind || it.Kind == product.PromotionKind {
		return product.Discard(tx, h.Now(), it)
	}
	if it.Kind == training.ItemKind {
		return training.Cleaner{DB: h.DB, Now: h.Now}.Discard(ctx, tx, it)
	}
	quota.Free(tx, h.Now(), it)
	tx.Delete(it)
	if it.Kind == social.Kind {
		tx.Remove(social.ScheduledKey(it.PK))
	}
	attempts := 1
	if it.Kind == item.ItemKind {
		_, r, _, err := item.Lookup(ctx, h.DB, it.Owner, it.PK)
		if err != nil || r == nil {
			return cmp.Or(err, store.ErrConflict)
		}
		attempts = r.Item.Attempt
		if err := publication.Forget(tx, h.Now(), it.Owner, r); err != nil {
			return err
		}
		if err := h.release(ctx, tx, it.Owner, r); err != nil {
			return err
		}
	}
	if it.Kind == factoryrecord.Kind {
		return factoryrecord.RemoveBook(ctx, tx, h.DB, it.PK)
	}
	loader, ok := h.Loaders[it.Kind]
	if !ok {
		return nil
	}
	work, err := loader.Open(it)
	if err != nil {
		return err
	}
	if attempt := work.Waits(); attempt > 0 {
		found, err := h.DB.Lookup(ctx, generate.TaskKey(it.PK, attempt))
		if err != nil {
			return err
		}
		if _, _, err := generate.Cancel(tx, h.Now(), it.Owner, work.Ticket(), found); err != nil {
			return err
		}
	}
	return generate.RemoveFiles(tx, h.Now(), it.Owner, it.PK, max(attempts, 1))
}

// release adds to the transaction that an item no longer shows media of the caller.
func (h Deleter) release(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record) error {
	held, keys := map[string]int{}, []store.Key{}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID], keys = -1, append(keys, store.IDKey(mediaID))
	}
	media, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	return incoming.Of(o, media).Hold(tx, h.Now(), held)
}
