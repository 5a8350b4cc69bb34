package dispatch

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// deliveries sends the messages of deliveries that are overdue.
func (s *Sweeper) deliveries(ctx, work context.Context, now time.Time, in Sweep) (done Swept, err error) {
	m, err := s.checkpoint(work, "deliveries")
	if err != nil {
		return stopped(work, done, err)
	}
	var last time.Time // of the first sweep, there is none
	if m.Done != "" {
		if last, err = time.Parse(time.RFC3339, m.Done); err != nil {
			return done, err
		}
	}
	lost := func(due time.Time) bool { return reminders(now.Sub(due)) > reminders(last.Sub(due)) }
	before := now.Add(-OverdueGrace)
	if in.Now {
		lost = func(due time.Time) bool { return !due.After(now) }
		// They are found by the second, of which the present one has begun.
		before = now.Add(time.Second)
	}
	shards, failed := make([]Swept, hook.DueShards), make([]error, hook.DueShards)
	concurrently(hook.DueShards, maxShards, func(i int) {
		shards[i], failed[i] = s.overdue(work, hook.DuePartition(i), before, lost)
	})
	for _, shard := range shards {
		done.add(shard)
	}
	if err := errors.Join(failed...); err != nil || done.Unfinished {
		return done, err
	}
	return overtaken(done, s.advance(ctx, m, now.UTC().Format(time.RFC3339)))
}

// reminders returns how many messages a delivery should have been sent that is so
// late: the first after OverdueGrace, and one more each time that it has doubled.
// So a queue that is merely long, or a delivery that nothing can be done about,
// does not get ever more of them.
func reminders(late time.Duration) int { return bits.Len64(uint64(max(0, late) / OverdueGrace)) }

// overdue sends the messages of one shard's deliveries that were due before the
// given time and whose message is taken for lost.
func (s *Sweeper) overdue(ctx context.Context, shard string, before time.Time, lost func(due time.Time) bool) (done Swept, err error) {
	q := store.Query{Index: store.ByDue, Partition: shard, To: hook.DueAt(before), Limit: sweepPage, OldestFirst: true}
	var failed []error
	for {
		page, err := s.db.List(ctx, q)
		if err != nil {
			return stopped(ctx, done, errors.Join(append(failed, err)...))
		}
		done.Overdue += len(page.Items)
		asks, err := s.reminders(page.Items, lost)
		if err != nil {
			failed = append(failed, err)
		}
		for _, err := range hook.SendAsks(ctx, s.dispatcher.queue, s.now(), asks...) {
			if err != nil {
				failed = append(failed, err)
				continue
			}
			done.Resent++
		}
		if ctx.Err() != nil {
			return stopped(ctx, done, errors.Join(failed...))
		}
		if page.Next == nil {
			return done, errors.Join(failed...)
		}
		q.After = page.Next
	}
}

// reminders returns the asks to repeat. What is stored decides what becomes of them, so
// that one too many does nothing.
func (s *Sweeper) reminders(items []store.Item, lost func(due time.Time) bool) (asks []hook.Ask, err error) {
	now := s.now()
	for _, it := range items {
		d, failed := hook.ReadDelivery(&it)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		if d.NextAttemptAt == nil || !lost(*d.NextAttemptAt) || d.Lease != nil && now.Before(d.Lease.Until) {
			continue
		}
		asks = append(asks, d.Ask(time.Time{}))
	}
	return asks, err
}
