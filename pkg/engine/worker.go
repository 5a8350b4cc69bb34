package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/store"
)

// Worker takes the steps of runs.
type Worker struct {
	db        *store.DB
	areas     map[string]Area // by the kind of their items
	providers Providers
	objects   Objects
	now       func() time.Time
	// name gives a text that no other call gives: it tells claims apart.
	name func() string
}

// Config is what a worker works by.
type Config struct {
	DB *store.DB
	// Areas are found by the kind of their items.
	Areas     map[string]Area
	Providers Providers
	Objects   Objects
	Now       func() time.Time
	// Name gives a text that no other call gives.
	Name func() string
}

// NewWorker makes a worker.
func NewWorker(c Config) *Worker {
	return &Worker{c.DB, c.Areas, c.Providers, c.Objects, c.Now, c.Name}
}

var _ job.Worker = (*Worker)(nil)

// maxTurns bounds how often one message is looked at anew, because the run was
// changed by another between reading and writing.
const maxTurns = 4

// early is how much before its time a message may come and still count as due:
// queues wait in whole seconds.
const early = time.Second

// errMoved tells that the run has gone on without this message.
var errMoved = errors.New("engine: the run has moved on")

// turn is one message with what it is about.
type turn struct {
	item store.Item
	run  run
}

// Do takes the step that a message is for, if it is still to be taken.
func (w *Worker) Do(ctx context.Context, j job.Job) (*job.Next, error) {
	switch j.Task {
	case taskStart:
		return nil, w.startBatch(ctx, j)
	case taskRemove:
		return nil, w.remove(ctx, j)
	}
	for range maxTurns {
		next, err := w.take(ctx, j)
		if !errors.Is(err, errMoved) {
			return next, err
		}
		// It may have been this message's own write whose answer was lost: then nobody
		// else sends what follows.
		j.Receives = max(j.Receives, 2)
	}
	return nil, errs.New(errs.ProviderUnavailable, "The run %s keeps changing.", j.ID)
}

func (w *Worker) take(ctx context.Context, j job.Job) (*job.Next, error) {
	t, err := w.read(ctx, j.ID)
	if err != nil || t == nil {
		return nil, err
	}
	now, r := w.now(), &t.run
	switch state := t.item.Filters[stateFilter]; {
	case state == ended || j.Turn < r.Turn-1:
		return nil, nil // done, and what follows was done, too
	case j.Turn == r.Turn-1 && j.Receives < 2:
		return nil, nil // done, and whoever did it sends what follows
	case j.Turn == r.Turn-1:
		// The message came before and its function may have died between writing the
		// step's outcome and sending what follows.
		return t.next(now), nil
	case state == canceled:
		return nil, w.abandon(ctx, t)
	case !now.Before(r.Deadline):
		return nil, w.fail(ctx, t, Failure{Code: string(errs.Timeout), Message: "The work took longer than it may. Nothing was charged; try again, perhaps with another model.", Retryable: true}, nil)
	case r.Claim != nil && now.Before(r.Claim.Until):
		return &job.Next{Job: r.Job, Delay: r.Claim.Until.Sub(now)}, nil // another submits at this moment, or has died
	case r.Due.Sub(now) > early:
		return t.next(now), nil
	}
	return w.step(ctx, t)
}

// read reads a run; nil where there is none any more.
func (w *Worker) read(ctx context.Context, id string) (*turn, error) {
	it, err := w.db.Get(ctx, store.IDKey(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := &turn{item: it}
	return t, it.Decode(&t.run)
}

// next is the message of the run's next step.
func (t *turn) next(now time.Time) *job.Next {
	return &job.Next{Job: t.run.Job, Delay: max(0, t.run.Due.Sub(now))}
}

// step takes the step that is due.
func (w *Worker) step(ctx context.Context, t *turn) (*job.Next, error) {
	r := &t.run
	n := r.current()
	var err error
	switch {
	case n == len(r.Parts):
		return nil, w.finish(ctx, t)
	case r.Parts[n].Ready:
		err = w.store(ctx, t, n)
	case r.Parts[n].Handle != "":
		err = w.poll(ctx, t, n)
	default:
		err = w.submit(ctx, t, n)
	}
	if err == nil {
		return t.next(w.now()), nil
	}
	if errors.Is(err, errMoved) || ctx.Err() != nil {
		return nil, err
	}
	return w.judge(ctx, t, n, err)
}

// work reads the resource that a run is for; nil where it no longer waits for
// this run.
func (w *Worker) work(ctx context.Context, r *run) (Work, error) {
	it, err := w.db.Get(ctx, store.IDKey(r.Subject))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return w.open(it, r.Attempt)
}

func (w *Worker) open(it store.Item, attempt int) (Work, error) {
	area, ok := w.areas[it.Kind]
	if !ok {
		return nil, fmt.Errorf("engine: no area knows items of kind %q", it.Kind)
	}
	work, err := area.Open(it)
	if err != nil || work.Waits() != attempt {
		return nil, err
	}
	return work, nil
}

// change changes the resource together with its run, and adds to their transaction.
type change func(tx *store.Tx, work Work) error

// save writes the run in a state, and with it what change does to the resource.
// errMoved tells that another has written the run: this message's outcome is void.
func (w *Worker) save(ctx context.Context, t *turn, state string, change change) error {
	if err := t.run.write(&t.item, state); err != nil {
		return err
	}
	for range maxTurns {
		tx := &store.Tx{}
		tx.Replace(t.item)
		if change != nil {
			if err := w.change(ctx, tx, t, change); err != nil {
				return err
			}
		}
		err := w.db.Commit(ctx, tx)
		if err == nil {
			t.item.Version++
			return nil
		}
		if !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("engine: save %s: %w", t.run.ID, err)
		}
		// Which of the two was changed? The resource may be changed by its owner at
		// any time; the run, by another delivery of the message or by canceling.
		now, err := w.db.Get(ctx, t.item.Key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if now.Version != t.item.Version {
			return errMoved
		}
	}
	return errs.New(errs.ProviderUnavailable, "The resource %s keeps changing.", t.run.Subject)
}

func (w *Worker) change(ctx context.Context, tx *store.Tx, t *turn, change change) error {
	work, err := w.work(ctx, &t.run)
	if err != nil {
		return err
	}
	if work == nil {
		// The resource is gone, or has been given a new attempt: then its run was
		// canceled in the same transaction, so this can only be a race that reading
		// the run again ends.
		return errMoved
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

// shows is the change that lets the resource show how far the run is; nil where
// there is nothing to write.
func (w *Worker) shows(work Work, r *run, first bool) change {
	percent := r.percent()
	if !first && (work == nil || !work.Progress(w.now(), percent)) {
		return nil
	}
	return func(_ *store.Tx, work Work) error {
		if first {
			work.Start(w.now())
		}
		work.Progress(w.now(), percent)
		return nil
	}
}

// jitter spreads a wait over 80 to 120 percent, so that what failed together does
// not come again together.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// pause is how long to wait after the n-th failure in a row.
func pause(n int) time.Duration {
	const first, longest = 2 * time.Second, time.Minute
	return jitter(min(first<<min(n-1, 10), longest))
}

func logFailure(r *run, f Failure, cause error) {
	slog.Warn("work failed", "subject", r.Subject, "attempt", r.Attempt, "code", f.Code, "error", cause)
}
