package product

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// cleanAtOnce is the number of products or promotions that one call of Clean removes.
const cleanAtOnce = 25

// Cleaner removes the products and promotions of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean removes some promotions or, where there are none, some products, and reports whether there may be more.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	for _, partition := range []string{PromotionPartition(o, factoryID), Partition(o, factoryID)} {
		page, err := c.DB.List(ctx, store.Query{Index: store.ByParent, Partition: partition, Limit: cleanAtOnce,
			OldestFirst: true})
		if err != nil {
			return false, err
		}
		for _, listed := range page.Items {
			if err := c.remove(ctx, listed.Key); err != nil {
				return false, err
			}
		}
		if len(page.Items) > 0 || page.Next != nil {
			return true, nil
		}
	}
	return false, nil
}

// remove removes a product or promotion, if it is still there.
func (c Cleaner) remove(ctx context.Context, key store.Key) error {
	it, err := c.DB.Lookup(ctx, key)
	if err != nil || it.PK == "" {
		return err
	}
	tx := &store.Tx{}
	if err := Discard(tx, c.Now(), it); err != nil {
		return err
	}
	return c.DB.Commit(ctx, tx)
}

// Discard adds to the transaction that a product or promotion ends, whatever refers to it.
func Discard(tx *store.Tx, now time.Time, it store.Item) error {
	if it.Kind == PromotionKind {
		tx.Delete(it)
		return nil
	}
	r, err := Decode(&it)
	if err != nil {
		return err
	}
	return Delete(tx, now, it, r)
}
