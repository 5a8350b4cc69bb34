package automation

import (
	"context"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Advance is the kind of the task that wakes the automations of a sandbox whose clock was moved.
const Advance task.Kind = "automation.advance"

// advanceAtOnce is the number of automations that one step wakes.
const advanceAtOnce = 20

// mostCaughtUp is the time before a moved clock for which an automation makes the items of each time of its trigger.
const mostCaughtUp = 31 * 24 * time.Hour

// StartAdvance adds the task to the transaction that wakes the automations of a sandbox whose clock was moved, so that
// those whose time has come make their items.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(Advance, id.New("advance", now), 1),
		Kind: Advance, Queue: topology.Settle, Subject: string(account), Owner: tenant.Of(account, tenant.Test)}},
		advancing{})
}

// advancing is the payload of the task: the id of the last automation that was woken.
type advancing struct {
	After string `json:"after,omitempty"`
}

// advancer is the handler of Advance.
type advancer struct{ *Service }

// Step wakes the next automations.
func (w advancer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("automation: %s is not a sandbox", s.Owner))
	}
	var p advancing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	page, err := w.db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(s.Owner, ItemKind),
		Limit: advanceAtOnce, OldestFirst: true, From: p.After})
	if err != nil {
		return o, task.Again(err)
	}
	if len(page.Items) == 0 {
		o.Done = true
		return o, nil
	}
	p.After = page.Items[len(page.Items)-1].PK + "0" // what follows it: ids are of one length
	o.Payload = p
	o.Join = func(_ context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			if err := task.Wake(tx, w.now(), message(it.PK, it.Owner)); err != nil {
				return err
			}
		}
		return nil
	}
	return o, nil
}
