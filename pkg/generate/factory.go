package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// pausedWait is the time after which work of a paused factory checks the factory again. Resuming the factory wakes it
// earlier.
const pausedWait = time.Hour

// begin reads the resource that a part is made for. In the same round trip it reads the state of the providers for live
// work and, before the first call, the state of the factory. It reports false if nothing is to be made now, as the
// outcome says.
func (w *Worker) begin(ctx context.Context, t *turn, o *task.Outcome) (_ Work, begun bool, err error) {
	work, factory, err := w.read(ctx, t)
	switch {
	case err != nil:
		return nil, false, err
	case work == nil:
		return nil, false, task.ErrOrphaned
	case factory == factoryrecord.StatePaused:
		*o = w.postpone(t)
		return nil, false, nil
	case factory == factoryrecord.StateDeleted:
		*o = w.end(t)
		return nil, false, nil
	}
	return work, true, nil
}

func (w *Worker) read(ctx context.Context, t *turn) (_ Work, factory string, err error) {
	keys := []store.Key{store.IDKey(t.Subject)}
	live := t.Mode == tenant.Live && t.call().is(planned, prepared)
	first := t.n <= t.first() && t.i == 0 && t.call().is(planned, prepared) && t.Factory != ""
	if live {
		keys = append(keys, pace.Key(t.Owner.Account))
	}
	if first {
		keys = append(keys, factoryrecord.Key(t.Factory))
	}
	if len(keys) == 1 {
		work, err := w.work(ctx, t.Step, t.Attempt)
		return work, "", err
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil || items[0].Kind == "" {
		return nil, "", err
	}
	if live {
		t.providers = items[1]
	}
	if first {
		factory = factoryrecord.State(items[len(items)-1])
	}
	work, err := w.open(items[0], t.Attempt)
	return work, factory, err
}

// postpone puts off work, and its deadline with it.
func (w *Worker) postpone(t *turn) task.Outcome {
	return task.Outcome{Wait: pausedWait, Deadline: w.Now().Add(pausedWait + t.longest())}
}

// longest returns the longest time that the parts may take.
func (r *run) longest() time.Duration {
	o := Order{Delay: time.Minute} // the longest that a rehearsal takes
	for _, p := range r.Parts {
		o.Parts = append(o.Parts, Part{Kind: p.Kind, Further: make([]Call, len(p.Calls)-1)})
	}
	return o.longest()
}

// end cancels work of a factory that was deleted before the work began, if it was accepted at that moment. All other
// work of the factory is canceled by a task of its own.
func (w *Worker) end(t *turn) task.Outcome {
	return task.Outcome{Done: true, Join: w.join(t.Step, t.Attempt, func(tx *store.Tx, work Work) error {
		leave(tx, t.Owner, t.Risk)
		ledger.Lose(tx, w.Now(), t.Owner.Account, t.paidAtMost(false))
		if err := ledger.Release(tx, w.Now(), t.Owner.Account, work.Ticket().Hold, 0); err != nil {
			return err
		}
		return work.Cancel(tx, w.Now(), 0, nil)
	})}
}

// Wake adds a message to the transaction that has the work of a resource check its paused factory now, if it waits for
// it.
func Wake(tx *store.Tx, now time.Time, o tenant.Owner, subject string, attempt int) error {
	return task.Wake(tx, now, task.Message{ID: task.ID(Generate, subject, attempt), Kind: Generate,
		Queue: topology.GenerateText, Subject: subject, Owner: o})
}

// Canceler cancels the work of resources outside of their operations.
type Canceler struct {
	DB *store.DB
	// Loaders open the resources, by the kind of their items.
	Loaders map[string]Loader
	Now     func() time.Time
}

// Cancel cancels the work of a resource. It does nothing if no work runs.
func (c *Canceler) Cancel(ctx context.Context, key store.Key) error {
	return c.DB.Change(ctx, func(tx *store.Tx) error { return c.cancel(ctx, tx, key) })
}

func (c *Canceler) cancel(ctx context.Context, tx *store.Tx, key store.Key) error {
	items, err := c.DB.GetAll(ctx, key, TaskKey(key.PK, 1))
	if err != nil || items[0].Kind == "" {
		return err
	}
	loader, ok := c.Loaders[items[0].Kind]
	if !ok {
		return fmt.Errorf("generate: no area knows items of kind %q", items[0].Kind)
	}
	work, err := loader.Open(items[0])
	if err != nil {
		return err
	}
	attempt := work.WaitsForAttempt()
	switch {
	case attempt == 0:
		return nil
	case attempt > 1:
		if items[1], err = c.DB.Get(ctx, TaskKey(key.PK, attempt)); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	now := c.Now()
	charged, made, err := Cancel(tx, now, items[0].Owner, work.Ticket(), items[1])
	if err != nil {
		return err
	}
	if err := work.Cancel(tx, now, charged, made); err != nil {
		return err
	}
	changed, err := work.Item()
	tx.Replace(changed)
	return err
}
