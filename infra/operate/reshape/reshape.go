// Package reshape changes the documents of all items of a kind, while the service runs. A
// release that needs another shape comes in three: one that reads both and writes the new
// one, a run of this package, and one that reads the new one alone. See docs/releases.md.
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
	// Name names the change for good: it is where a run that was interrupted goes on.
	Name string
	// Kind is the kind of the items.
	Kind string
	// Apply changes an item, and reports whether it had to: items of the new shape stay as
	// they are. It may be called several times for one item.
	Apply func(*store.Item) (bool, error)
}

// Result is what a run has done.
type Result struct {
	Accounts int // that were gone through, without those of earlier runs
	Items    int
	Changed  int
}

// tries is how often an item is tried that others change at the same time.
const tries = 10

// Run changes the items of accounts, which each calls f with by their ids, in order. It
// remembers each account that is done, and goes on after it when it is run again. Without
// write, it only counts.
func Run(ctx context.Context, db *store.DB, c Change, write bool, each func(f func(account string) error) error) (Result, error) {
	var r Result
	at, err := task.ReadCheckpoint(ctx, db, "reshape#"+c.Name)
	if err != nil {
		return r, err
	}
	err = each(func(account string) error {
		if account <= at.Done {
			return nil
		}
		for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
			q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(tenant.Account(account), mode), c.Kind), Limit: 100, OldestFirst: true}
			if err := db.Each(ctx, q, func(it store.Item) error { return c.change(ctx, db, it, write, &r) }); err != nil {
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

// change changes one item. An index may show what it was a moment ago: where the item has
// changed since, it is read again.
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
