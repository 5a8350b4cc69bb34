package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/store"
)

// leaseTime is the duration of a lease that is not renewed. A lease is renewed if it ends within renewTime. A step
// whose function has died is taken again after at most leaseTime.
const (
	leaseTime = 15 * time.Second
	renewTime = 8 * time.Second
)

// writeAttribute identifies the last write of a task's item, so that a write whose answer was lost can be recognized.
const writeAttribute = "write"

// renewTimeout bounds the renewals of one heartbeat. The next one follows soon.
const renewTimeout = time.Second

// Step is one step of a task, while its handler takes it.
type Step struct {
	Task
	// Interrupted reports that an earlier attempt at this step took the lease and died with it. The effect of that
	// attempt may have happened.
	Interrupted bool

	k *Kernel
	// queued is the queue's id of the message that requested the step.
	queued string
	// by is the name under which this attempt holds the lease, empty if it holds none.
	by string
	// span is the duration of that lease, and shared says of which kind it is.
	span   time.Duration
	shared bool
	// mu excludes concurrent renewals and commits.
	mu   lock.Mutex
	item store.Item // as it is stored
	// guard is what the step holds of the kernel's guards.
	guard int64
	// onLost is called when a renewal finds that the lease is lost. It is nil if nothing waits for that.
	onLost context.CancelCauseFunc
}

// Decode reads the payload, if there is one, into v.
func (s *Step) Decode(v any) error {
	if len(s.Payload) == 0 {
		return nil
	}
	if err := json.Unmarshal(s.Payload, v); err != nil {
		return fmt.Errorf("task: decode the payload of %s: %w", s.ID, err)
	}
	return nil
}

// Lease takes the lease of the step, before an effect that must not happen twice at a time. The lease is renewed until
// the step is committed. The payload replaces the task's unless it is nil. Lease returns ErrMoved if another delivery
// was first.
func (s *Step) Lease(ctx context.Context, payload any) error {
	return s.LeaseFor(ctx, leaseTime, payload)
}

// LeaseFor is Lease with another duration, for an effect that is made again soon after its function has died. A lease
// that is shorter than the time between two heartbeats may end while its holder lives.
func (s *Step) LeaseFor(ctx context.Context, span time.Duration, payload any) error {
	return s.lease(ctx, span, payload, false)
}

func (s *Step) lease(ctx context.Context, span time.Duration, payload any, shared bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.encode(payload); err != nil {
		return err
	}
	s.by, s.span, s.shared = s.k.Name(), span, shared
	if err := s.extend(ctx); err != nil {
		return err
	}
	s.k.hold(s)
	return nil
}

// allGuards bounds the steps that read files of callers at the same time in a process.
const allGuards = 1 << 10

// Guard takes the lease of a step before it reads a file of a caller. Such a file can end the function, for example by
// using up its memory. Guard counts these deaths: after the third it returns ErrDeaths as a permanent error, so that
// the task fails. The payload is that of Lease. A step that has ended a function before waits until no other guarded
// step runs in this process: otherwise its deaths would count for the others of its batch.
func (s *Step) Guard(ctx context.Context, payload any) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	return s.Lease(ctx, payload)
}

// GuardShared is Guard for a step that may be taken twice at a time. The second of two functions counts no death.
func (s *Step) GuardShared(ctx context.Context) error {
	if err := s.alone(ctx); err != nil {
		return err
	}
	if s.Task.Lease.Live(s.k.Now()) {
		return nil
	}
	return s.lease(ctx, leaseTime, nil, true)
}

// Reading calls a function that reads a file of a caller, as GuardShared guards a step. The rest of the step is not
// guarded: a function that dies of it is not counted, and only deaths in a row are.
func (s *Step) Reading(ctx context.Context, read func() error) error {
	if err := s.GuardShared(ctx); err != nil {
		return err
	}
	err := read()
	s.release()
	s.Deaths = 0 // this one has lived
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == "" {
		return err // another function holds the lease
	}
	s.Task.Lease = nil
	over := s.write(ctx, Outcome{}, func(*Outcome) (Task, string) { return s.Task, running })
	s.by = ""
	return errors.Join(err, over)
}

// alone waits until no other step of this process can die of what this one reads, or be the cause of its death.
func (s *Step) alone(ctx context.Context) error {
	if s.Deaths >= MostDeaths {
		return Permanent(fmt.Errorf("%w: %d of step %d of %s", ErrDeaths, s.Deaths, s.Step, s.ID))
	}
	if s.guard > 0 {
		return nil
	}
	weight := int64(1)
	if s.Deaths > 0 {
		weight = allGuards
	}
	if err := s.k.guards.Acquire(ctx, weight); err != nil {
		return fmt.Errorf("task: guard %s: %w", s.ID, err)
	}
	s.guard = weight
	return nil
}

// WhileHeld returns a context that ends with the cause ErrMoved when a renewal finds that the task was canceled or that
// the lease was lost. The returned function ends the context and releases its resources.
func (s *Step) WhileHeld(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLost = end
	return ctx, end
}

// extend writes the lease with a later end.
func (s *Step) extend(ctx context.Context) error {
	s.Task.Lease = &Lease{By: s.by, Until: s.k.Now().Add(s.span), Shared: s.shared}
	return s.write(ctx, Outcome{}, func(*Outcome) (Task, string) { return s.Task, running })
}

// encode sets the payload of the task, unless it is nil.
func (t *Task) encode(payload any) error {
	if payload != nil {
		doc, err := json.Marshal(payload)
		if err != nil {
			return fmt.Errorf("task: encode the payload of %s: %w", t.ID, err)
		}
		t.Payload = doc
	}
	return nil
}

