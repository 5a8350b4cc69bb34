// Package reshape changes the documents of all items of a kind while the service runs. A new
// shape takes three releases: the first reads both shapes and writes the new one, then this
// package changes the old documents, and the last reads only the new shape. See
// docs/releases.md.
package reshape

import (
	"context"
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Change is a change of the shape of documents.
type Change struct {
	// Name identifies the change permanently: it finds the position of an interrupted run.
	Name string
	// Kind is the kind of the items.
	Kind string
	// Apply changes an item, and reports whether it needed a change: items of the new shape
	// stay unchanged. It may be called several times for one item.
	Apply func(*store.Item) (bool, error)
}

// Result counts the work of a run.
type Result struct {
	Accounts int // finished by this run, without those of earlier runs
	Items    int
	Changed  int
}

// tries is the greatest number of attempts for an item that others change at the same time.
const tries = 10

// Run changes the items of accounts. each calls f with the id of every account, in order. Run
// records each finished account, and continues after it if it is run again. Without write, it
// only counts.
func Run(ctx context.Context, db *store.DB, c Change, write bool,
	each func(f func(account string) error) error) (Result, error) {
	var r Result
	at, err := task.ReadCheckpoint(ctx, db, "reshape#"+c.Name)
	if err != nil {
		return r, err
	}
	err = each(func(account string) error {
		if account <= at.DoneUntil {
			return nil
		}
		for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
			q := store.Query{Index: store.ByOwner,
				Partition: store.OwnerPartition(tenant.Of(tenant.Account(account), mode), c.Kind), Limit: 100,
				OldestFirst: true}
			if err := db.Each(ctx, q, func(it store.Item) error {
				return c.change(ctx, db, it, write,
					&r)
			}); err != nil {
				return fmt.Errorf("%s of %s: %w", c.Kind, account, err)
			}
		}
		r.Accounts++
		if !write {
			return nil
		}
		return at.Advance(ctx, account)
	})
	return r, err
}

// change changes one item. An index may show an earlier state: if the item has changed
// since, it is read again.
func (c Change) change(ctx context.Context, db *store.DB, it store.Item, write bool, r *Result) error {
	r.Items++
	for range tries {
		changed, err := c.Apply(&it)
		if err != nil {
			return fmt.Errorf("change %s: %w", it.PK, err)
		}
		if !changed {
			return nil
		}
		if !write {
			r.Changed++
			return nil
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err = db.Commit(ctx, tx); err == nil {
			r.Changed++
			return nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		if it, err = db.Get(ctx, it.Key); errors.Is(err, store.ErrNotFound) {
			return nil // It was deleted.
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("change %s: it was written by others each time; run the change again", it.PK)
}
