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

// turn is a step of a run that the handler takes.
type turn struct {
	*task.Step
	run
	n, i int // the current part, and its current call
	// providers is the item of package pace, once a submission of live work has read it.
	providers store.Item
}

func turnOf(s *task.Step) (*turn, error) {
	t := &turn{Step: s}
	err := s.Decode(&t.run)
	if t.n = t.current(); t.n < len(t.Parts) {
		t.i = t.Parts[t.n].next()
	}
	return t, err
}

// call returns the current call.
func (t *turn) call() *call { return &t.Parts[t.n].Calls[t.i] }

// moveTo makes call i of part n the current one. The calls of the part before it were not needed.
func (t *turn) moveTo(n, i int) {
	for before := range i {
		if c := &t.Parts[n].Calls[before]; !c.ended() {
			c.State = skipped
		}
	}
	t.n, t.i = n, i
}

// Step submits, polls or stores the current call, or finishes the work.
func (h handler) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	t, err := turnOf(s)
	if err != nil {
		return o, err
	}
	if t.n == len(t.Parts) {
		return h.finish(ctx, t)
	}
	switch p, c := &t.Parts[t.n], t.call(); {
	case p.Kind.Finishes():
		o, err = h.compose(ctx, t)
	case c.is(submitted):
		o, err = h.poll(ctx, t)
	case p.Kind == provider.KindText:
		o, err = h.write(ctx, t)
	case c.is(ready):
		err = h.fetch(ctx, t, Question{})
	default:
		o, err = h.make(ctx, t)
	}
	if err == nil {
		o.Payload, o.Queue = t.run, t.queue()
		return o, nil
	}
	if errors.Is(err, task.ErrMoved) || errors.Is(err, task.ErrOrphaned) || ctx.Err() != nil {
		return o, err
	}
	// Keep nothing of a failed step but its losses.
	kept, failed := turnOf(s)
	if failed != nil {
		return o, failed
	}
	kept.moveTo(t.n, t.i)
	err = classify(kept, err)
	return task.Outcome{Payload: kept.run}, err
}

// finish ends the work with success: the resource, its events, its charge and its place among the waiting work. If the
// result has cost more than was reserved, the difference is charged, too, or the work fails. A quote bounds the charge:
// the difference is lost.
func (h handler) finish(ctx context.Context, t *turn) (o task.Outcome, err error) {
	made, extra := t.results(), t.extra()
	if extra > 0 && !t.HasQuote {
		if err := h.checkReserve(ctx, t, extra); err != nil {
			return o, err
		}
	}
	o.Done = true
	o.Join = h.join(t.Step, t.Attempt, func(tx *store.Tx, work Work) error {
		hold := work.Ticket().Hold
		ledger.Charge(tx, h.Now(), t.Owner.Account, hold)
		if t.HasQuote {
			ledger.Lose(tx, h.Now(), t.Owner.Account, extra)
			extra = 0
		}
		if extra > 0 {
			balance, err := h.DB.Get(ctx, ledger.BalanceKey(t.Owner.Account))
			if err != nil {
				return err
			}
			if err := ledger.ChargeMore(tx, h.Now(), t.Owner.Account, hold, extra,
				ledger.BalanceOf(balance)); err != nil {
				return err
			}
		}
		leave(tx, t.Owner, t.Risk)
		if _, sample := work.(Sampling); !sample {
			if err := Register(tx, t.Owner, t.entries(h.Now())); err != nil {
				return err
			}
		}
		return work.Succeed(tx, h.Now(), made, hold.Credits+extra)
	})
	return o, nil
}

// checkReserve returns the failure of work whose result has cost more than the balance or the limit of the API key
// covers.
func (h handler) checkReserve(ctx context.Context, t *turn, extra int64) error {
	work, err := h.work(ctx, t.Step, t.Attempt)
	if err != nil || work == nil {
		return err // without a resource the commit finds the task canceled
	}
	payer := work.Ticket().Hold.Payer
	items, err := h.DB.GetAll(ctx, append(payer.Counters(t.Owner.Account), ledger.BalanceKey(t.Owner.Account))...)
	if err != nil {
		return err
	}
	if err := payer.Covers(ledger.BalanceOf(items[len(items)-1]), items, extra); err != nil {
		e := errs.As(err)
		return task.Permanent(&stepError{Failure{
			Code: provider.FailureCode(e.Code),
			Message: fmt.Sprintf("The result is longer or larger than was reserved for, and was removed. It costs %d "+
				"credits more. %s Nothing was charged.", extra, e.Message),
		}, err})
	}
	return nil
}

// Fail ends the work without success, and releases its money.
func (h handler) Fail(ctx context.Context, s *task.Step, cause error) (o task.Outcome, err error) {
	t, err := turnOf(s)
	if err != nil {
		return o, err
	}
	if errors.Is(cause, task.ErrDeadline) {
		h.stop(ctx, t)
	}
	kept := t.KeepsParts && isCallerError(cause)
	if !kept && t.hasResults() {
		// Another delivery may have gone on with the step, and need the files.
		if err := s.Lease(ctx, nil); err != nil {
			return o, err
		}
		h.removeResults(ctx, t)
	}
	f := failureOf(cause)
	f.Stage = t.stage(f.Code)
	lost := t.paidAtMost(false)
	if t.n < len(t.Parts) {
		switch c := t.call(); {
		case unanswered(cause):
			lost += c.Credits
		case refused(cause) && c.is(submitted):
			lost -= c.Credits + c.Extra // providers do not bill generations that they refuse
		}
	}
	o.Join = h.join(s, t.Attempt, func(tx *store.Tx, work Work) error {
		leave(tx, s.Owner, t.Risk)
		f, hold := f, work.Ticket().Hold
		if isCallerError(cause) {
			f.Cost, f.Results = t.cancelCost(work.Ticket()), t.keptResults()
			f.Message += fmt.Sprintf(" The parts that were completed have cost %d credits.", f.Cost)
		}
		if err := ledger.Release(tx, h.Now(), s.Owner.Account, hold, f.Cost); err != nil {
			return err
		}
		ledger.Lose(tx, h.Now(), s.Owner.Account, lost-f.Cost)
		return work.Fail(tx, h.Now(), f)
	})
	return o, nil
}

// Cancel stops the provider, if it can be stopped, and removes the files that the resource does not show.
func (h handler) Cancel(ctx context.Context, s *task.Step) error {
	t, err := turnOf(s)
	if err != nil {
		return err
	}
	h.stop(ctx, t)
	if !t.KeepsParts {
		h.removeResults(ctx, t)
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
	if err != nil || work.WaitsForAttempt() != attempt {
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

// showProgress returns the Outcome.Join that updates the progress in the resource, or nil if nothing has changed.
func (w *Worker) showProgress(t *turn, work Work, first bool) func(context.Context, *store.Tx) error {
	percent := t.percent()
	if !first && (work == nil || !work.Progress(w.Now(), percent)) {
		return nil
	}
	return w.join(t.Step, t.Attempt, func(_ *store.Tx, work Work) error {
		if first {
			work.Start(w.Now())
		}
		work.Progress(w.Now(), percent)
		return nil
	})
}
