// Package task is the kernel of asynchronous work. A task is work on one subject, taken in steps. It is an item of the
// state table, written in the transaction that makes the work necessary. The relay reads the table's stream and sends
// the first message of the task to its queue. For each message a consumer takes one step: it reads the task, calls the
// handler of its kind, and commits the handler's outcome together with the handler's own writes, on condition that no
// other delivery of a message has taken the step. Then it sends the message of the next step.
//
// So a message may arrive twice, late, out of order or not at all, and a function may die between any two calls: each
// step still has one outcome. A reconciler sends the messages of overdue tasks again.
//
// A handler knows its subject but no queues. Its effects outside the table must be idempotent, or be protected by a
// lease (Step.Lease).
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

// Message is the message of a task in a queue: a request to take one step.
type Message struct {
	ID    string         `json:"id"`
	Kind  Kind           `json:"kind"`
	Queue topology.Queue `json:"queue"`
	// Subject is the id of the resource that the work is for.
	Subject string `json:"subject"`
	tenant.Owner
	// Step is the number of the step to take, from 1.
	Step int `json:"step"`
	// Wake requests the waiting step before it is due, whatever its number. The event that a handler waits for may
	// happen twice, or may be a different one: a step that is taken early must do no harm.
	Wake bool `json:"early,omitempty"`
	// Request is the id of the API request that caused the work, empty if there is none.
	Request string `json:"request_id,omitempty"`
	// Group shares the queue fairly with the work of other groups. If it is empty, the owner is the group: then a queue
	// is shared fairly between accounts, and between the live work of an account and its tests.
	Group string `json:"group,omitempty"`
}

// FairGroup returns the group of the message in its queue.
func (m *Message) FairGroup() string {
	if m.Group != "" {
		return m.Group
	}
	return m.Owner.String()
}

