package publication

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// atOnce is the number of items that one call of a cleaner changes.
const atOnce = 25

// AccountCleaner removes an account that was disconnected from the items that are scheduled to it.
// It implements social.Cleaner. Items that are being published end without it.
type AccountCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean implements social.Cleaner.
func (c AccountCleaner) Clean(ctx context.Context, o tenant.Owner, accountID string) (more bool, err error) {
	q := store.Query{Index: store.ByParent, Partition: item.AccountPartition(accountID), OldestFirst: true,
		Limit: atOnce}
	for {
		page, err := c.DB.List(ctx, q)
		if err != nil {
			return false, err
		}
		for _, it := range page.Items {
			withdrawn, err := change(ctx, c.DB, o, it.PK,
				func(tx *store.Tx, r *item.Record) (bool, error) { return withdraw(tx, c.Now(), o, r, accountID) })
			if err != nil {
				return false, err
			}
			more = more || withdrawn
		}
		if more || page.Next == nil {
			return more, nil
		}
		q.After = page.Next
	}
}

// withdraw removes an account from a scheduled item. If it was the last account, the item is no longer scheduled.
func withdraw(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record, accountID string) (bool, error) {
	pub := r.Item.PublicationTo(accountID)
	if r.Item.State != item.Scheduled || pub == nil || pub.State != item.PublicationPending {
		return false, nil
	}
	r.Item.SocialAccountIDs = slices.DeleteFunc(slices.Clone(r.Item.SocialAccountIDs),
		func(id string) bool { return id == accountID })
	if len(r.Item.Publications) == 1 {
		return true, unschedule(tx, now, o, r)
	}
	planner{tx, now, o, r}.leave(pub, true)
	r.Item.Publications = slices.DeleteFunc(r.Item.Publications,
		func(p item.Publication) bool { return p.SocialAccountID == accountID })
	r.Item.Touch(now)
	return true, r.Notify(tx, o, event.ContentScheduled)
}

// unschedule clears the schedule of an item, and tells of it.
func unschedule(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	if err := Clear(tx, now, o, r); err != nil {
		return err
	}
	return r.Notify(tx, o, event.ContentUnscheduled)
}

// change changes an item in a separate transaction, and reports whether it did.
func change(ctx context.Context, db *store.DB, o tenant.Owner, itemID string,
	f func(*store.Tx, *item.Record) (bool, error)) (bool, error) {
	it, r, _, err := item.Lookup(ctx, db, o, itemID)
	if err != nil || r == nil {
		return false, err
	}
	tx := &store.Tx{}
	changed, err := f(tx, r)
	if err != nil || !changed {
		return false, err
	}
	if err := item.Replace(tx, it, r); err != nil {
		return false, err
	}
	return true, db.Commit(ctx, tx)
}

// FactoryCleaner clears the schedule of the items of a factory that was deleted. It implements factory.Cleaner.
type FactoryCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean implements factory.Cleaner.
func (c FactoryCleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByParent, Partition: item.ParentPartition(o, factoryID),
		Filters: map[string]string{"state": string(item.Scheduled)}, OldestFirst: true, Limit: atOnce}
	return c.DB.Some(ctx, q, func(it store.Item) error {
		_, err := change(ctx, c.DB, o, it.PK, func(tx *store.Tx, r *item.Record) (bool, error) {
			if r.Item.State != item.Scheduled {
				return false, nil
			}
			return true, unschedule(tx, c.Now(), o, r)
		})
		return err
	})
}
