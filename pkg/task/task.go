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
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/backoff"
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
	// TakenBy is the queue's id of the message by which the step before this one was taken.
	TakenBy string `json:"taken_by,omitempty"`
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
	// OnCommit is called once the outcome is committed. It may be nil.
	OnCommit func(ctx context.Context)
	// Undo undoes an effect outside the table. It is called if the outcome was not committed because the task has moved
	// on. The argument now is the current task, or nil if it no longer exists.
	Undo func(ctx context.Context, now *Task)
}

// Repeat is Once for a call that does no harm if it is made twice. It leaves no mark, and is made again after an error.
func Repeat[T any](ctx context.Context, r *Run, name string,
	do func(context.Context) (T, error)) (result T, err error) {
	if known, err := r.resultOf(name, &result); known || err != nil {
		return result, err
	}
	if result, err = do(ctx); err == nil {
		err = r.Keep(name, result)
	}
	return result, err
}

// ErrDeadline is the cause of the failure of a task that was not done in time.
var ErrDeadline = errors.New("task: the deadline has passed")

// ErrMoved reports that a task has moved on without this step's outcome: another
// delivery of the message has taken the step, or the task was canceled.
var ErrMoved = errors.New("task: the task has moved on")

// ErrOrphaned reports that the subject of a task does not wait for it although it was not canceled. Only a defect of
// this service leads to it. The task ends, and the kernel logs it.
var ErrOrphaned = errors.New("task: the subject does not wait for the task")

// ErrDeaths is the cause of the failure of a task of whose step several functions have died; see Step.Guard.
var ErrDeaths = errors.New("task: functions keep dying of the step")

// MostDeaths is the number of functions that may die of a step that reads bytes of others.
const MostDeaths = 3

// maxFailures bounds the attempts at a step whose error sets no bound of its own.
const maxFailures = 8

// NoLimit is the value of RetryError.MaxFailures for a step that is tried until it succeeds.
const NoLimit = math.MaxInt

// RetryError is an error of a step that says when the step is to be tried again.
type RetryError struct {
	Err error
	// After is the shortest wait before the next attempt. With 0 the usual back-off applies.
	After time.Duration
	// MaxFailures is the number of failures in a row that ends the task. 0 means maxFailures.
	MaxFailures int
}

// Error returns the text of the cause.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *RetryError) Unwrap() error { return e.Err }

// Again marks an error of a step: the kernel repeats the step until it succeeds. It returns nil, and an error that says
// itself when the step is repeated, as they are.
func Again(err error) error {
	var retry *RetryError
	if err == nil || errors.As(err, &retry) {
		return err
	}
	return &RetryError{Err: err, MaxFailures: NoLimit}
}

// PermanentError is an error of a step that a retry cannot fix. The task fails with it.
type PermanentError struct{ Err error }

// Error returns the text of the cause.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *PermanentError) Unwrap() error { return e.Err }

// Permanent marks an error as one that a retry cannot fix.
func Permanent(err error) error { return &PermanentError{err} }

// Throttled reports whether the other side of a call has refused it only because it gets too many calls: the cause of
// the error has a method Throttled that returns true. Such a step is tried again until its deadline, and does not count
// as failed.
func Throttled(err error) bool {
	var t interface{ Throttled() bool }
	return errors.As(err, &t) && t.Throttled()
}

// classify returns the wait before the next attempt at a step that has failed, and the number of times that it has
// failed in a row, or reports that the task fails. The argument age is the time since the task was created.
func classify(err error, failed int, age time.Duration, chance float64) (wait time.Duration, failures int, final bool) {
	var permanent *PermanentError
	if errors.As(err, &permanent) {
		return 0, failed, true
	}
	var retry *RetryError
	asked := errors.As(err, &retry)
	if Throttled(err) {
		wait = throttlePause(age, chance)
		if asked {
			wait = max(wait, retry.After)
		}
		return wait, failed, false
	}
	failures = failed + 1
	most, wait := maxFailures, pause(failures, chance)
	if asked {
		wait = max(wait, retry.After)
		if retry.MaxFailures > 0 {
			most = retry.MaxFailures
		}
	}
	return wait, failures, failures >= most
}

// throttlePause is the back-off after a call was throttled. Its jitter is as long as the wait: tasks that were
// throttled together come back one by one. It grows with the age of the task.
func throttlePause(age time.Duration, chance float64) time.Duration {
	const least, longest = 5 * time.Second, time.Minute
	return time.Second + time.Duration(float64(min(max(age/2, least), longest))*chance)
}

// pause is the back-off after the n-th failure in a row, with jitter.
func pause(n int, chance float64) time.Duration {
	const first, longest = 2 * time.Second, time.Minute
	return spread(min(first<<min(n-1, 10), longest), chance)
}

// Jitter spreads a wait over 80 to 120 percent, so that steps that failed together are not retried together.
func Jitter(d time.Duration) time.Duration { return spread(d, backoff.Chance()) }

func spread(d time.Duration, chance float64) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*chance))
}

// Sender sends the messages of tasks into their queues.
type Sender struct {
	queues map[topology.Queue]queue.Sender
}

