package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

// Config is what a kernel works with.
type Config struct {
	DB       *store.DB
	Handlers map[Kind]Handler
	Now      func() time.Time
	// Name returns a unique text, which identifies the holder of a lease.
	Name func() string
	// Chance returns a random number from 0 to 1: it spreads waits.
	Chance func() float64
	// Observe counts a task with a label that has ended. It may be nil. Its error is
	// logged alone, since the work is done.
	Observe func(context.Context, Ended) error
}

// Ended describes a task that has ended.
type Ended struct {
	Owner tenant.Owner
	// Label says what the task has made.
	Label string
	At    time.Time
	Took  time.Duration
	// Done reports that it succeeded.
	Done bool
}

// Kernel takes the steps of tasks.
type Kernel struct {
	Config
	mu   sync.Mutex
	held map[*Step]bool // steps that hold a lease
}

// NewKernel makes a kernel.
func NewKernel(c Config) *Kernel { return &Kernel{Config: c, held: map[*Step]bool{}} }

// maxLooks bounds how often a message looks at its task anew, because the task was
// changed between reading and writing.
const maxLooks = 4

// early is how much before its time a message may arrive and still count as due:
// queues wait in whole seconds.
const early = time.Second

// Do takes the step that a message asks for, if it is still to be taken, and returns
// the message of the step that follows; nil where none does. The receives are how
// often the queue has delivered the message. After an error the message is to be
// delivered again.
func (k *Kernel) Do(ctx context.Context, m Message, receives int) (*Next, error) {
	for range maxLooks {
		next, err := k.take(ctx, m, receives)
		if !errors.Is(err, ErrMoved) {
			return next, err
		}
		// It may have been this message's own write, whose answer was lost: then this
		// delivery has to send what follows.
		receives = max(receives, 2)
	}
	return nil, errs.New(errs.ProviderUnavailable, "The task %s keeps changing.", m.ID)
}

func (k *Kernel) take(ctx context.Context, m Message, receives int) (*Next, error) {
	s, err := k.read(ctx, m.ID)
	if err != nil || s == nil {
		return nil, err
	}
	h, ok := k.Handlers[s.Kind]
	if !ok {
		return nil, fmt.Errorf("task: no handler for the kind %q of %s", s.Kind, s.ID)
	}
	now := k.Now()
	if m.Wake {
		m.Step = s.Step
	}
	switch state := s.item.Filters[stateFilter]; {
	case state == ended || m.Step < s.Step-1:
		return nil, nil // taken, and so was what follows
	case m.Step == s.Step-1 && receives < 2:
		return nil, nil // taken by another function, which sends what follows
	case m.Step == s.Step-1:
		// The function that took the step may have died before it sent what follows.
		return s.next(now), nil
	case state == canceled:
		return nil, k.abandon(ctx, h, s)
	case !s.Deadline.IsZero() && !now.Before(s.Deadline):
		return nil, k.fail(ctx, h, s, ErrDeadline)
	case s.Task.Lease.Live(now):
		// Another delivery takes it, or has died. What wakes the task still does then: its step
		// may be due much later.
		again := s.Message
		again.Wake = m.Wake
		return &Next{again, s.Task.Lease.Until.Sub(now)}, nil
	case s.DueAt.Sub(now) > early && !m.Wake:
		return s.next(now), nil
	}
	return k.step(ctx, h, s)
}

// read reads a task; nil where there is none any more.
func (k *Kernel) read(ctx context.Context, id string) (*Step, error) {
	it, err := k.DB.Get(ctx, store.IDKey(id))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Step{k: k, item: it}
	if err := it.Decode(&s.Task); err != nil {
		return nil, err
	}
	s.Interrupted = s.Task.Lease != nil
	return s, nil
}

// step takes the step that is due.
func (k *Kernel) step(ctx context.Context, h Handler, s *Step) (*Next, error) {
	defer s.release()
	number, began := s.Step, k.Now()
	o, err := h.Step(ctx, s)
	switch {
	case err == nil:
		if err := s.commit(ctx, o, 0); err != nil {
			return nil, err
		}
		if o.Done {
			k.report(ctx, s, number, began, "done")
			return nil, nil
		}
		k.report(ctx, s, number, began, "next")
		return s.next(k.Now()), nil
	case errors.Is(err, ErrMoved) || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, ErrOrphaned):
		return nil, k.orphan(ctx, s)
	}
	failures := s.Failures + 1
	wait, final := classify(err, failures, k.Chance())
	if final {
		return nil, k.fail(ctx, h, s, err)
	}
	slog.Warn("step failed", "task", s.ID, "step", s.Step, "request_id", s.Request, "account_id", s.Account, "failures", failures, "wait", wait.String(), "error", err)
	if err := s.commit(ctx, Outcome{Payload: o.Payload, Wait: wait}, failures); err != nil {
		return nil, err
	}
	k.report(ctx, s, number, began, "again")
	return s.next(k.Now()), nil
}

// fail ends a task without success.
func (k *Kernel) fail(ctx context.Context, h Handler, s *Step, cause error) error {
	slog.Warn("task failed", "task", s.ID, "step", s.Step, "request_id", s.Request, "account_id", s.Account, "error", cause)
	number, began := s.Step, k.Now()
	o, err := h.Fail(ctx, s, cause)
	if err != nil {
		return err
	}
	o.Done = true
	if err := s.commit(ctx, o, 0); err != nil {
		return err
	}
	k.report(ctx, s, number, began, "failed")
	return nil
}

// TaskMilliseconds measures the time from the creation of a task to its success, by kind.
const TaskMilliseconds = "TaskMilliseconds"

// report writes the line of the log that each step has that was taken: what it led to, and
// how long it took. It counts what was made.
func (k *Kernel) report(ctx context.Context, s *Step, number int, began time.Time, outcome string) {
	now := k.Now()
	slog.Info("step", "request_id", s.Request, "account_id", s.Account, "mode", s.Mode, "kind", s.Kind, "subject", s.Subject, "step", number,
		"outcome", outcome, "ms", now.Sub(began).Milliseconds(), "age_ms", now.Sub(s.Began).Milliseconds())
	done := outcome == "done"
	if !done && outcome != "failed" || s.Began.IsZero() {
		return
	}
	took := now.Sub(s.Began)
	if done {
		metric.Measure(TaskMilliseconds, "kind", strings.TrimSuffix(string(s.Kind)+"-"+s.Label, "-"), took.Milliseconds())
	}
	if s.Label == "" || k.Observe == nil {
		return
	}
	if err := k.Observe(ctx, Ended{Owner: s.Owner, Label: s.Label, At: now, Took: took, Done: done}); err != nil {
		slog.Error("generation not counted", "task", s.ID, "error", err) // its work is done
	}
}

// abandon ends a task that was canceled.
func (k *Kernel) abandon(ctx context.Context, h Handler, s *Step) error {
	if err := h.Cancel(ctx, s); err != nil {
		slog.Warn("canceled task not cleaned up", "task", s.ID, "error", err)
	}
	return s.commit(ctx, Outcome{Done: true}, 0)
}

// orphan ends a task whose subject does not wait for it. Where the task itself was
// changed meanwhile, as by canceling, there is nothing wrong.
func (k *Kernel) orphan(ctx context.Context, s *Step) error {
	now, err := k.DB.Get(ctx, s.item.Key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if now.Version != s.item.Version {
		return ErrMoved
	}
	slog.Error("task without a subject", "task", s.ID, "subject", s.Subject)
	return s.commit(ctx, Outcome{Done: true}, 0)
}
