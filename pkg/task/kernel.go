package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/store"
)

// Config has the dependencies of a kernel.
type Config struct {
	DB       *store.DB
	Handlers map[Kind]Handler
	Now      func() time.Time
	// Name returns a new unique name for the holder of a lease.
	Name func() string
	// Chance returns a random number from 0 to 1, which spreads the waits before repeated steps.
	Chance func() float64
	// Observe is called with each ended task that has a label. It may be nil. The kernel only logs its error, because
	// the work is done.
	Observe func(context.Context, EndedTask) error
}

// EndedTask describes a task that has ended.
type EndedTask struct {
	Owner tenant.Owner
	// Label names the result of the task.
	Label string
	At    time.Time
	Took  time.Duration
	// Done reports that the task succeeded.
	Done bool
}

// Kernel takes the steps of tasks. Do takes one: it reads the task, finds out whether the step is due and free, calls
// the handler of its kind, and commits the outcome. The methods below follow that order.
type Kernel struct {
	Config
	mu     sync.Mutex
	leases map[*Step]bool // steps that hold a lease
	// guards bounds the steps that read files of callers at the same time: see Step.Guard.
	guards *semaphore.Weighted
}

// NewKernel makes a kernel, which takes no step before it gets a message.
func NewKernel(c Config) *Kernel {
	return &Kernel{Config: c, leases: map[*Step]bool{}, guards: semaphore.NewWeighted(allGuards)}
}

// maxReads bounds how often Do reads a task again because it was changed between reading and writing.
const maxReads = 4

// early is how long before its step is due a message may arrive and still start it. Queues delay messages by whole
// seconds.
const early = time.Second

// Do takes the step that a message requests, unless it was taken already. It returns the message to send next, or nil
// if there is none. The argument queued is the queue's id of the message, which it keeps when it is delivered again.
// After an error the queue must deliver the message again.
func (k *Kernel) Do(ctx context.Context, m Message, queued string) (*Next, error) {
	for range maxReads {
		next, err := k.take(ctx, m, queued)
		if !errors.Is(err, ErrMoved) {
			return next, err
		}
	}
	return nil, errs.New(errs.ProviderUnavailable, "The task %s keeps changing.", m.ID)
}

// take reads the task of a message, and takes the step if it is due. It returns ErrMoved if the task has changed
// between reading and writing.
//
// The function that takes a step sends the next message after its write. It may die between the two. Then the queue
// delivers its message again, and this delivery sends the next one. No other message of the step sends anything: if
// each copy of a message led to a copy of the next, a task of many steps would have more and more of them.
func (k *Kernel) take(ctx context.Context, m Message, queued string) (*Next, error) {
	s, err := k.read(ctx, m.ID)
	if err != nil || s == nil {
		return nil, err
	}
	s.queued = queued
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
		return nil, nil // taken, and the next step, too
	case m.Step == s.Step-1 && queued != s.TakenBy:
		return nil, nil // taken by another message
	case m.Step == s.Step-1:
		return s.next(now), nil
	case state == canceled:
		return nil, k.abandon(ctx, h, s)
	case !s.Deadline.IsZero() && !now.Before(s.Deadline):
		return nil, k.fail(ctx, h, s, ErrDeadline)
	case s.Task.Lease.Live(now) && !s.Task.Lease.Shared:
		// Another delivery has the step, or has died. The repeated message keeps Wake: without it the step may be due
		// much later.
		again := s.Message
		again.Wake = m.Wake
		return &Next{again, s.Task.Lease.Until.Sub(now)}, nil
	case s.DueAt.Sub(now) > early && !m.Wake:
		return s.next(now), nil
	}
	return k.step(ctx, h, s)
}

// read reads a task. It returns nil if the task no longer exists.
func (k *Kernel) read(ctx context.Context, id string) (*Step, error) {
	it, err := k.DB.Lookup(ctx, store.IDKey(id))
	if err != nil || it.PK == "" {
		return nil, err
	}
	s := &Step{k: k, item: it}
	if err := it.Decode(&s.Task); err != nil {
		return nil, err
	}
	lease := s.Task.Lease
	if s.Interrupted = lease != nil && !(lease.Shared && lease.Live(k.Now())); s.Interrupted {
		s.Deaths++ // it is written with the next lease
	}
	return s, nil
}

