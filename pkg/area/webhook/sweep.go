package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// EventGrace is the age at which the missing deliveries of an event count as lost: longer than a function may take from
// naming an event to committing it, and longer than the way from there to the delivery usually takes.
const EventGrace = 3 * time.Minute

// firstLook is the period that the first sweep covers.
const firstLook = 24 * time.Hour

// sweepMargin is kept back of the function's time, to write the checkpoint.
const sweepMargin = 5 * time.Second

// checkpoint names how far the sweeps have come.
const checkpoint = "events"

// sweepPage is the number of items that are read and repaired together.
const sweepPage = 100

// Sweeper finds events without the deliveries that they should have, and makes those. It relies on the table alone.
// Sweepers may run at the same time: repairing an event twice has one effect.
type Sweeper struct {
	db         *store.DB
	dispatcher *Dispatcher
	now        func() time.Time
}

// NewSweeper returns a sweeper that reads and repairs db.
func NewSweeper(db *store.DB, now func() time.Time) *Sweeper {
	return &Sweeper{db, NewDispatcher(db, now), now}
}

// SweepResult counts the work of a sweep.
type SweepResult struct {
	// Events is the number of events read, and Made the number of deliveries that were missing.
	Events     int `json:"events"`
	Deliveries int `json:"made"`
	// Unfinished reports that the time did not suffice: the next sweep goes on.
	Unfinished bool `json:"unfinished"`
}

// Sweep looks at all events since the last sweep, in the order of their time, and makes the deliveries that are
// missing. After an event that failed it goes on, so that one cannot keep the others from being repaired, but the next
// sweep begins with it again. With atOnce it ignores the grace: an operator who knows that messages were lost need not
// wait for it.
func (s *Sweeper) Sweep(ctx context.Context, atOnce bool) (done SweepResult, err error) {
	work, now := ctx, s.now()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		work, cancel = context.WithDeadline(ctx, deadline.Add(-sweepMargin))
		defer cancel()
	}
	m, err := task.ReadCheckpoint(work, s.db, checkpoint)
	if err != nil {
		return endSweep(work, done, err)
	}
	// Events up to here may still be on their way to the table.
	settled := id.First(id.Event, now.Add(-EventGrace))
	from, until := m.DoneUntil, settled
	if atOnce {
		until = id.First(id.Event, now.Add(time.Millisecond))
	}
	if from == "" {
		from = id.First(id.Event, now.Add(-firstLook))
	}
	if from >= until {
		return done, nil
	}
	if _, ok := id.Time(from); !ok {
		return done, fmt.Errorf("webhook: the sweep's checkpoint %q is not an id", from)
	}
	all := s.db.Merge(store.Query{Index: store.ByDue, From: from, To: until, Limit: sweepPage}, event.Partitions())
	var failed []error
	for {
		items, err := all.Next(work)
		if err != nil {
			return endSweep(work, done, errors.Join(append(failed, err)...))
		}
		if len(items) == 0 {
			break
		}
		made, err := s.repair(work, items)
		done.Deliveries += made
		if err != nil && work.Err() != nil {
			return endSweep(work, done, errors.Join(append(failed, err)...))
		}
		done.Events += len(items)
		if err != nil {
			failed = append(failed, err)
		}
		if len(failed) > 0 {
			continue
		}
		if err := m.Advance(ctx, min(items[len(items)-1].PK, settled)); err != nil {
			return overtaken(done, err)
		}
	}
	if len(failed) > 0 {
		return done, errors.Join(failed...)
	}
	return overtaken(done, m.Advance(ctx, min(until, settled)))
}

// repair makes the missing deliveries of events, and returns how many they were.
func (s *Sweeper) repair(ctx context.Context, items []store.Item) (made int, err error) {
	refs, failed := make([]event.Ref, len(items)), make([]error, len(items))
	at := make([]time.Time, len(items))
	owners := map[tenant.Owner][]int{}
	for i, it := range items {
		refs[i] = event.RefOf(it)
		at[i], _ = id.Time(it.PK) // event.New has made the id
		owners[it.Of("")] = append(owners[it.Of("")], i)
	}
	all := s.dispatcher.match(ctx, refs, owners, failed)
	// A webhook does not get the events from before it was made or enabled.
	all = slices.DeleteFunc(all, func(f *fanOut) bool { return at[f.source].Before(f.to.Since()) })
	keys := make([]store.Key, len(all))
	for i, f := range all {
		to := Ref{Owner: f.ref.Owner, ID: f.to.ID}
		keys[i] = to.DeliveryKey(DeliveryID(at[f.source], f.ref.ID, to.ID))
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
	for _, f := range missing {
		if f.err == nil {
			made++
			continue
		}
		failed = append(failed, fmt.Errorf("webhook: event %s not delivered to %s: %w", f.ref.ID, f.to.ID, f.err))
	}
	return made, errors.Join(failed...)
}

// endSweep ends a sweep. Running out of time is no error.
func endSweep(work context.Context, done SweepResult, err error) (SweepResult, error) {
	if work.Err() != nil {
		done.Unfinished = true
		return done, nil
	}
	return done, err
}

// overtaken ends a sweep whose checkpoint another sweeper has moved: that one does the rest.
func overtaken(done SweepResult, err error) (SweepResult, error) {
	if errors.Is(err, store.ErrConflict) {
		return done, nil
	}
	return done, err
}
