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
		q := store.Query{Index: store.ByParent, Partition: partition, Limit: cleanAtOnce, OldestFirst: true}
		more, err := c.DB.Some(ctx, q, func(listed store.Item) error {
			it, err := c.DB.Lookup(ctx, listed.Key)
			tx := &store.Tx{}
			if err == nil && it.PK != "" {
				err = Discard(tx, c.Now(), it)
			}
			if err != nil || tx.Len() == 0 {
				return err
			}
			return c.DB.Commit(ctx, tx)
		})
		if more || err != nil {
			return more, err
		}
	}
	return false, nil
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
