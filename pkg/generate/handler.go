package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker does generation work.
type Worker struct {
	DB *store.DB
	// Loaders are found by the kind of their items.
	Loaders map[string]Loader
	// Providers generates the parts that are not composed. It is nil in the function compose.
	Providers Providers
	Objects   Objects
	// Moderator moderates the texts of live keys. If it is nil, none are.
	Moderator provider.Moderator
	// Composer composes. It is nil in all functions but compose.
	Composer Composer
	Now      func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Generate: handler{w}, Start: task.Func(w.startBatch),
		Remove: task.Func(w.removeFiles)}
}

// handler is the handler of Generate.
type handler struct{ *Worker }

// attempt is a step that the handler takes.
type attempt struct {
	*task.Step
	run
	n int // the current part
	// providers is the item of package pace, once a submission of live work has read it.
	providers store.Item
}

// Step submits, polls or stores the current part, or finishes the work.
func (w handler) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return o, err
	}
	if a.n = a.current(); a.n == len(a.Parts) {
		return w.finish(ctx, a)
	}
	switch p := a.Parts[a.n]; {
	case p.Kind.Finishes():
		o, err = w.compose(ctx, &a)
	case p.is(held):
		o, err = w.moderate(ctx, &a)
	case p.is(ready):
		o, err = w.store(ctx, &a)
	case p.is(submitted):
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
	// Keep nothing of a failed step but its losses.
	var kept run
	if err := s.Decode(&kept); err != nil {
		return o, err
	}
	err = classify(&kept, a.n, err)
	return task.Outcome{Payload: kept}, err
}

// finish ends the work with success: the resource, its events, its charge and its place among the waiting work. If the
// result has cost more than was reserved, the difference is charged, too, or the work fails. A quote bounds the charge:
// the difference is lost.
func (w handler) finish(ctx context.Context, a attempt) (o task.Outcome, err error) {
	made, extra := a.made(), a.extra()
	if extra > 0 && !a.Quoted {
		if err := w.covered(ctx, a, extra); err != nil {
			return o, err
		}
	}
	o.Done = true
	o.Join = w.join(a.Step, a.Attempt, func(tx *store.Tx, work Work) error {
		hold := work.Ticket().Hold
		ledger.Charge(tx, w.Now(), a.Owner.Account, hold)
		if a.Quoted {
			ledger.Lose(tx, w.Now(), a.Owner.Account, extra)
			extra = 0
		}
		if extra > 0 {
			balance, err := w.DB.Get(ctx, ledger.BalanceKey(a.Owner.Account))
			if err != nil {
				return err
			}
			if err := ledger.ChargeMore(tx, w.Now(), a.Owner.Account, hold, extra,
				ledger.BalanceOf(balance)); err != nil {
				return err
			}
		}
		leave(tx, a.Owner, a.Risk)
		if err := Register(tx, a.Owner, a.entries(w.Now())); err != nil {
			return err
		}
		return work.Succeed(tx, w.Now(), made, hold.Credits+extra)
	})
	return o, nil
}

// covered returns the failure of work whose result has cost more than the balance or the limit of the API key covers.
func (w handler) covered(ctx context.Context, a attempt, extra int64) error {
	work, err := w.work(ctx, a.Step, a.Attempt)
	if err != nil || work == nil {
		return err // without a resource the commit finds the task canceled
	}
	payer := work.Ticket().Hold.Payer
	items, err := w.DB.GetAll(ctx, append(payer.Counters(a.Owner.Account), ledger.BalanceKey(a.Owner.Account))...)
	if err != nil {
		return err
	}
	if err := payer.Covers(ledger.BalanceOf(items[len(items)-1]), items, extra); err != nil {
		e := errs.As(err)
		return task.Permanent(&failed{Failure{
			Code: provider.FailureCode(e.Code),
			Message: fmt.Sprintf("The result is longer or larger than was reserved for, and was removed. It costs %d "+
				"credits more. %s Nothing was charged.", extra, e.Message),
		}, err})
	}
	return nil
}

// Fail ends the work without success, and releases its money.
func (w handler) Fail(ctx context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return o, err
	}
	if errors.Is(cause, task.ErrDeadline) {
		w.stop(ctx, &a)
	}
	kept := a.Keeps && isCallerError(cause)
	if !kept && a.hasResults() {
		// Another delivery may have gone on with the step, and need the files.
		if err := s.Lease(ctx, nil); err != nil {
			return o, err
		}
		w.removeResults(ctx, &a)
	}
	f := failureOf(cause)
	f.Stage = a.stage(f.Code)
	lost := a.paid(false)
	if n := a.current(); n < len(a.Parts) {
		switch {
		case unanswered(cause):
			lost += a.Parts[n].Credits
		case refused(cause) && a.Parts[n].is(submitted):
			lost -= a.Parts[n].Credits + a.Parts[n].Extra // providers do not bill generations that they refuse
		}
	}
	o.Join = w.join(s, a.Attempt, func(tx *store.Tx, work Work) error {
		leave(tx, s.Owner, a.Risk)
		f, hold := f, work.Ticket().Hold
		if isCallerError(cause) {
			f.Cost, f.Made = a.cancelCost(work.Ticket()), a.kept()
			f.Message += fmt.Sprintf(" The parts that were completed have cost %d credits.", f.Cost)
		}
		if err := ledger.Release(tx, w.Now(), s.Owner.Account, hold, f.Cost); err != nil {
			return err
		}
		ledger.Lose(tx, w.Now(), s.Owner.Account, lost-f.Cost)
		return work.Fail(tx, w.Now(), f)
	})
	return o, nil
}

// Cancel stops the provider, if it can be stopped, and removes the files that the resource does not show.
func (w handler) Cancel(ctx context.Context, s *task.Step) error {
	a := attempt{Step: s}
	if err := s.Decode(&a.run); err != nil {
		return err
	}
	w.stop(ctx, &a)
	if !a.Keeps {
		w.removeResults(ctx, &a)
	}
	return nil
}

// work reads the resource of a task. It returns nil if the resource does not wait for this attempt.
func (w *Worker) work(ctx context.Context, s *task.Step, attempt int) (Work, error) {
	it, err := w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil || it.PK == "" {
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

// join returns an Outcome.Join that changes the resource. If the resource does not wait for the attempt, its task was
// canceled in the same transaction. Reading the task again resolves this race.
func (w *Worker) join(s *task.Step, attempt int, change func(*store.Tx, Work) error) func(context.Context,
	*store.Tx) error {
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

// shows returns the Outcome.Join that updates the progress in the resource, or nil if nothing has changed.
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
