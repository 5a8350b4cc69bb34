// Package task is the kernel of asynchronous work. A task is work on one subject,
// taken in steps. It is an item of the state table, written in the transaction that
// makes it necessary; the relay sends its first message from the table's stream to
// the queue of its kind. A consumer takes one step for a message: it reads the task,
// calls the handler of its kind, and commits the handler's outcome together with the
// handler's own writes, on condition that no other delivery of a message has taken
// the step. Then it sends the message of the next step.
//
// So a message may arrive twice, late, out of order or not at all, and a function
// may die between any two calls: each step has one outcome. A reconciler sends the
// messages of tasks that are overdue.
//
// A handler knows its subject and nothing of queues. Its effects outside the table
// must be idempotent, or be protected by a lease (Step.Lease).
package task

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// Kind names a kind of task; each has one handler.
type Kind string

// ItemKind is the kind of a task's item; the relay acts on it.
const ItemKind = "task"

// Message is what travels through the queues for a task: a request to take one step.
type Message struct {
	ID    string         `json:"id"`
	Kind  Kind           `json:"kind"`
	Queue topology.Queue `json:"queue"`
	// Subject is the id of the resource that the work is for.
	Subject string `json:"subject"`
	tenant.Owner
	// Step is the number of the step to take, from 1.
	Step int `json:"step"`
	// Wake asks for the step that waits, whatever its number, before it is due. What a
	// handler waits for may happen twice, or be something else: a step that is taken
	// early must do no harm.
	Wake bool `json:"early,omitempty"`
	// Request is the id of the request that the work follows from; empty: none.
	Request string `json:"request_id,omitempty"`
}

