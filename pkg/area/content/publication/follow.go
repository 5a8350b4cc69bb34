package publication

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

// Follower has content follow the products that it shows.
type Follower struct {
	DB        *store.DB
	Platforms social.Adapters
	Now       func() time.Time
}

// followAtOnce is the number of items that one step of Follow looks at.
const followAtOnce = 50

// Follow has a page of the items of a factory follow their products. An item that is not published waits for its
// product. Of a published one, an event tells that it is outdated, once for each way, and its posts are deleted if the
// feed says so.
func (f *Follower) Follow(ctx context.Context, o tenant.Owner, factoryID string,
	after *store.Cursor) (*store.Cursor, error) {
	policies, err := shelf.Find(ctx, f.DB, o, factoryID)
	if err != nil || policies == (shelf.Policies{}) {
		return nil, err
	}
	page, err := f.DB.List(ctx, store.Query{Index: store.ByParent, Partition: item.ParentPartition(o, factoryID),
		Limit: followAtOnce, After: after})
	if err != nil {
		return nil, err
	}
	for _, listed := range page.Items {
		r, err := item.Decode(&listed)
		if err != nil {
			return nil, err
		}
		if r.Brief.Product == nil || !follows(r.Item.State) {
			continue
		}
		err = f.DB.Change(ctx, func(tx *store.Tx) error { return f.one(ctx, tx, o, listed.PK) })
		if err != nil {
			return nil, err
		}
	}
	return page.Next, nil
}

// follows reports whether items in a state follow their products.
func follows(s item.State) bool {
	return s == item.Generated || s == item.Scheduled || s == item.Published
}

// one has an item follow its product.
func (f *Follower) one(ctx context.Context, tx *store.Tx, o tenant.Owner, itemID string) error {
	it, r, _, err := item.Lookup(ctx, f.DB, o, itemID)
	if err != nil || r == nil || r.Brief.Product == nil || !follows(r.Item.State) {
		return err
	}
	found, err := look(ctx, f.DB, o, r, f.Now())
	if err != nil || !found.followed {
		return err
	}
	switch {
	case r.Item.State == item.Published:
		return f.outdate(ctx, tx, o, it, r, found)
	case len(found.ways) == 0 && r.NotPublished == item.WaitsForProduct:
		return f.release(tx, o, it, r)
	case !found.holds() || r.NotPublished == item.WaitsForProduct:
		return nil
	}
	return hold(tx, f.Now(), o, it, r, found.ways)
}

// release has an item go on that waited for its product, which is again as the item shows it. It is scheduled as it
// was, by the task of its approval.
func (f *Follower) release(tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record) error {
	r.NotPublished, r.Item.Outdated = "", item.Ways{}
	if r.RequestedSchedule == nil {
		r.NotPublished = item.WaitsForSlot
	} else if err := r.GoOn(tx, f.Now(), o); err != nil {
		return err
	}
	r.Item.Touch(f.Now())
	return item.Replace(tx, it, r)
}

// hold adds to the transaction that an item, generated or scheduled, waits for its product.
func hold(tx *store.Tx, now time.Time, o tenant.Owner, it store.Item, r *item.Record, ways item.Ways) error {
	if r.Item.State == item.Scheduled {
		if err := Postpone(tx, now, o, r); err != nil {
			return err
		}
	}
	r.SetWaitsFor(item.WaitsForProduct)
	r.Item.Outdated = append(item.Ways{}, ways...)
	r.Item.Touch(now)
	return errors.Join(r.Notify(tx, o, event.ContentUnscheduled), item.Replace(tx, it, r))
}

// Current refuses to publish an item whose product is not what it shows, if the feed of its factory says so. Otherwise
// it adds to the transaction that the product has not changed since.
func Current(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, r *item.Record, now time.Time) error {
	found, err := look(ctx, db, o, r, now)
	if err != nil || !found.followed {
		return err
	}
	if found.holds() {
		return errs.New(errs.InvalidState, "The product %s is not what the content item shows: %s. Regenerate the "+
			"item.",
			r.Brief.Product.ProductID, found.ways.Words()).In(string(r.Item.State), string(item.Regenerate))
	}
	found.hold(tx)
	return nil
}

// outdate tells that published posts show what is not so any more, and deletes them if the feed says so.
func (f *Follower) outdate(ctx context.Context, tx *store.Tx, o tenant.Owner, it store.Item, r *item.Record,
	found productState) error {
	news := found.ways.Without(r.Item.Outdated)
	if len(news) == 0 && len(found.ways) == len(r.Item.Outdated) {
		return nil
	}
	r.Item.Outdated = append(item.Ways{}, found.ways...)
	r.Item.Touch(f.Now())
	if len(news) > 0 {
		if err := r.Notify(tx, o, event.ProductOutdated); err != nil {
			return err
		}
	}
	if len(news) > 0 && found.policy == shelf.Withdraw {
		for i := range r.Item.Publications {
			pub := &r.Item.Publications[i]
			adapter, ok := f.Platforms.Of(o.Mode, pub.Platform)
			if !ok || pub.State != item.PublicationPublished {
				continue
			}
			// What the platform does not permit stays, and the event tells it.
			_ = Change(tx, f.Now(), o, r, pub, adapter.Capabilities(), item.ChangeDelete, nil)
		}
	}
	return item.Replace(tx, it, r)
}

// productState is what the product of an item is now.
type productState struct {
	// followed reports that the feed of the factory has the product, or has had it.
	followed bool
	ways     item.Ways
	policy   shelf.Policy
	// items are those that the answer depends on.
	items []store.Item
}

// holds reports whether the item may not be published.
func (p productState) holds() bool {
	return p.followed && len(p.ways) > 0 && p.policy != "" && p.policy != shelf.Keep
}

// hold makes the commit fail if the product has changed since it was read.
func (p productState) hold(tx *store.Tx) {
	for _, it := range p.items {
		if it.Kind != "" {
			tx.Unchanged(it)
		}
	}
}

// look reads the product of an item, and in which ways it is not what the item shows.
func look(ctx context.Context, db *store.DB, o tenant.Owner, r *item.Record, now time.Time) (p productState,
	err error) {
	if r.Brief.Product == nil {
		return p, nil
	}
	found, err := db.GetAll(ctx, store.IDKey(r.Brief.Product.ProductID), shelf.Key(r.Item.FactoryID), testclock.Key(o))
	if err != nil {
		return p, err
	}
	policies := shelf.Of(found[1], o)
	if policies == (shelf.Policies{}) {
		return p, nil
	}
	clock, err := testclock.At(&found[2], now)
	if err != nil {
		return p, err
	}
	if r.Item.PublishAt != nil && r.Item.PublishAt.After(clock) {
		clock = r.Item.PublishAt.Time
	}
	var stored *product.StoredProduct
	if found[0].Kind == product.ItemKind && o.Uses(found[0].Owner) {
		if !product.IsInFeed(&found[0]) {
			return p, nil
		}
		if stored, err = product.Decode(&found[0]); err != nil {
			return p, err
		}
	}
	p.followed, p.items = true, found[:1]
	p.ways = r.Brief.Product.Changes(stored, r.ShowsPrices(), clock)
	p.policy = p.ways.Policy(policies)
	return p, nil
}