// NewSender makes a sender for the given queues.
func NewSender[Q queue.Sender](queues map[topology.Queue]Q) *Sender {
	s := &Sender{map[topology.Queue]queue.Sender{}}
	for name, q := range queues {
		s.queues[name] = q
	}
	return s
}

// SendAll sends messages, concurrently to several queues. It returns the error of each message, in their order, or nil.
func (s *Sender) SendAll(ctx context.Context, all ...Next) []error {
	failed := make([]error, len(all))
	bundles, places := map[topology.Queue][]queue.Message{}, map[topology.Queue][]int{}
	for i, n := range all {
		body, err := json.Marshal(n.Message)
		if err != nil {
			failed[i] = err
			continue
		}
		if s.queues[n.Queue] == nil {
			failed[i] = fmt.Errorf("task: there is no queue %q", n.Queue)
			continue
		}
		bundles[n.Queue] = append(bundles[n.Queue], queue.Message{Body: string(body), Group: n.FairGroup(),
			Delay: n.Delay})
		places[n.Queue] = append(places[n.Queue], i)
	}
	var sending sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		sending.Go(func() {
			for at, err := range s.queues[name].Send(ctx, bundles[name]...) {
				if err != nil {
					i := places[name][at]
					failed[i] = fmt.Errorf("task: send %s: %w", all[i].ID, err)
				}
			}
		})
	}
	sending.Wait()
	return failed
}

// margin is the part of the function's time that is reserved for its answer.
const margin = time.Second

// Consumer is the Lambda handler of the queues of tasks.
type Consumer struct {
	kernel  *Kernel
	sender  *Sender
	holders map[topology.Queue]*queue.Holder
}

// NewConsumer makes a consumer of queues that also sends to them. Each message stays
// invisible while a heartbeat shows that the function lives.
func NewConsumer[Q queue.Queue](k *Kernel, queues map[topology.Queue]Q, heartbeat queue.Heartbeat) *Consumer {
	c := &Consumer{k, NewSender(queues), map[topology.Queue]*queue.Holder{}}
	for name, q := range queues {
		c.holders[name] = queue.NewHolder(q, heartbeat)
	}
	return c
}

// Handle takes the steps of a batch concurrently, so that none waits for a step of another account. It reports the
// failed messages to the queue.
func (c *Consumer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	answer := ctx
	// A step that exceeds the time must not prevent the others from being reported.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	messages, failed := make([]Message, len(batch.Records)), make([]error, len(batch.Records))
	var held *queue.Hold
	for i, r := range batch.Records {
		if err := json.Unmarshal([]byte(r.Body), &messages[i]); err != nil {
			failed[i] = fmt.Errorf("task: not a message of a task: %w", err)
			continue
		}
		// All messages of a batch come from one queue.
		if h := c.holders[messages[i].Queue]; h != nil && held == nil {
			held = h.Hold(ctx, batch.Records)
			held.Renew(c.kernel.Renew)
		}
	}
	var all sync.WaitGroup
	for i, r := range batch.Records {
		if failed[i] == nil {
			all.Go(func() { failed[i] = c.one(ctx, messages[i], r.MessageId) })
		}
	}
	all.Wait()
	if held != nil {
		held.End(answer, failed)
	}
	for i, err := range failed {
		if err != nil {
			r := batch.Records[i]
			slog.Error("message of a task failed", "message_id", r.MessageId, "task", messages[i].ID, "receives",
				queue.Receives(r), "error", err)
		}
	}
	return queue.Response(batch.Records, failed), nil
}

func (c *Consumer) one(ctx context.Context, m Message, queued string) error {
	next, err := c.kernel.Do(ctx, m, queued)
	if err != nil || next == nil || next.Delay > queue.LongestDelay {
		return err // the delay is longer than a queue permits; the reconciler sends the message when it is due
	}
	// Send the next message before this one is deleted. A crash in between leaves both, which is harmless; the other
	// order would leave none.
	return c.sender.SendAll(ctx, *next)[0]
}

// OutboxKind is the kind of an item that holds one message for a queue and starts no task. The relay sends its document
// as it is.
const OutboxKind = "outbox"

// keepOutbox is the time for which such an item stays, so that a failure can be investigated.
const keepOutbox = 7 * 24 * time.Hour

// Outbox adds a message for a queue to the transaction. The field "queue" of the body names the queue.
func Outbox(tx *store.Tx, now time.Time, o tenant.Owner, id string, body any) error {
	it, err := store.NewItem(OutboxKind, o, id, body)
	if err != nil {
		return err
	}
	it.ListKey, it.ExpireAt = store.Key{}, now.Add(keepOutbox)
	tx.Create(it, nil)
	return nil
}

// Wake adds a message to the transaction that has a task take its waiting step now; see Message.Wake. The message needs
// no step. It has no effect if the task has ended.
func Wake(tx *store.Tx, now time.Time, m Message) error {
	m.Wake = true
	return Outbox(tx, now, m.Owner, "wake#"+m.ID+"#"+rand.Text(), m)
}
