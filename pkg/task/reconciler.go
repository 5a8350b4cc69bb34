package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Overdue is a set whose members each wait for a message.
type Overdue struct {
	Set
	// Grace is how late something must be before its message is taken for lost.
	Grace time.Duration
	// Ahead is by how much everything counts as later than it is, where the messages are
	// not sent before: the first goes out when something is due in Ahead minus Grace.
	Ahead time.Duration
	// Resend sends the messages of overdue items again, and returns how many it has
	// sent. What is stored decides what a message leads to, so that one too many does
	// nothing.
	Resend func(ctx context.Context, items []store.Item) (sent int, err error)
}

// Reconciler finds what is overdue and has its messages sent again, so that an
// emptied queue loses no work. It relies on the table alone. Several may run at the
// same time.
type Reconciler struct {
	db   *store.DB
	now  func() time.Time
	sets []Overdue
}

// NewReconciler makes a reconciler of the given sets.
func NewReconciler(db *store.DB, now func() time.Time, sets ...Overdue) *Reconciler {
	return &Reconciler{db, now, sets}
}

// Found is what a reconciliation found and did.
type Found struct {
	// Overdue are the members that were late, and Resent those whose messages were
	// sent again, or for the first time if they were parked.
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
	// Oldest is by how much that member was late which was latest.
	Oldest time.Duration `json:"oldest_ns"`
	// Unfinished reports that the time did not suffice: the next run goes on.
	Unfinished bool `json:"unfinished"`
}

// page is how many items are read and resent together.
const page = 100

// Run looks through all sets. With atOnce, everything that is due counts as lost: an
// operator who knows that messages were lost need not wait.
func (r *Reconciler) Run(ctx context.Context, atOnce bool) (all Found, err error) {
	var failed []error
	for _, set := range r.sets {
		found, err := r.set(ctx, set, atOnce)
		all.Overdue += found.Overdue
		all.Resent += found.Resent
		all.Oldest = max(all.Oldest, found.Oldest)
		if err != nil && ctx.Err() != nil {
			all.Unfinished = true
			break
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("task: reconcile %s: %w", set.Name, err))
		}
	}
	if all.Overdue > 0 {
		slog.Warn("work is overdue", "overdue", all.Overdue, "resent", all.Resent)
	}
	return all, errors.Join(failed...)
}

func (r *Reconciler) set(ctx context.Context, set Overdue, atOnce bool) (found Found, err error) {
	now := r.now()
	c, err := ReadCheckpoint(ctx, r.db, set.Name)
	if err != nil {
		return found, err
	}
	var last time.Time // zero for the first run
	if c.Done != "" {
		if last, err = time.Parse(time.RFC3339, c.Done); err != nil {
			return found, err
		}
	}
	before := now.Add(set.Ahead - set.Grace)
	if atOnce {
		before = now
	}
	var failed []error
	for shard := range set.Shards {
		q := store.Query{Index: store.ByDue, Partition: set.partition(shard), To: until(before), OldestFirst: true, Limit: page}
		for more := true; more; {
			items, err := r.db.List(ctx, q)
			if err != nil {
				return found, errors.Join(append(failed, err)...)
			}
			var lost []store.Item
			for _, it := range items.Items {
				due, err := dueAt(it.Due)
				if err != nil {
					failed = append(failed, err) // one that cannot be read must not hide the others
					continue
				}
				if atOnce || !due.After(now.Add(-set.Grace)) {
					found.Overdue++
					found.Oldest = max(found.Oldest, now.Sub(due))
				}
				if due = due.Add(-set.Ahead); atOnce || set.reminders(now.Sub(due)) > set.reminders(last.Sub(due)) {
					lost = append(lost, it)
				}
			}
			if len(lost) > 0 {
				sent, err := set.Resend(ctx, lost)
				found.Resent += sent
				failed = append(failed, err)
			}
			if ctx.Err() != nil {
				return found, errors.Join(append(failed, ctx.Err())...)
			}
			q.After, more = items.Next, items.Next != nil
		}
	}
	if err := errors.Join(failed...); err != nil {
		return found, err
	}
	if err := c.Advance(ctx, now.UTC().Format(time.RFC3339)); !errors.Is(err, store.ErrConflict) {
		return found, err
	}
	return found, nil // another reconciler was faster
}

// reminders is how many messages something should have been sent that is so late:
// the first after Grace, and one more each time that the lateness has doubled. So a
// queue that is merely long does not get ever more messages.
func (o *Overdue) reminders(late time.Duration) int {
	return bits.Len64(uint64(max(0, late) / o.Grace))
}

// taskGrace is the grace of tasks.
const taskGrace = 2 * time.Minute

// The first message of a parked task goes out when it is due in parkedAhead minus
// parkedGrace, two minutes, and so at the second run before that at the latest. The next
// one goes out when it is late by as much.
const (
	parkedAhead = 6 * time.Minute
	parkedGrace = 4 * time.Minute
)

// OverdueTasks sends the messages of tasks: again for those that are overdue, and for
// the first time for those that were parked and are almost due.
func OverdueTasks(s *Sender, now func() time.Time) []Overdue {
	send := resend(s, now)
	return []Overdue{
		{Set: Tasks, Grace: taskGrace, Resend: send},
		{Set: Parked, Grace: parkedGrace, Ahead: parkedAhead, Resend: send},
	}
}

func resend(s *Sender, now func() time.Time) func(context.Context, []store.Item) (int, error) {
	return func(ctx context.Context, items []store.Item) (sent int, err error) {
		var messages []Next
		var failed []error
		for _, it := range items {
			var t Task
			if err := it.Decode(&t); err != nil {
				failed = append(failed, err)
				continue
			}
			messages = append(messages, *t.next(now()))
		}
		for _, err := range s.SendAll(ctx, messages...) {
			if err != nil {
				failed = append(failed, err)
				continue
			}
			sent++
		}
		return sent, errors.Join(failed...)
	}
}
