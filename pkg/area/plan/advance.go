package plan

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Advance is the kind of the task that wakes the plans of a sandbox whose clock was moved.
const Advance task.Kind = "content_plan.advance"

// StartAdvance adds the task to the transaction that wakes the plans of a sandbox whose clock was moved, so that
// the items whose time comes are written.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return testclock.StartWaking(tx, now, account, Advance, topology.GenerateText)
}

// Advancer returns the function of the task.
func Advancer(db *store.DB, now func() time.Time) task.Func {
	return testclock.Waking(db, now, ItemKind, func(it store.Item) (*task.Message, error) {
		var p Plan
		if err := it.Decode(&p); err != nil || p.State.Final() || p.WriteAheadHours == nil {
			return nil, err
		}
		m := message(it.Owner, p.ID)
		return &m, nil
	})
}
