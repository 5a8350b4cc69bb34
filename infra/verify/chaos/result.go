package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// bounds are the bounds that a row must keep.
type bounds struct {
	// recovery is the longest time from the end of the fault to the last delivery of an event that was accepted
	// before.
	recovery time.Duration
	// once forbids repeats, even of events that were in flight.
	once bool
}

// result is the result of a row about deliveries.
type result struct {
	name      string
	bounds    bounds
	trouble   error // the reason if there is no result
	accepted  int
	delivered int // at least once
	lost      int
	repeats   int
	doubled   int // items with more than one event
	strangers int // events of items that nobody requested
	pending   int // deliveries that are missing by the service's own count
	hits      int // the number of times that the fault happened
	inFlight  int // events that were on their way to the receiver at the fault
	recovery  time.Duration
	p50, p99  time.Duration // from the event to its receipt
}

// result counts the events that arrived.
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

// count compares the accepted work with the receipts.
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

// percentile returns the smallest of the sorted values that at least p percent of them do not exceed.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// failIf records a broken bound if its first argument is true.
type failIf = func(is bool, format string, args ...any)

// broken returns an error that lists the bounds of a row that check finds broken, or nil if all hold. If the row
// has trouble, broken returns that and does not check.
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

// broken returns an error that lists the broken bounds, or nil if all hold.
func (r result) broken() error {
	return broken(r.name, r.trouble, r.check)
}

// check calls fail for each bound with whether it is broken.
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
