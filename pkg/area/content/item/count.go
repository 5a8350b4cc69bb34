package item

import (
	"time"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// Counts returns the counts of the item in its content plan, in its present state.
func (r *Record) Counts() factory.Counts {
	c := factory.Counts{Cost: r.CostCredits}
	if r.Runs() {
		c.Reserved = r.Credits
	}
	switch r.State {
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

// Count adds the change of the item's counts since before to the transaction, if the item is part
// of a content plan.
func (r *Record) Count(tx *store.Tx, now time.Time, before factory.Counts) {
	if r.ContentPlanID != nil {
		factory.AddCounts(tx, now, r.FactoryID, *r.ContentPlanID, r.Counts().Minus(before))
	}
}

// Stop moves an item whose work was canceled to its end. charged is the cost of the
// completed parts, and made has their results.
func (r *Record) Stop(tx *store.Tx, now time.Time, charged int64, made []generate.Made) error {
	before := r.Counts()
	if err := r.Move(Canceled); err != nil {
		return err
	}
	r.Charge(now, charged)
	r.keep(made)
	r.Ticket = generate.Ticket{}
	r.Touch(now)
	r.Count(tx, now, before)
	return nil
}

// Cancel implements generate.Work.
func (w *work) Cancel(tx *store.Tx, now time.Time, charged int64, made []generate.Made) error {
	if err := w.Stop(tx, now, charged, made); err != nil {
		return err
	}
	return w.Notify(tx, w.item.Owner, event.ContentCanceled)
}
