package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker does generation work.
type Worker struct {
	DB *store.DB
	// Loaders are found by the kind of their items.
	Loaders   map[string]Loader
	Providers Providers
	Objects   Objects
	Now       func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Generate: handler{w}, Start: starter{w}, Remove: remover{w}}
}

// handler is the handler of Generate.
type handler struct{ *Worker }

// attempt is a step in the hands of the handler.
type attempt struct {
	*task.Step
	run
	n int // the current part
}

// Step submits, polls or stores the current part, or finishes the work.
func (w handler) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return o, err
	}
	if a.n = a.current(); a.n == len(a.Parts) {
		return w.finish(a), nil
	}
	switch p := a.Parts[a.n]; {
	case p.Ready:
		o, err = w.store(ctx, &a)
	case p.Handle != "":
		o, err = w.poll(ctx, &a)
	default:
		o, err = w.submit(ctx, &a)
	}
	if err == nil {
		o.Payload, o.Queue = a.run, a.queue()
		return o, nil
	}
	if errors.Is(err, task.ErrMoved) || errors.Is(err, task.ErrOrphaned) || ctx.Err() != nil {
		return o, err
	}
	// Of a step that failed nothing is kept but what was lost by it.
	var kept run
	if err := s.Decode(&kept); err != nil {
		return o, err
	}
	err = classify(&kept, a.n, err)
	return task.Outcome{Payload: kept}, err
}

// finish ends the work well: the resource, its events, its charge and its place
// among the waiting work.
func (w handler) finish(a attempt) task.Outcome {
	made := a.made()
	return task.Outcome{Done: true, Join: w.join(a.Step, a.Attempt, func(tx *store.Tx, work Work) error {
		ledger.Charge(tx, w.Now(), a.Owner.Account, work.Ticket().Hold)
		leave(tx, a.Owner)
		return work.Succeed(tx, w.Now(), made)
	})}
}

// Fail ends the work badly, and releases its money.
func (w handler) Fail(ctx context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return o, err
	}
	if errors.Is(cause, task.ErrDeadline) {
		w.stop(ctx, &a)
	}
	w.clear(ctx, &a)
	f := failureOf(cause)
	o.Join = w.join(s, a.Attempt, func(tx *store.Tx, work Work) error {
		leave(tx, s.Owner)
		if err := ledger.Release(tx, w.Now(), s.Owner.Account, work.Ticket().Hold); err != nil {
			return err
		}
		return work.Fail(tx, w.Now(), f)
	})
	return o, nil
}

// Cancel stops the provider, as far as it can be stopped, and removes the files.
func (w handler) Cancel(ctx context.Context, s *task.Step) error {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return err
	}
	w.stop(ctx, &a)
	w.clear(ctx, &a)
	return nil
}

// work reads the resource that a task is for; nil where it does not wait for this
// attempt.
func (w *Worker) work(ctx context.Context, s *task.Step, attempt int) (Work, error) {
	it, err := w.DB.Get(ctx, store.IDKey(s.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return w.open(it, attempt)
}

func (w *Worker) open(it store.Item, attempt int) (Work, error) {
	loader, ok := w.Loaders[it.Kind]
	if !ok {
		return nil, fmt.Errorf("generate: no area knows items of kind %q", it.Kind)
	}
	work, err := loader.Open(it)
	if err != nil || work.Waits() != attempt {
		return nil, err
	}
	return work, nil
}

// join returns an Outcome.Join that changes the resource. Where the resource does
// not wait for the attempt, its task was canceled in the same transaction: that is a
// race which reading the task again ends.
func (w *Worker) join(s *task.Step, attempt int, change func(*store.Tx, Work) error) func(context.Context, *store.Tx) error {
	return func(ctx context.Context, tx *store.Tx) error {
		work, err := w.work(ctx, s, attempt)
		if err != nil {
			return err
		}
		if work == nil {
			return task.ErrMoved
		}
		if err := change(tx, work); err != nil {
			return err
		}
		it, err := work.Item()
		if err != nil {
			return err
		}
		tx.Replace(it)
		return nil
	}
}

// shows is the Outcome.Join that lets the resource show how far the work is; nil
// where there is nothing to write.
func (w *Worker) shows(a *attempt, work Work, first bool) func(context.Context, *store.Tx) error {
	percent := a.percent()
	if !first && (work == nil || !work.Progress(w.Now(), percent)) {
		return nil
	}
	return w.join(a.Step, a.Attempt, func(_ *store.Tx, work Work) error {
		if first {
			work.Start(w.Now())
		}
		work.Progress(w.Now(), percent)
		return nil
	})
}
