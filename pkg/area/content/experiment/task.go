package experiment

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// LookKind is the kind of the task that looks at the figures of a running experiment, and ends it.
const LookKind task.Kind = "experiment.look"

// lookEvery is the time between two looks.
const lookEvery = 6 * time.Hour

func lookTask(experimentID string, o tenant.Owner, now time.Time) task.Task {
	return task.Task{Message: task.Message{ID: task.ID(LookKind, experimentID, 1), Kind: LookKind,
		Queue: topology.Diagnose, Subject: experimentID, Owner: o}, DueAt: now.Add(lookEvery)}
}

// Worker looks at experiments.
type Worker struct {
	DB  *store.DB
	Now func() time.Time
	// Apply adds the applied proposal of a decided experiment to the transaction. It reports false, and changes
	// nothing, if it cannot be applied: the result stays, for people to decide.
	Apply func(ctx context.Context, tx *store.Tx, r *Record, it store.Item) (bool, error)
}

// Look looks at the figures of an experiment until it has ended. What a look finds follows from the stored items and
// the clock alone, so that it may be repeated.
func (w Worker) Look(ctx context.Context, t *task.Run) error {
	r, _, err := w.read(ctx, t.Subject)
	if err != nil || r == nil {
		return err
	}
	all, err := outcomes(ctx, w.DB, t.Owner, r, w.Now())
	if err != nil {
		return task.Again(err)
	}
	t.Also(func(ctx context.Context, tx *store.Tx) error {
		// The experiment may have got items meanwhile.
		r, it, err := w.read(ctx, t.Subject)
		if err != nil || r == nil {
			return err
		}
		r.Look(all, w.Now())
		r.Touch(w.Now())
		if r.State != Running {
			e, err := event.New(w.Now(), it.Owner, event.ExperimentDecided, r.Experiment, nil)
			if err != nil {
				return err
			}
			tx.Create(e, nil)
		}
		if r.AutoApply && r.State == Decided {
			if done, err := w.Apply(ctx, tx, r, it); done || err != nil {
				return err
			}
		}
		if it, err = r.Into(it); err == nil {
			tx.Replace(it)
		}
		return err
	})
	if r.Look(all, w.Now()); r.State != Running {
		return nil
	}
	return t.Sleep(lookEvery)
}

// read returns an experiment if it runs.
func (w Worker) read(ctx context.Context, experimentID string) (*Record, store.Item, error) {
	it, err := w.DB.Lookup(ctx, store.IDKey(experimentID))
	if err != nil {
		return nil, it, task.Again(err)
	}
	if it.PK == "" {
		return nil, it, nil
	}
	r, err := Decode(&it)
	if err != nil || r.State != Running {
		return nil, it, err
	}
	return r, it, nil
}

// Cleaner stops the experiments of a factory that was deleted.
type Cleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// Clean stops the next experiments of the factory. Called again, it finds nothing.
func (c Cleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, ItemKind), Limit: 25,
		Filters: map[string]string{factoryFilter: factoryID},
		OneOf:   map[string][]string{stateFilter: {string(Draft), string(Running)}}}
	return c.DB.Some(ctx, q, func(it store.Item) error {
		r, err := Decode(&it)
		if err != nil {
			return err
		}
		r.stop(c.Now())
		r.Touch(c.Now())
		it, err = r.Into(it)
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		tx.Replace(it)
		return c.DB.Commit(ctx, tx)
	})
}

// stop ends an experiment without a winner.
func (r *Record) stop(now time.Time) {
	at := resource.Instant(now)
	r.State, r.EndedAt, r.Winners = Stopped, &at, []Winner{}
}