// Task is work on one subject. Its document begins with the message of its next step.
type Task struct {
	Message
	// Label names the result of the task, such as content_item.post. The service levels count tasks by label, with
	// their durations. They do not count a task without a label.
	Label string `json:"label,omitempty"`
	// Began is when the task was created.
	Began time.Time `json:"began,omitzero"`
	// DueAt is when the next step is due.
	DueAt time.Time `json:"due_at"`
	// Deadline is when the task fails with ErrDeadline. The zero time means never.
	Deadline time.Time `json:"deadline,omitzero"`
	// Parked reports that no queue holds the message of the next step. The reconciler sends it when the step is almost
	// due.
	Parked bool `json:"parked,omitempty"`
	// Failures counts the failed attempts at this step.
	Failures int `json:"failures,omitempty"`
	// Deaths counts the functions that have died of this step, or whose time it has used up: they left its lease.
	Deaths int `json:"deaths,omitempty"`
	// Lease is the lease of this step, if its handler has taken it.
	Lease *Lease `json:"lease,omitempty"`
	// Payload is the state that the handler keeps between steps.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Lease is the exclusive right to do something until a time. Its holder renews it as long as it lives.
type Lease struct {
	By    string    `json:"by"`
	Until time.Time `json:"until"`
	// Shared reports that others may take the step at the same time: the lease only tells whether its holder has died.
	Shared bool `json:"shared,omitempty"`
}

// Live reports whether the lease is still good at the given time.
func (l *Lease) Live(now time.Time) bool { return l != nil && now.Before(l.Until) }

// The states of a task. The state is kept outside the document, so that canceling need not decode the task.
const (
	running  = "running"
	canceled = "canceled" // its handler has yet to clean up
	ended    = "ended"
)

const stateFilter = "state"

// keep is the time for which an ended task stays, so that a failure can be investigated.
const keep = 7 * 24 * time.Hour

// ID returns the id of the task of a kind for an attempt at a subject. A second task with this id conflicts.
func ID(kind Kind, subject string, attempt int) string {
	return fmt.Sprintf("task#%s#%s#%d", kind, subject, attempt)
}

// Create adds a task to the transaction. The caller sets ID, Kind, Queue, Subject and Owner, a Deadline if the task has
// one, and DueAt if the task does not begin now.
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

// Cancel adds the early end of a task, whose item was read, to the transaction. Its handler cleans up in the
// background. Cancel returns store.ErrConflict if the task has ended. The commit returns it if the task has moved on
// since it was read.
func Cancel(tx *store.Tx, it store.Item) error {
	if it.Kind != ItemKind || it.Filters[stateFilter] != running {
		return fmt.Errorf("task: cancel %s: %w", it.PK, store.ErrConflict)
	}
	it.Filters = maps.Clone(it.Filters)
	it.Filters[stateFilter] = canceled
	tx.Replace(it)
	return nil
}

// Over reports whether a task, whose item was read, has ended.
func Over(it store.Item) bool { return it.Filters[stateFilter] == ended }

// Reschedule adds another due time for the next step of a task, whose item was read, to the transaction. It does
// nothing if the task has ended. No message is sent: the step is taken when the message for the earlier time arrives,
// or when the reconciler sends one.
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

// write writes the task, its filters and its key in store.ByDue into the item.
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

// park decides whether the next step is due later than a queue can delay its message.
func (t *Task) park(now time.Time) { t.Parked = t.DueAt.Sub(now) > queue.LongestDelay }

// set returns the set that lists the task.
func (t *Task) set() Set {
	if t.Parked {
		return Parked
	}
	return Tasks
}

// Next is the message of the next step, with its delay.
type Next struct {
	Message
	Delay time.Duration
}

// next returns the message of the task's next step.
func (t *Task) next(now time.Time) *Next {
	return &Next{t.Message, max(0, t.DueAt.Sub(now))}
}

// Handler takes the steps of one kind of task. Handlers of tasks that can end otherwise are Failers and Cancelers too.
type Handler interface {
	// Step takes the next step. After an error the step is retried with back-off; see RetryError and Permanent. The
	// payload of the outcome is kept even with an error.
	Step(ctx context.Context, s *Step) (Outcome, error)
}

// Failer is a Handler with work to do when a task ends without success. Without it, the task only ends.
type Failer interface {
	// Fail returns the outcome that ends the task. The cause is ErrDeadline, or the error of the last attempt at a
	// step.
	Fail(ctx context.Context, s *Step, cause error) (Outcome, error)
}

// Canceler is a Handler with work to do after a task was canceled.
type Canceler interface {
	// Cancel cleans up. The canceling call has settled everything in the table, so a failure here only leaves waste.
	Cancel(ctx context.Context, s *Step) error
}

// Outcome is the result of a step.
type Outcome struct {
	// Payload replaces the task's payload unless it is nil.
	Payload any
	// Done ends the task. Otherwise the next step is due after Wait, on Queue, or on the task's queue if that is empty.
	Done  bool
	Wait  time.Duration
	Queue topology.Queue
	// Deadline replaces the task's deadline unless it is zero. A task that waits for an event that may take any time
	// postpones its deadline.
	Deadline time.Time
	// Join adds the step's other writes to the transaction that commits the outcome: the subject, its events and money,
	// a counter. It reads the items that it changes, and is called again if they have changed since. It may change the
	// value that Payload points to. It returns ErrMoved if the subject no longer waits for the task.
	Join func(ctx context.Context, tx *store.Tx) error
	// Due, unless it is nil, decides in place of Done and Wait: it returns when the next step is due, or false if none
	// follows. It is called after Join, for a schedule that depends on what Join reads.
	Due func() (at time.Time, more bool)
	// After is called once the outcome is committed. It may be nil.
	After func(ctx context.Context)
	// Undo undoes an effect outside the table. It is called if the outcome was not committed because the task has moved
	// on. The argument now is the current task, or nil if it no longer exists.
	Undo func(ctx context.Context, now *Task)
}
