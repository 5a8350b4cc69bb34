package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Overdue is a set whose members each wait for a message.
type Overdue struct {
	Set
	// Grace is the lateness from which the message of a member counts as lost.
	Grace time.Duration
	// Ahead is added to the lateness of every member, for a set whose messages are not sent earlier by others: the
	// first message goes out when a member is due in Ahead minus Grace.
	Ahead time.Duration
	// Resend sends the messages of overdue items again. It returns an error for each item, in their order: nil for a
	// message that was sent, an error that wraps store.ErrUnreadable for an item that cannot be decoded, and
	// ErrNeedless for an item that needs no message. A superfluous message has no effect, since the stored item
	// decides.
	Resend func(ctx context.Context, items []store.Item) []error
}

// ErrNeedless reports that an item needs no message.
var ErrNeedless = errors.New("task: no message is needed")

// Reconciler finds overdue members of sets and has their messages sent again, so that the loss of a queue's messages
// loses no work. It relies on the table alone. Several reconcilers may run at the same time.
//
// Each shard of a set has its own checkpoint. A run that has no time left is continued there by the next run, and a
// shard that cannot be read delays no other.
type Reconciler struct {
	db   *store.DB
	now  func() time.Time
	sets []Overdue
}

// NewReconciler makes a reconciler of the given sets.
func NewReconciler(db *store.DB, now func() time.Time, sets ...Overdue) *Reconciler {
	return &Reconciler{db, now, sets}
}

// Found is the result of a reconciliation.
type Found struct {
	// Overdue counts the members that were late. Resent counts those whose messages were sent again, or for the first
	// time if they were parked. A run that continues an earlier one counts only its own members.
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
	// Aside counts the members that needed a message and cannot be decoded.
	Aside int `json:"put_aside"`
	// Oldest is the lateness of the latest member.
	Oldest time.Duration `json:"oldest_ns"`
	// Unfinished reports that the time did not suffice, and that the next run continues.
	Unfinished bool `json:"unfinished"`
}

func (f *Found) add(o Found) {
	f.Overdue += o.Overdue
	f.Resent += o.Resent
	f.Aside += o.Aside
	f.Oldest = max(f.Oldest, o.Oldest)
	f.Unfinished = f.Unfinished || o.Unfinished
}

const (
	// searchMargin is the part of the function's time in which no search begins.
	searchMargin = 5 * time.Second
	// writeMargin is the part of the function's time in which only checkpoints are written.
	writeMargin = 2 * time.Second
	// atATime is the number of shards of a set that read or send at a time. The others wait for their turns, one page
	// at a time, so that all of them progress.
	atATime = 4
)

// Run searches the shards of all sets concurrently. With atOnce, the message of every due member counts as lost: an
// operator who knows that messages were lost need not wait. If the time does not suffice, the next runs continue,
// without atOnce.
//
// Scheduled work comes first: the other sets begin when the sets with Ahead have ended, or have had half of the time.
func (r *Reconciler) Run(ctx context.Context, atOnce bool) (all Found, err error) {
	begin, cancel := before(ctx, searchMargin)
	defer cancel()
	work, cancel := before(ctx, writeMargin)
	defer cancel()
	lead, follow := half(begin)
	defer follow()

	var scheduled, running sync.WaitGroup
	found, failed := make([][]Found, len(r.sets)), make([][]error, len(r.sets))
	start := func(i int, group *sync.WaitGroup) {
		set := &r.sets[i]
		found[i], failed[i] = make([]Found, set.Shards), make([]error, set.Shards)
		turns := make(chan struct{}, atATime)
		for shard := range set.Shards {
			group.Go(func() {
				p := &pass{Reconciler: r, set: set, partition: set.partition(shard), atOnce: atOnce, begin: begin,
					work: work, turns: turns}
				if err := p.run(ctx); err != nil {
					failed[i][shard] = fmt.Errorf("task: reconcile %s: %w", p.partition, err)
				}
				found[i][shard] = p.found
			})
		}
	}
	for i, set := range r.sets {
		if set.Ahead > 0 {
			start(i, &scheduled)
		}
	}
	go func() {
		scheduled.Wait()
		follow()
	}()
	<-lead.Done()
	for i, set := range r.sets {
		if set.Ahead == 0 {
			start(i, &running)
		}
	}
	scheduled.Wait()
	running.Wait()
	for i := range r.sets {
		for _, f := range found[i] {
			all.add(f)
		}
		err = errors.Join(err, errors.Join(failed[i]...))
	}
	if all.Overdue > 0 {
		slog.Warn("work is overdue", "overdue", all.Overdue, "resent", all.Resent, "put_aside", all.Aside, "unfinished",
			all.Unfinished)
	}
	return all, err
}

// before returns a context that ends by a margin before the deadline of the given one.
func before(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}

// half returns a context that ends after half of the remaining time of the given one.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
}

// reminders returns the number of messages that are due for a member with the given lateness: the first after Grace,
// and one more each time that the lateness has doubled. So a queue that is merely long does not receive more and more
// messages.
func (o *Overdue) reminders(late time.Duration) int {
	return bits.Len64(uint64(max(0, late) / o.Grace))
}

const taskGrace = 2 * time.Minute

// The first message of a parked task goes out when it is due in parkedAhead minus parkedGrace, two minutes, and so at
// the second run before that at the latest. The next one goes out when the task is late by as much.
const (
	parkedAhead = 6 * time.Minute
	parkedGrace = 4 * time.Minute
)

// OverdueTasks returns the sets whose members are tasks. It sends the messages of overdue tasks again, and those of
// parked tasks that are almost due for the first time.
func OverdueTasks(s *Sender, now func() time.Time) []Overdue {
	send := resend(s, now)
	return []Overdue{
		{Set: Parked, Grace: parkedGrace, Ahead: parkedAhead, Resend: send},
		{Set: Tasks, Grace: taskGrace, Resend: send},
	}
}

func resend(s *Sender, now func() time.Time) func(context.Context, []store.Item) []error {
	return func(ctx context.Context, items []store.Item) []error {
		failed := make([]error, len(items))
		var messages []Next
		var places []int
		for i, it := range items {
			var t Task
			if failed[i] = it.Decode(&t); failed[i] == nil {
				messages, places = append(messages, *t.next(now())), append(places, i)
			}
		}
		for i, err := range s.SendAll(ctx, messages...) {
			failed[places[i]] = err
		}
		return failed
	}
}
