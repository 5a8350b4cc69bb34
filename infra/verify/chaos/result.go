package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// bounds are what a row must keep.
type bounds struct {
	// recovery is the longest time from the end of the fault to the last delivery of
	// what was accepted before that.
	recovery time.Duration
	// once forbids repeats, even of what was in flight.
	once bool
}

// result is what came of a row.
type result struct {
	name      string
	bounds    bounds
	trouble   error // why there is no result
	accepted  int
	delivered int // at least once
	lost      int
	repeats   int
	doubled   int // items of which more than one event came
	strangers int // events of items that were not asked for
	pending   int // deliveries that the service itself knows to be missing
	hits      int // how often the fault happened
	inFlight  int // events that were on their way to the receiver at the fault
	recovery  time.Duration
	p50, p99  time.Duration // from the event to its receipt
}

// result counts what came.
func (s *scene) result(ctx context.Context) (result, error) {
	done, _ := s.load.accepted()
	came, err := s.mailbox.all()
	if err != nil {
		return result{}, err
	}
	s.mu.Lock()
	out := count(done, came, s.ended)
	out.hits, out.inFlight = s.hits, s.inFlight
	s.mu.Unlock()
	out.pending, err = s.client.undelivered(ctx, s.webhook)
	return out, err
}

// count compares what was accepted with what came.
func count(done []accepted, came []receipt, ended time.Time) result {
	out := result{accepted: len(done)}
	by := map[string][]receipt{}
	for _, r := range came {
		by[r.subject] = append(by[r.subject], r)
		out.repeats += r.times - 1
	}
	var waits []time.Duration
	for _, a := range done {
		events := by[a.id]
		if len(events) == 0 {
			out.lost++
			continue
		}
		out.delivered++
		if len(events) > 1 {
			out.doubled++
		}
		came := slices.MinFunc(events, func(a, b receipt) int { return a.first.Compare(b.first) })
		waits = append(waits, came.first.Sub(came.happened))
		if a.at.Before(ended) {
			out.recovery = max(out.recovery, came.first.Sub(ended))
		}
	}
	asked := map[string]bool{}
	for _, a := range done {
		asked[a.id] = true
	}
	for subject, events := range by {
		if !asked[subject] {
			out.strangers += len(events)
		}
	}
	slices.Sort(waits)
	out.p50, out.p99 = percentile(waits, 50), percentile(waits, 99)
	return out
}

// percentile is the smallest of the sorted values that p of 100 do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// failIf notes that a bound is broken, if it is.
type failIf = func(is bool, format string, args ...any)

// broken returns which bounds of a row do not hold, as check finds them; nil where all do.
// A row that came to grief is not checked.
func broken(row string, trouble error, check func(failIf)) error {
	if trouble != nil {
		return fmt.Errorf("%s: %w", row, trouble)
	}
	var all []error
	check(func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Errorf(row+": "+format, args...))
		}
	})
	return errors.Join(all...)
}

// broken returns which bounds do not hold; nil where all do.
func (r result) broken() error {
	return broken(r.name, r.trouble, r.check)
}

// check calls fail for each bound, and reports whether it is broken.
func (r result) check(fail failIf) {
	fail(r.accepted == 0, "nothing was accepted")
	fail(r.lost > 0, "%d of %d accepted events never came", r.lost, r.accepted)
	fail(r.doubled > 0, "of %d items more than one event came", r.doubled)
	fail(r.strangers > 0, "%d events came of what nobody asked for", r.strangers)
	fail(r.pending > 0, "the service itself misses %d deliveries", r.pending)
	fail(r.bounds.once && r.repeats > 0, "%d repeats, none should be", r.repeats)
	fail(r.repeats > r.inFlight && !r.bounds.once, "%d repeats, and %d events were in flight", r.repeats, r.inFlight)
	fail(r.recovery > r.bounds.recovery,
		"the last delivery came %.1f s after the end of the fault, the bound is %.1f s", r.recovery.Seconds(),
		r.bounds.recovery.Seconds())
}
