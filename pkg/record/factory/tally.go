package factory

import (
	"time"

	"github.com/content-automation/api/pkg/store"
)

// CountsKey is the key of the counts of a plan.
func CountsKey(factoryID, planID string) store.Key {
	return store.Key{PK: PlansPartition(factoryID), SK: planID + "#count"}
}

// Counts has the number of items of a plan in each state, and their credits.
type Counts struct {
	Generated, Failed, Canceled, Published int64
	// Reserved is the number of reserved credits, and Cost the number of charged credits.
	Reserved, Cost int64
}

// keep is the time for which the counts stay after their last change.
const keep = 2 * 365 * 24 * time.Hour

// CountsKind is the kind of the counts' item.
const CountsKind = "content_plan_counts"

// AddCounts adds to the transaction that the counts of a plan change.
func AddCounts(tx *store.Tx, now time.Time, factoryID, planID string, c Counts) {
	if c == (Counts{}) {
		return
	}
	tx.Add(store.Item{Key: CountsKey(factoryID, planID), Kind: CountsKind, ExpireAt: now.Add(keep),
		Numbers: map[string]int64{
			"generated": c.Generated, "failed": c.Failed, "canceled": c.Canceled, "published": c.Published,
			"reserved": c.Reserved, "cost": c.Cost,
		}})
}

// CountsOf returns the counts of an item that was read by Key.
func CountsOf(it store.Item) Counts {
	n := it.Numbers
	return Counts{n["generated"], n["failed"], n["canceled"], n["published"], n["reserved"], n["cost"]}
}

// Minus returns the difference of counts.
func (c Counts) Minus(d Counts) Counts {
	return Counts{c.Generated - d.Generated, c.Failed - d.Failed, c.Canceled - d.Canceled, c.Published - d.Published,
		c.Reserved - d.Reserved, c.Cost - d.Cost}
}

// Ended returns the number of items that have ended.
func (c Counts) Ended() int64 { return c.Generated + c.Failed + c.Canceled }
