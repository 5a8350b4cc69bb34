package publication

import (
	"context"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// advanceAtOnce is the number of items whose metrics one step of Advance reads. Each takes a write, and one more for
// each of its publications.
const advanceAtOnce = 5

// advancing is the payload of an Advance task.
type advancing struct {
	move
	// Moved reports that the clock has the move, and After is the id of the last item that was read.
	Moved bool   `json:"moved,omitempty"`
	After string `json:"after,omitempty"`
}

// StartAdvance adds the task to the transaction that moves the clock of a sandbox forward.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account, seconds int64) error {
	taskID := task.ID(Advance, id.New("advance", now), 1)
	return task.Create(tx, now, task.Task{Message: task.Message{ID: taskID, Kind: Advance, Queue: topology.Publish,
		Subject: string(account), Owner: tenant.Of(account, tenant.Test)}},
		advancing{move: move{ID: taskID, At: now, Seconds: seconds}})
}

// advancer is the handler of Advance.
type advancer struct{ *Worker }

// Step moves the clock first, and then reads the metrics of the next items.
func (w advancer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	if s.Mode != tenant.Test {
		return o, task.Permanent(fmt.Errorf("publication: %s is not a sandbox", s.Owner))
	}
	var p advancing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	clock, err := w.DB.Lookup(ctx, clockKey(s.Owner))
	if err != nil {
		return o, task.Again(err)
	}
	if !p.Moved {
		p.Moved = true
		return task.Outcome{Payload: p, Join: func(_ context.Context, tx *store.Tx) error {
			return addMove(tx, s.Owner, clock, p.move)
		}}, nil
	}
	c, err := clockOf(&clock)
	if err != nil {
		return o, err
	}
	page, err := w.DB.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(s.Owner, item.ItemKind), Limit: advanceAtOnce,
		OldestFirst: true, From: p.After, To: id.First(id.ContentItem, p.At.Add(time.Millisecond)),
	})
	if err != nil {
		return o, task.Again(err)
	}
	if len(page.Items) == 0 {
		return task.Outcome{Payload: p, Done: true}, nil
	}
	p.After = page.Items[len(page.Items)-1].PK + "0" // ids are of one length
	return task.Outcome{Payload: p, Join: func(ctx context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			if err := w.reread(ctx, tx, it, c); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// reread reads the metrics of the posts of an item.
func (w advancer) reread(ctx context.Context, tx *store.Tx, listed store.Item, c testClock) error {
	found, err := w.DB.Lookup(ctx, listed.Key)
	if err != nil || found.Kind != item.ItemKind {
		return err
	}
	r, err := item.Decode(&found)
	if err != nil {
		return err
	}
	keys := []store.Key{}
	for _, pub := range r.Publications {
		keys = append(keys, item.ReadingsKey(pub.ID))
	}
	histories, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	now, changed := w.Now(), false
	for i := range r.Publications {
		pub := &r.Publications[i]
		adapter, ok := w.Platforms.Of(tenant.Test, pub.Platform)
		if !ok || pub.State != item.PublicationPublished {
			continue
		}
		read, err := adapter.Metrics(ctx, platform.Account{}, published(*pub, c))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // the platform has none
		}
		pub.Metrics, changed = item.Read(read, pub.Metrics, now), true
		if err := r.NoteMetrics(tx, found.Owner, pub, histories[i]); err != nil {
			return err
		}
		pub.Touch(now)
	}
	if !changed {
		return nil
	}
	r.Touch(now)
	return item.Replace(tx, found, r)
}
