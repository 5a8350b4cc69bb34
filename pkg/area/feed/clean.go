package feed

import (
	"context"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
)

// cleanAtOnce is the number of runs that one call of Clean removes.
const cleanAtOnce = 25

// Cleaner removes the feed and the runs of a factory that was deleted.
type Cleaner struct{ DB *store.DB }

// Clean removes the feed and some of its runs, and reports whether there may be more. A run that is under way finds no
// feed, and ends.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	tx := &store.Tx{}
	tx.Remove(shelf.Key(factoryID))
	if err := c.DB.Commit(ctx, tx); err != nil {
		return false, err
	}
	q := store.Query{Index: store.ByParent, Partition: RunsPartition(o, factoryID), Limit: cleanAtOnce,
		OldestFirst: true}
	return c.DB.ChangeSome(ctx, q, func(tx *store.Tx, run store.Item) error {
		tx.Remove(run.Key)
		return nil
	})
}