// step takes the step that is due.
func (k *Kernel) step(ctx context.Context, h Handler, s *Step) (*Next, error) {
	defer s.release()
	number, began := s.Step, k.Now()
	o, err := h.Step(ctx, s)
	switch {
	case err == nil:
		done, err := s.commit(ctx, o, tries{})
		if err != nil {
			return nil, err
		}
		if done {
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
	var age time.Duration
	if !s.Began.IsZero() {
		age = k.Now().Sub(s.Began)
	}
	if !Throttled(err) {
		metric.Failed()
	}
	wait, failures, final := classify(err, s.Failures, age, k.Chance())
	if final {
		return nil, k.fail(ctx, h, s, err)
	}
	slog.Warn("step failed", "task", s.ID, "step", s.Step, "request_id", s.Request, "account_id", s.Account, "failures",
		failures, "wait", wait.String(), "error", err)
	if _, err := s.commit(ctx, Outcome{Payload: o.Payload, Wait: wait},
		tries{failures, s.Deaths}); err != nil {
		return nil, err
	}
	k.report(ctx, s, number, began, "again")
	return s.next(k.Now()), nil
}

// fail ends a task without success.
func (k *Kernel) fail(ctx context.Context, h Handler, s *Step, cause error) error {
	slog.Warn("task failed", "task", s.ID, "step", s.Step, "request_id", s.Request, "account_id", s.Account,
		"error", cause)
	number, began := s.Step, k.Now()
	var o Outcome
	if f, ok := h.(Failer); ok {
		var err error
		if o, err = f.Fail(ctx, s, cause); err != nil {
			return err
		}
	}
	o.Done = true
	if _, err := s.commit(ctx, o, tries{}); err != nil {
		return err
	}
	k.report(ctx, s, number, began, "failed")
	return nil
}

// TaskMilliseconds is the metric of the time from the creation of a task to its success, by kind.
const TaskMilliseconds = "TaskMilliseconds"

// report logs a step that was taken, with its outcome and duration, and counts the task if it has ended.
func (k *Kernel) report(ctx context.Context, s *Step, number int, began time.Time, outcome string) {
	now := k.Now()
	slog.Info("step", "request_id", s.Request, "account_id", s.Account, "mode", s.Mode, "kind", s.Kind, "subject",
		s.Subject, "step", number,
		"outcome", outcome, "ms", now.Sub(began).Milliseconds(), "age_ms", now.Sub(s.Began).Milliseconds())
	done := outcome == "done"
	if !done && outcome != "failed" || s.Began.IsZero() {
		return
	}
	took := now.Sub(s.Began)
	if done {
		metric.Measure(TaskMilliseconds, "kind", strings.TrimSuffix(string(s.Kind)+"-"+s.Label, "-"),
			took.Milliseconds())
	}
	if s.Label == "" || k.Observe == nil {
		return
	}
	if err := k.Observe(ctx, EndedTask{Owner: s.Owner, Label: s.Label, At: now, Took: took, Done: done}); err != nil {
		slog.Error("generation not counted", "task", s.ID, "error", err) // the work of the task is done
	}
}

// abandon ends a task that was canceled.
func (k *Kernel) abandon(ctx context.Context, h Handler, s *Step) error {
	if c, ok := h.(Canceler); ok {
		if err := c.Cancel(ctx, s); err != nil {
			slog.Warn("canceled task not cleaned up", "task", s.ID, "error", err)
		}
	}
	_, err := s.commit(ctx, Outcome{Done: true}, tries{})
	return err
}

// orphan ends a task whose subject does not wait for it, which is a defect. It returns ErrMoved if the task was changed
// since it was read: then it may only have been canceled.
func (k *Kernel) orphan(ctx context.Context, s *Step) error {
	now, err := k.DB.Lookup(ctx, s.item.Key)
	if err != nil {
		return err
	}
	if now.Version != s.item.Version {
		return ErrMoved
	}
	slog.Error("task without a subject", "task", s.ID, "subject", s.Subject)
	_, err = s.commit(ctx, Outcome{Done: true}, tries{})
	return err
}
