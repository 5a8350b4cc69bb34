package item

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// mostPast bounds the history of an item.
const mostPast = 16

// note adds to the history. If the history becomes too long, as that of an item that was
// regenerated many times, the two oldest entries become one.
func (r *Record) note(p Past) {
	r.History = append(r.History, p)
	if len(r.History) > mostPast {
		oldest, next := r.History[0], &r.History[1]
		next.Made += oldest.Made
		next.Failed += oldest.Failed
		next.Published += oldest.Published
		next.Credits += oldest.Credits
		r.History = r.History[1:]
	}
}

// Charge adds the charge for a canceled attempt to the cost of the item.
func (r *Record) Charge(now time.Time, credits int64) {
	if credits > 0 {
		r.Item.CostCredits += credits
		r.note(Past{At: resource.Instant(now), Credits: credits})
	}
}

// EndKind is the kind of the item that a content item leaves in the table for a while
// when its deletion has charged something.
const EndKind = "content_item_end"

// EndedState is the state of such an item.
const EndedState = "ended"

// keepEnd is the time for which it stays: the stream keeps its record for a day.
const keepEnd = 7 * 24 * time.Hour

// End returns the item that stays after a deleted item, for analytics. It has a version of its own.
func (r *Record) End(o tenant.Owner, now time.Time) (store.Item, error) {
	left := Record{Item: Item{Resource: resource.Resource{ID: r.Item.ID, Version: r.Item.Version + 1},
		FactoryID: r.Item.FactoryID, Kind: r.Item.Kind}, History: r.History}
	it, err := store.NewItem(EndKind, o, "end#"+r.Item.ID, left)
	it.ListKey, it.Filters = store.Key{}, map[string]string{"state": EndedState}
	it.ExpireAt = now.Add(keepEnd)
	return it, err
}

// Counts returns the counts of the item in its content plan, in its present state.
func (r *Record) Counts() factory.Counts {
	c := factory.Counts{Cost: r.Item.CostCredits}
	if r.Item.Runs() {
		c.Reserved = r.Attempt.Credits
	}
	switch r.Item.State {
	case Generated, Scheduled, Publishing:
		c.Generated = 1
	case Published:
		c.Generated, c.Published = 1, 1
	case Failed:
		c.Failed = 1
	case Canceled:
		c.Canceled = 1
	}
	return c
}

// Count adds the change of the item's counts since before to the transaction, if the item is part of a content plan.
func (r *Record) Count(tx *store.Tx, now time.Time, before factory.Counts) {
	if r.Item.ContentPlanID != nil {
		factory.AddCounts(tx, now, r.Item.FactoryID, *r.Item.ContentPlanID, r.Counts().Minus(before))
	}
}