// Task is work on one subject. Its document begins with the message of its next
// step.
type Task struct {
	Message
	// Label names what the task makes, such as content_item.post: the service levels count
	// it, with the time that it took. Empty: nothing that they count.
	Label string `json:"label,omitempty"`
	// Began is when the task was created.
	Began time.Time `json:"began,omitzero"`
	// DueAt is when the next step is due.
	DueAt time.Time `json:"due_at"`
	// Deadline is when the task fails with ErrDeadline; zero: never.
	Deadline time.Time `json:"deadline,omitzero"`
	// Parked says that no queue holds the message of the next step: it is sent when the
	// step is almost due.
	Parked bool `json:"parked,omitempty"`
	// Failures counts the attempts at this step that failed.
	Failures int `json:"failures,omitempty"`
	// Lease is the right to take this step, where its handler asked for it.
	Lease *Lease `json:"lease,omitempty"`
	// Payload is the handler's own.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Lease is the exclusive right to do something until a time. Its holder renews it
// as long as it lives.
type Lease struct {
	By    string    `json:"by"`
	Until time.Time `json:"until"`
}

// Live reports whether the lease is still good at the given time.
func (l *Lease) Live(now time.Time) bool { return l != nil && now.Before(l.Until) }

// The states of a task. The state is kept beside the document, so that canceling
// need not read the task.
const (
	running  = "running"
	canceled = "canceled" // its handler has yet to clean up
	ended    = "ended"
)

const stateFilter = "state"

// keep is how long an ended task stays for those who look into a failure.
const keep = 7 * 24 * time.Hour

// ID returns the id of the task of a kind for an attempt at a subject: writing it
// twice conflicts.
func ID(kind Kind, subject string, attempt int) string {
	return fmt.Sprintf("task#%s#%s#%d", kind, subject, attempt)
}

// Create adds a task to the transaction. The caller sets ID, Kind, Queue, Subject
// and Owner, and Deadline and DueAt where they differ from none and now.
func Create(tx *store.Tx, now time.Time, t Task, payload any) error {
	t.Step, t.Began, t.Request = 1, now, tx.Origin
	if t.DueAt.IsZero() {
		t.DueAt = now
	}
	t.park(now)
	if err := t.encode(payload); err != nil {
		return err
	}
	it := store.Item{Key: store.IDKey(t.ID), Kind: ItemKind, Owner: t.Owner}
	if err := t.write(&it, running); err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// Cancel adds to the transaction that a task, whose item was read, is to end early.
// Its handler cleans up in the background. Where the task has ended it returns
// store.ErrConflict, and where it has moved on since it was read, the commit does.
func Cancel(tx *store.Tx, it store.Item) error {
	if it.Kind != ItemKind || it.Filters[stateFilter] != running {
		return fmt.Errorf("task: cancel %s: %w", it.PK, store.ErrConflict)
	}
	it.Filters = maps.Clone(it.Filters)
	it.Filters[stateFilter] = canceled
	tx.Replace(it)
	return nil
}

// Reschedule adds to the transaction that the next step of a task, whose item was read,
// is due at another time. It does nothing where the task has ended. No message is sent:
// the step is taken when that of the earlier time arrives, or by the reconciler.
func Reschedule(tx *store.Tx, it store.Item, at time.Time) error {
	if it.Kind != ItemKind || it.Filters[stateFilter] != running {
		return nil
	}
	var t Task
	if err := it.Decode(&t); err != nil {
		return err
	}
	t.DueAt = at
	if err := t.write(&it, running); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// write puts the task and what it is found by into its item.
func (t *Task) write(it *store.Item, state string) error {
	it.Filters = map[string]string{stateFilter: state}
	it.Due, it.ExpireAt = store.Key{}, time.Time{}
	if state == ended {
		it.ExpireAt = t.DueAt.Add(keep)
	} else {
		it.Due = t.set().Key(t.ID, t.DueAt)
	}
	return it.Encode(t)
}

// park notes whether a queue can hold back the message of the next step.
func (t *Task) park(now time.Time) { t.Parked = t.DueAt.Sub(now) > queue.LongestDelay }

// set is the set by which the task's next step is found.
func (t *Task) set() Set {
	if t.Parked {
		return Parked
	}
	return Tasks
}

// Next is the message that follows a step, held back for Delay.
type Next struct {
	Message
	Delay time.Duration
}

// next returns the message of the task's next step.
func (t *Task) next(now time.Time) *Next {
	return &Next{t.Message, max(0, t.DueAt.Sub(now))}
}

// Handler does the steps of one kind of task.
type Handler interface {
	// Step takes the next step. An error is retried with back-off; see Retry and
	// Permanent. The payload of the outcome is kept with an error, too.
	Step(ctx context.Context, s *Step) (Outcome, error)
	// Fail returns the outcome that ends the task without success. The cause is
	// ErrDeadline, or the error of the last attempt at a step.
	Fail(ctx context.Context, s *Step, cause error) (Outcome, error)
	// Cancel cleans up after a task that was canceled. Those who canceled it have
	// settled everything in the table; what fails here is only waste.
	Cancel(ctx context.Context, s *Step) error
}

// Outcome is what a step has led to.
type Outcome struct {
	// Payload replaces the task's payload; nil leaves it.
	Payload any
	// Done ends the task. Otherwise the next step is due after Wait, on Queue: empty
	// leaves the queue.
	Done  bool
	Wait  time.Duration
	Queue topology.Queue
	// Deadline replaces the task's deadline; zero leaves it. A task that has to wait for
	// something that may take any time puts it off.
	Deadline time.Time
	// Join adds what the step changes elsewhere to the transaction that commits the
	// outcome: the subject, its events and money, a counter of what it is part of. It
	// reads what it changes, and is called again where that has changed meanwhile; it
	// may change what Payload points to. It returns ErrMoved where the subject no longer
	// waits for the task.
	Join func(ctx context.Context, tx *store.Tx) error
	// Undo undoes an effect outside the table. It is called where the outcome was not
	// committed because the task has moved on without it; now is the task as it is, nil
	// where there is none any more.
	Undo func(ctx context.Context, now *Task)
}
