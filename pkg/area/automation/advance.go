package automation

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Advance is the kind of the task that wakes the automations of a sandbox whose clock was moved.
const Advance task.Kind = "automation.advance"

// mostCaughtUp is the time before a moved clock for which an automation makes the items of each time of its trigger.
const mostCaughtUp = 31 * 24 * time.Hour

// StartAdvance adds the task to the transaction that wakes the automations of a sandbox whose clock was moved, so that
// those whose time has come make their items.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return testclock.StartWaking(tx, now, account, Advance, topology.Settle)
}

// advancer returns the function of the task.
func (s *Service) advancer() task.Func {
	return testclock.Waking(s.db, s.now, ItemKind, func(it store.Item) (*task.Message, error) {
		m := message(it.PK, it.Owner)
		return &m, nil
	})
}
