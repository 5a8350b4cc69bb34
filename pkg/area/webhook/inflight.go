package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// SlowAfter is the time after which an attempt counts as slow. Quicker ones cost no write.
const SlowAfter = 500 * time.Millisecond

// SlowLimit is the number of slow attempts that all functions together have in flight at one receiver, as far as they
// know; any more are put off. So a receiver that hangs occupies few of them, long before it is known to be down.
const SlowLimit = 20

// HangLimit is the same limit for a receiver that does not usually take long: its slow
// attempts probably hang. They suffice to open the circuit breaker.
const HangLimit = TripAfter

// Pause is the average time by which an attempt that finds no room is put off.
const Pause = 4 * time.Second

// keepInFlight is the time for which the item is kept without a change.
const keepInFlight = time.Hour

const inFlightKind = "inflight"

func inFlightKey(ref Ref) store.Key {
	return store.Key{PK: "inflight#" + ref.Owner.String(), SK: ref.ID}
}

// inFlight limits the slow attempts of all functions at one receiver. They are noted in one item, in which each slow
// attempt has a value of its own: when it ends should its function die.
type inFlight struct {
	key store.Key
	// usual holds the recent latencies of the receiver.
	usual Latencies
	// slow counts the slow attempts as read, and dead names those whose functions must have died.
	slow int
	dead []string
}

func newInFlight(key store.Key, usual Latencies, it store.Item, now time.Time) inFlight {
	f := inFlight{key: key, usual: usual}
	for name, until := range it.Attributes {
		if at, err := time.Parse(resource.TimeLayout, until); err != nil || !now.Before(at) {
			f.dead = append(f.dead, name)
			continue
		}
		f.slow++
	}
	return f
}

// full reports whether the receiver has as many slow attempts as it may have.
func (f *inFlight) full() bool {
	return f.slow >= SlowLimit || f.slow >= HangLimit && !f.usual.Slow(SlowAfter)
}

// pause returns until when an attempt that finds no room is put off.
func (r *Receiver) pause() time.Time { return r.now().Add(Spread(Pause, 0.5, r.chance())) }

// Watch notes an attempt, by a name that no other has, as soon as it is slow, until the returned function is called.
func (r *Receiver) Watch(ctx context.Context, name string) (ended func()) {
	var mu lock.Mutex
	var slow, over bool
	t := time.AfterFunc(SlowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if slow = !over; slow {
			r.note(ctx, name, r.now().Add(AttemptTimeout+time.Second)) // no attempt takes longer
		}
	})
	return func() {
		if t.Stop() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if over = true; slow {
			r.note(ctx, name, time.Time{})
		}
	}
}

// note writes until when a slow attempt lasts, or removes it if that is the zero time. It also removes those of dead
// functions. A failure is not worth a repeat: the note ends by itself.
func (r *Receiver) note(ctx context.Context, name string, until time.Time) {
	it := store.Item{Key: r.inFlight.key, Kind: inFlightKind, ExpireAt: r.now().Add(keepInFlight),
		Attributes: map[string]string{name: ""}}
	for _, dead := range r.inFlight.dead {
		it.Attributes[dead] = ""
	}
	if !until.IsZero() {
		it.Attributes[name] = resource.SortableTime(until)
	}
	if err := r.db.Note(ctx, it); err != nil && ctx.Err() == nil {
		slog.Warn("slow attempt at a webhook not written", "webhook", r.ref.ID, "error", err)
	}
}
