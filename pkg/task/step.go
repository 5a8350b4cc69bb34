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

// leaseTime is how long a lease is good that is not renewed, and renewTime how long
// before its end it is renewed. A step whose function has died is taken again after
// leaseTime at most.
const (
	leaseTime = 15 * time.Second
	renewTime = 8 * time.Second
)

// writeAttribute names the last write of a task's item, so that a write whose answer
// was lost knows itself again.
const writeAttribute = "write"

// renewTimeout bounds the renewals of one heartbeat: the next one follows soon.
const renewTimeout = time.Second

// Step is one step of a task, in the hands of its handler.
type Step struct {
	Task
	// Interrupted reports that an earlier attempt at this step took the lease and died
	// with it: its effect may have happened.
	Interrupted bool

	k *Kernel
	// by is the name under which this attempt holds the lease; empty: it does not.
	by string
	// mu keeps the renewal of the lease and the commit apart.
	mu   lock.Mutex
	item store.Item // as it is stored
	// lost is called when a renewal finds that the lease is lost; nil: nothing waits.
	lost context.CancelCauseFunc
}

// Decode reads the payload into v.
func (s *Step) Decode(v any) error {
	if err := json.Unmarshal(s.Payload, v); err != nil {
		return fmt.Errorf("task: decode the payload of %s: %w", s.ID, err)
	}
	return nil
}

// Lease takes the lease of the step, before an effect that must not happen twice at
// a time. It is renewed until the step is committed. The payload replaces the
// task's, if it is not nil. It returns ErrMoved where another delivery was first.
func (s *Step) Lease(ctx context.Context, payload any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.encode(payload); err != nil {
		return err
	}
	s.by = s.k.Name()
	if err := s.extend(ctx); err != nil {
		return err
	}
	s.k.hold(s)
	return nil
}

// WhileHeld returns a context that ends with the cause ErrMoved when a renewal of the
// lease finds that the task was canceled, or was taken over. The function releases what
// belongs to the context, and ends it.
func (s *Step) WhileHeld(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, end := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = end
	return ctx, end
}

// extend writes the lease with a later end.
func (s *Step) extend(ctx context.Context) error {
	s.Task.Lease = &Lease{By: s.by, Until: s.k.Now().Add(leaseTime)}
	return s.write(ctx, s.Task, running, Outcome{})
}

// encode puts a payload into the task; nil leaves the one that it has.
func (t *Task) encode(payload any) (err error) {
	if payload != nil {
		if t.Payload, err = json.Marshal(payload); err != nil {
			return fmt.Errorf("task: encode the payload of %s: %w", t.ID, err)
		}
	}
	return nil
}

// write replaces the task's item by t, together with what the outcome joins. The
// caller holds mu.
func (s *Step) write(ctx context.Context, t Task, state string, o Outcome) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second
	it := s.item
	it.Attributes = map[string]string{writeAttribute: s.k.Name()}
	for conflicts, try := 0, 0; ; {
		now, err := s.try(ctx, &it, &t, state, o)
		var permanent *PermanentError
		switch {
		case err == nil:
			it.Version++
			s.item, s.Task = it, t
			return nil
		case errors.Is(err, store.ErrConflict):
		case s.by == "" || errors.Is(err, ErrMoved) || errors.Is(err, ErrOrphaned) || errors.As(err, &permanent):
			return fmt.Errorf("task: write %s: %w", s.ID, err)
		default:
			// What an effect has led to must not be forgotten: that is tried for as long as
			// the function has time.
			try++
			if over := backoff.Wait(ctx, try, first, longest); over != nil {
				return errors.Join(over, err)
			}
			continue
		}
		// Which item was changed: the task, or one of those that the step joins?
		switch {
		case now.Version == it.Version:
			if conflicts++; conflicts == maxLooks {
				return fmt.Errorf("task: write %s: what it joins keeps changing: %w", s.ID, store.ErrConflict)
			}
		case now.Attributes[writeAttribute] == it.Attributes[writeAttribute]:
			s.item, s.Task = now, t // our own write, whose answer was lost
			return nil
		case s.ours(now):
			it.Version = now.Version
		default:
			return ErrMoved
		}
	}
}

// try writes the task once, with what the outcome joins. After store.ErrConflict it
// returns the task's item as it is.
func (s *Step) try(ctx context.Context, it *store.Item, t *Task, state string, o Outcome) (now store.Item, err error) {
	tx := &store.Tx{Origin: t.Request}
	if o.Join != nil {
		if err := o.Join(ctx, tx); err != nil {
			return now, err
		}
	}
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

// ours reports whether the task is still at this step under the lease of this
// attempt, so that it was changed by nothing but a renewal whose answer was lost.
func (s *Step) ours(now store.Item) bool {
	var is Task
	return s.by != "" && now.Filters[stateFilter] == running && now.Decode(&is) == nil &&
		is.Step == s.Step && is.Lease != nil && is.Lease.By == s.by
}

// commit writes the outcome of the step: the task at its next step, or its end, and
// what the outcome joins.
func (s *Step) commit(ctx context.Context, o Outcome, failures int) error {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	t, state := s.Task, running
	t.Step++
	now := s.k.Now()
	t.Lease, t.Failures, t.DueAt = nil, failures, now.Add(o.Wait)
	t.park(now)
	if o.Queue != "" {
		t.Queue = o.Queue
	}
	if !o.Deadline.IsZero() {
		t.Deadline = o.Deadline
	}
	if o.Done {
		state = ended
	}
	err := s.write(ctx, t, state, o)
	if errors.Is(err, ErrMoved) && o.Undo != nil {
		if now, failed := s.k.read(ctx, s.ID); failed == nil {
			var is *Task
			if now != nil {
				is = &now.Task
			}
			o.Undo(ctx, is)
		}
	}
	return err
}

// hold has the lease of the step renewed.
func (k *Kernel) hold(s *Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[s] = true
}

// release ends the renewals of the step's lease.
func (s *Step) release() {
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	delete(s.k.held, s)
}

// Renew renews the leases that end soon. A heartbeat calls it.
func (k *Kernel) Renew(ctx context.Context) {
	k.mu.Lock()
	var soon []*Step
	for s := range k.held {
		soon = append(soon, s)
	}
	k.mu.Unlock()
	slices.SortFunc(soon, func(a, b *Step) int { return strings.Compare(a.ID, b.ID) })
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	for _, s := range soon {
		s.renew(ctx)
	}
}

func (s *Step) renew(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.k.mu.Lock()
	held := s.k.held[s]
	s.k.mu.Unlock()
	if held && s.Task.Lease.Until.Sub(s.k.Now()) <= renewTime {
		// Not worth a repeat: the next heartbeat follows. Where another has taken the
		// step, the commit finds out, too.
		if err := s.extend(ctx); errors.Is(err, ErrMoved) && s.lost != nil {
			s.lost(ErrMoved)
		}
	}
}
