package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// EventGrace is how old an event must be before its missing deliveries count as lost:
// longer than a function may take from naming an event to committing it, and than the
// way from there to the delivery usually takes.
const EventGrace = 3 * time.Minute

// OverdueGrace is how late an attempt must be before its message counts as lost: longer
// than a message stays invisible whose function died before the first heartbeat.
const OverdueGrace = 4 * time.Minute

// firstLook is how far back the first sweep looks.
const firstLook = 24 * time.Hour

// sweepMargin is kept back of the function's time, to write the checkpoint.
const sweepMargin = 5 * time.Second

// sweepPage is how many items are read and repaired together.
const sweepPage = 100

// maxShards is how many shards of the pending deliveries are read at a time.
const maxShards = 4

// Sweeper finds what was lost on the way, and sends it on: events without the
// deliveries that they should have, and deliveries whose message is gone. It relies on
// the table alone, so that even an emptied queue loses nothing. Sweepers may run at the
// same time: what they do twice has one effect.
type Sweeper struct {
	db         *store.DB
	dispatcher *Dispatcher
	now        func() time.Time
}

// NewSweeper returns a sweeper that sends to the queue of the deliveries.
func NewSweeper(db *store.DB, q queue.Sender, now func() time.Time) *Sweeper {
	return &Sweeper{db, New(db, q, now), now}
}

// Sweep asks for a sweep.
type Sweep struct {
	// Now ignores the graces: an operator who knows that messages were lost need not
	// wait for them.
	Now bool `json:"now"`
}

// Swept is what a sweep found and did.
type Swept struct {
	// Events were looked at, and Made is how many deliveries of them were missing.
	Events int `json:"events"`
	Made   int `json:"made"`
	// Overdue deliveries were looked at, and for Resent of them a message was sent.
	Overdue int `json:"overdue"`
	Resent  int `json:"resent"`
	// Unfinished reports that the time did not suffice: the next sweep goes on.
	Unfinished bool `json:"unfinished"`
}

func (s *Swept) add(more Swept) {
	s.Events += more.Events
	s.Made += more.Made
	s.Overdue += more.Overdue
	s.Resent += more.Resent
	s.Unfinished = s.Unfinished || more.Unfinished
}

// Handle sweeps once. The error names what could not be repaired; the next sweep tries
// it again.
func (s *Sweeper) Handle(ctx context.Context, in Sweep) (Swept, error) {
	work := ctx
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		work, cancel = context.WithDeadline(ctx, deadline.Add(-sweepMargin))
		defer cancel()
	}
	now := s.now()
	// At the same time: neither waits for the other when there is much to do.
	parts := []func() (Swept, error){
		func() (Swept, error) { return s.events(ctx, work, now, in) },
		func() (Swept, error) { return s.deliveries(ctx, work, now, in) },
	}
	done, failed := make([]Swept, len(parts)), make([]error, len(parts))
	concurrently(len(parts), len(parts), func(i int) { done[i], failed[i] = parts[i]() })
	var all Swept
	for _, d := range done {
		all.add(d)
	}
	slog.Info("swept", "events", all.Events, "made", all.Made, "overdue", all.Overdue, "resent", all.Resent, "unfinished", all.Unfinished)
	return all, errors.Join(failed...)
}

// events looks at all events since the last sweep, in the order of their time,
// and makes the deliveries that are missing. After an event that failed it goes
// on, so that one cannot keep the others from being repaired, but the next sweep
// begins with it again.
func (s *Sweeper) events(ctx, work context.Context, now time.Time, in Sweep) (done Swept, err error) {
	m, err := s.checkpoint(work, "events")
	if err != nil {
		return stopped(work, done, err)
	}
	// Events up to here may still be on their way to the table.
	settled := id.First(id.Event, now.Add(-EventGrace))
	from, until := m.Done, settled
	if in.Now {
		until = id.First(id.Event, now.Add(time.Millisecond))
	}
	if from == "" {
		from = id.First(id.Event, now.Add(-firstLook))
	}
	if from >= until {
		return done, nil
	}
	begin, ok := id.Time(from)
	if !ok {
		return done, fmt.Errorf("webhook: the sweep's checkpoint %q is not an id", from)
	}
	var failed []error
	for hour := begin.Truncate(time.Hour); !hour.After(now); hour = hour.Add(time.Hour) {
		q := store.Query{
			Index: store.ByParent, Partition: event.HourPartition(hour), From: from, To: until, Limit: sweepPage, OldestFirst: true,
		}
		for more := true; more; {
			page, err := s.db.List(work, q)
			if err != nil {
				return stopped(work, done, errors.Join(append(failed, err)...))
			}
			made, err := s.repair(work, page.Items)
			done.Made += made
			if err != nil && work.Err() != nil {
				return stopped(work, done, errors.Join(append(failed, err)...))
			}
			done.Events += len(page.Items)
			switch n := len(page.Items); {
			case err != nil:
				failed = append(failed, err)
			case n > 0 && len(failed) == 0:
				if err := s.advance(ctx, m, min(page.Items[n-1].PK, settled)); err != nil {
					return overtaken(done, err)
				}
			}
			q.After, more = page.Next, page.Next != nil
		}
	}
	if len(failed) > 0 {
		return done, errors.Join(failed...)
	}
	return overtaken(done, s.advance(ctx, m, min(until, settled)))
}

// repair makes the missing deliveries of events, and returns how many they were.
func (s *Sweeper) repair(ctx context.Context, items []store.Item) (made int, err error) {
	refs, failed := make([]event.Ref, len(items)), make([]error, len(items))
	at := make([]time.Time, len(items))
	owners := map[tenant.Owner][]int{}
	for i, it := range items {
		refs[i] = event.RefOf(it)
		at[i], _ = id.Time(it.PK) // event.New has made the id
		owners[it.Owner] = append(owners[it.Owner], i)
	}
	all := s.dispatcher.match(ctx, refs, owners, failed)
	// A webhook does not get the events from before it was made or enabled.
	all = slices.DeleteFunc(all, func(f *fanOut) bool { return at[f.source].Before(f.since) })
	keys := make([]store.Key, len(all))
	for i, f := range all {
		keys[i] = f.to.DeliveryKey(hook.DeliveryID(at[f.source], f.ref.ID, f.to.ID))
	}
	there, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return 0, errors.Join(append(failed, err)...)
	}
	var missing []*fanOut
	for i, f := range all {
		if there[i].Kind == "" {
			missing = append(missing, f)
		}
	}
	s.dispatcher.create(ctx, missing)
	s.dispatcher.send(ctx, missing)
	for _, f := range missing {
		if f.err == nil {
			made++
			continue
		}
		failed = append(failed, fmt.Errorf("webhook: event %s not delivered to %s: %w", f.ref.ID, f.to.ID, f.err))
	}
	return made, errors.Join(failed...)
}

// stopped ends a part of a sweep. Running out of time is no error.
func stopped(work context.Context, done Swept, err error) (Swept, error) {
	if work.Err() != nil {
		done.Unfinished = true
		return done, nil
	}
	return done, err
}

// overtaken ends a part of a sweep whose checkpoint another sweeper has moved: that one
// does what is left.
func overtaken(done Swept, err error) (Swept, error) {
	if errors.Is(err, store.ErrConflict) {
		return done, nil
	}
	return done, err
}