// write replaces the task's item by the task and the state that after returns, in one transaction with the writes that
// the outcome joins. The caller holds mu. The step's own task stays as it is: the handler may read it at the same time.
func (s *Step) write(ctx context.Context, o Outcome, after func(*Outcome) (Task, string)) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	it := s.item
	it.Attributes = map[string]string{writeAttribute: s.k.Name()}
	for conflicts, try := 0, 0; ; {
		now, err := s.try(ctx, &it, o, after)
		var permanent *PermanentError
		switch {
		case err == nil:
			it.Version++
			s.item = it
			return nil
		case errors.Is(err, store.ErrConflict):
		case s.by == "" || errors.Is(err, ErrMoved) || errors.Is(err, ErrOrphaned) || errors.As(err, &permanent):
			return fmt.Errorf("task: write %s: %w", s.ID, err)
		default:
			// The result of an effect must not be forgotten: retry for as long as the function has time.
			try++
			if over := backoff.Wait(ctx, try, first, longest); over != nil {
				return errors.Join(over, err)
			}
			continue
		}
		// Find the item that was changed: the task, or one that the step joins.
		switch {
		case now.Version == it.Version:
			if conflicts++; conflicts == maxReads {
				return fmt.Errorf("task: write %s: what it joins keeps changing: %w", s.ID, store.ErrConflict)
			}
		case now.Attributes[writeAttribute] == it.Attributes[writeAttribute]:
			s.item = now // our own write, whose answer was lost
			return nil
		case s.ours(now):
			it.Version = now.Version
		default:
			return ErrMoved
		}
	}
}

// try writes the task once, with the writes that the outcome joins. After store.ErrConflict it returns the current item
// of the task.
func (s *Step) try(ctx context.Context, it *store.Item, o Outcome,
	after func(*Outcome) (Task, string)) (now store.Item, err error) {
	tx := &store.Tx{Origin: s.Request}
	if o.Join != nil {
		if err := o.Join(ctx, tx); err != nil {
			return now, err
		}
	}
	t, state := after(&o)
	if err := errors.Join(t.encode(o.Payload), t.write(it, state)); err != nil {
		return now, Permanent(err)
	}
	tx.Replace(*it)
	err = s.k.DB.Commit(ctx, tx)
	if !errors.Is(err, store.ErrConflict) {
		return now, err
	}
	now, failed := s.k.DB.Get(ctx, it.Key)
	if failed != nil && !errors.Is(failed, store.ErrNotFound) {
		return now, failed
	}
	return now, err
}

// ours reports whether the task is still at this step under the lease of this attempt, so that only a renewal whose
// answer was lost can have changed it.
func (s *Step) ours(now store.Item) bool {
	var is Task
	return s.by != "" && now.Filters[stateFilter] == running && now.Decode(&is) == nil &&
		is.Step == s.Step && is.Lease != nil && is.Lease.By == s.by
}

// tries are the attempts at a step that count for the next one.
type tries struct{ failures, deaths int }

// commit writes the outcome of the step: the task at its next step or at its end, and the writes that the outcome
// joins. It reports whether the task has ended.
func (s *Step) commit(ctx context.Context, o Outcome, after tries) (done bool, err error) {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	var t Task
	err = s.write(ctx, o, func(o *Outcome) (Task, string) {
		t, done = s.Task, o.Done
		t.Step++
		t.TakenBy = s.queued
		now := s.k.Now()
		t.Lease, t.Failures, t.Deaths, t.DueAt = nil, after.failures, after.deaths, now.Add(o.Wait)
		if o.Due != nil {
			at, more := o.Due()
			if done = !more; more {
				t.DueAt = at
			}
		}
		t.park(now)
		if o.Queue != "" {
			t.Queue = o.Queue
		}
		if !o.Deadline.IsZero() {
			t.Deadline = o.Deadline
		}
		if done {
			return t, ended
		}
		return t, running
	})
	switch {
	case err == nil:
		s.Task = t
		if o.OnCommit != nil {
			o.OnCommit(ctx)
		}
	case errors.Is(err, ErrMoved) && o.Undo != nil:
		if now, failed := s.k.read(ctx, s.ID); failed == nil {
			var is *Task
			if now != nil {
				is = &now.Task
			}
			o.Undo(ctx, is)
		}
	}
	return done, err
}

// hold adds the step to those whose leases are renewed.
func (k *Kernel) hold(s *Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leases[s] = true
}

// release ends the renewals of the step's lease, and its guard.
func (s *Step) release() {
	if s.guard > 0 {
		s.k.guards.Release(s.guard)
		s.guard = 0
	}
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	delete(s.k.leases, s)
}

// Renew renews the leases that end soon. It is called by a heartbeat.
func (k *Kernel) Renew(ctx context.Context) {
	k.mu.Lock()
	var soon []*Step
	for s := range k.leases {
		soon = append(soon, s)
	}
	k.mu.Unlock()
	slices.SortFunc(soon, func(a, b *Step) int { return strings.Compare(a.ID, b.ID) })
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	for _, s := range soon {
		if ctx.Err() != nil {
			return // the function has ended its work, or its time for this heartbeat is over
		}
		s.renew(ctx)
	}
}

func (s *Step) renew(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.k.mu.Lock()
	held := s.k.leases[s]
	s.k.mu.Unlock()
	if held && s.Task.Lease.Until.Sub(s.k.Now()) <= renewTime {
		// A failure needs no retry: the next heartbeat follows. If another function has taken the step, the commit
		// finds that out, too.
		if err := s.extend(ctx); errors.Is(err, ErrMoved) && s.onLost != nil {
			s.onLost(ErrMoved)
		}
	}
}
