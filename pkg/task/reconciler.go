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
	// Grace is how late something must be before its message is taken for lost.
	Grace time.Duration
	// Ahead is by how much everything counts as later than it is, where the messages are
	// not sent before: the first goes out when something is due in Ahead minus Grace.
	Ahead time.Duration
	// Resend sends the messages of overdue items again. It returns at the place of each
	// item nil, or why no message was sent: an error that wraps store.ErrUnreadable for an
	// item that cannot be decoded, and ErrNeedless for one that needs no message. What is
	// stored decides what a message leads to, so that one too many does nothing.
	Resend func(ctx context.Context, items []store.Item) []error
}

// ErrNeedless reports that an item needs no message.
var ErrNeedless = errors.New("task: no message is needed")

// Reconciler finds what is overdue and has its messages sent again, so that an
// emptied queue loses no work. It relies on the table alone. Several may run at the
// same time.
//
// Each shard of a set has a checkpoint of its own: a run that has no time left goes on
// there in the next run, and a shard that cannot be read holds back no other.
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
	// sent again, or for the first time if they were parked. A run that goes on where the
	// one before has stopped counts what it has looked at itself.
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
	// Aside are the members that cannot be decoded, of those that needed a message.
	Aside int `json:"put_aside"`
	// Oldest is by how much that member was late which was latest.
	Oldest time.Duration `json:"oldest_ns"`
	// Unfinished reports that the time did not suffice: the next run goes on.
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
	// searchMargin is kept back of the function's time: nothing is begun in it.
	searchMargin = 5 * time.Second
	// writeMargin is kept back for the checkpoints: nothing but they is written in it.
	writeMargin = 2 * time.Second
	// atATime is how many shards of a set read or send at a time. The others wait for
	// their turns, a page at a time, so that all of them get on.
	atATime = 4
)

// Run looks through the shards of all sets side by side. With atOnce, everything that is
// due counts as lost: an operator who knows that messages were lost need not wait. What
// time does not suffice for is left to the runs that follow, without atOnce.
//
// What is scheduled comes first: the other sets begin when those with Ahead have ended,
// or have had half of the time.
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
				p := &pass{Reconciler: r, set: set, partition: set.partition(shard), atOnce: atOnce, begin: begin, work: work, turns: turns}
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
		slog.Warn("work is overdue", "overdue", all.Overdue, "resent", all.Resent, "put_aside", all.Aside, "unfinished", all.Unfinished)
	}
	return all, err
}

// before returns a context that ends by a margin before the deadline of another one.
func before(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-margin))
	}
	return context.WithCancel(ctx)
}

// half returns a context that ends after half of the time of another one.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(deadline)/2)
	}
	return context.WithCancel(ctx)
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
