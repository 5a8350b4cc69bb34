package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/record/quota"
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

// removal is the payload of a Remove task.
type removal struct {
	Attempts int `json:"attempts"`
}

// RemoveFiles adds the task that removes the files of all attempts of a resource to the transaction that deletes the
// resource. The argument attempts is the number of the last attempt.
func RemoveFiles(tx *store.Tx, now time.Time, o tenant.Owner, subject string, attempts int) error {
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(Remove, subject, 1), Kind: Remove, Queue: topology.GenerateText, Subject: subject, Owner: o,
	}}, removal{attempts})
}

// removeFiles removes the files of a deleted resource, and their entries in the register. It tries without end: files
// that a customer has deleted must not stay.
func (w *Worker) removeFiles(ctx context.Context, s *task.Run) error {
	var r removal
	if err := s.Decode(&r); err != nil {
		return err
	}
	for attempt := range r.Attempts {
		if err := w.Objects.Remove(ctx, placeOf(s.Owner, s.Subject, attempt+1)); err != nil {
			return task.Again(fmt.Errorf("generate: remove the files of %s: %w", s.Subject, err))
		}
	}
	if err := unregister(ctx, w.DB, s.Subject); err != nil {
		return task.Again(err)
	}
	return s.End(func(ctx context.Context, tx *store.Tx) error { return quota.FreeBytes(ctx, w.DB, tx, s.Subject) })
}
