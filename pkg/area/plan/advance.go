package plan

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

// Advance is the kind of the task that wakes the plans of a sandbox whose clock was moved.
const Advance task.Kind = "content_plan.advance"

// advanceAtOnce is the number of plans that one step wakes.
const advanceAtOnce = 20

// advancing is the payload of the task.
type advancing struct {
	// Before is the time of the call: later plans stay. After is the id of the last plan that was woken.
	Before time.Time `json:"before"`
	After  string    `json:"after,omitempty"`
}

// StartAdvance adds the task to the transaction that wakes the plans of a sandbox whose clock was moved, so that
// the items whose time comes are written.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(Advance, id.New("advance", now), 1),
		Kind: Advance, Queue: topology.GenerateText, Subject: string(account),
		Owner: tenant.Of(account, tenant.Test)}}, advancing{Before: now})
}

// Advancer handles the task that wakes plans.
type Advancer struct {
	DB  *store.DB
	Now func() time.Time
}

// Step wakes the next plans.
func (h Advancer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("plan: %s is not a sandbox", s.Owner))
	}
	var p advancing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	page, err := h.DB.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(s.Owner, ItemKind),
		Limit: advanceAtOnce, OldestFirst: true, From: p.After,
		To: id.First(id.ContentPlan, p.Before.Add(time.Millisecond))})
	if err != nil {
		return o, task.Again(err)
	}
	if len(page.Items) == 0 {
		o.Done = true
		return o, nil
	}
	p.After = page.Items[len(page.Items)-1].SK + "0" // what follows it: ids are of one length
	o.Payload = p
	o.Join = func(_ context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			var one Plan
			if err := it.Decode(&one); err != nil {
				return err
			}
			if one.State.Final() || one.WriteAheadHours == nil {
				continue
			}
			if err := task.Wake(tx, h.Now(), message(it.Owner, one.ID)); err != nil {
				return err
			}
		}
		return nil
	}
	return o, nil
}
