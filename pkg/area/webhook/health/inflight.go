package health

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// SlotsPerReceiver is the number of attempts that one batch has in flight at one receiver.
const SlotsPerReceiver = 20

// SlowAfter is the time after which an attempt counts as slow. Quicker ones cost no
// write.
const SlowAfter = 500 * time.Millisecond

// SlowLimit is the number of slow attempts that all functions together have in flight at
// one receiver, as far as they know; any more are put off. So a receiver that hangs
// occupies few of them, long before it is known to be down.
const SlowLimit = 20

// HangLimit is the same limit for a receiver that does not usually take long: its slow
// attempts probably hang. They suffice to open the circuit breaker.
const HangLimit = TripAfter

// Pause is the average time by which an attempt that finds no room is put off.
const Pause = 4 * time.Second

// keepInFlight is the time for which the item is kept without a change.
const keepInFlight = time.Hour

const inFlightKind = "inflight"

func inFlightKey(ref endpoint.Ref) store.Key {
	return store.Key{PK: "inflight#" + ref.Owner.String(), SK: ref.ID}
}

// inFlight limits the attempts in flight at one receiver: all of this batch, and the
// slow ones of all functions. Those are counted in one item, in which each batch has a
// value of its own: the count, and when it ends should the function die.
type inFlight struct {
	by    string
	key   store.Key
	slots chan struct{}
	// usual holds the recent latencies of the receiver.
	usual endpoint.Latencies
	// others counts the slow attempts of other functions as read, and dead names the
	// values of functions that must have died.
	others int
	dead   []string

	mu lock.Mutex
	// ours counts the slow attempts of this batch; written is the count in the table.
	ours, written int
	writing       bool
	background    sync.WaitGroup
}

func newInFlight(by string, key store.Key, usual endpoint.Latencies, it store.Item, now time.Time) *inFlight {
	f := &inFlight{by: by, key: key, usual: usual, slots: make(chan struct{}, SlotsPerReceiver)}
	for name, value := range it.Attributes {
		count, until, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(count)
		if at, failed := time.Parse(resource.TimeLayout, until); err != nil || failed != nil || !now.Before(at) {
			f.dead = append(f.dead, name)
			continue
		}
		f.others += n
	}
	return f
}

// full reports whether the receiver has as many slow attempts as it may have.
func (f *inFlight) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.others + f.ours
	return n >= SlowLimit || n >= HangLimit && !f.usual.Slow(SlowAfter)
}

// elsewhere reports whether other functions have slow attempts in flight.
func (f *inFlight) elsewhere() bool { return f.others > 0 }

// Pause returns until when an attempt that finds no room is put off.
func (r *Receiver) Pause() time.Time { return r.now().Add(endpoint.Spread(Pause, 0.5, r.chance())) }

// Enter takes a slot for an attempt. It returns false if there is none before the
// context ends, or impatient is closed.
func (r *Receiver) Enter(ctx context.Context, impatient <-chan struct{}) bool {
	select {
	case r.inFlight.slots <- struct{}{}:
		return true
	default:
	}
	select {
	case r.inFlight.slots <- struct{}{}:
		return true
	case <-impatient:
	case <-ctx.Done():
	}
	return false
}

// Leave frees the slot.
func (r *Receiver) Leave() { <-r.inFlight.slots }

// Watch counts an attempt as soon as it is slow, until the returned function is called.
func (r *Receiver) Watch(ctx context.Context) (ended func()) {
	var mu lock.Mutex
	var slow, over bool
	t := time.AfterFunc(SlowAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if slow = !over; slow {
			r.count(ctx, 1)
		}
	})
	return func() {
		if t.Stop() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if over = true; slow {
			r.count(ctx, -1)
		}
	}
}

// Wait waits for the writes of slow attempts.
func (r *Receiver) Wait() { r.inFlight.background.Wait() }

// count changes the number of our slow attempts and writes it in the background.
// Changes during a write are written after it, together.
func (r *Receiver) count(ctx context.Context, by int) {
	f := r.inFlight
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ours += by
	if f.writing {
		return
	}
	f.writing = true
	f.background.Go(func() {
		for {
			f.mu.Lock()
			n, dead := f.ours, f.dead
			if n == f.written {
				f.writing = false
				f.mu.Unlock()
				return
			}
			f.written, f.dead = n, nil
			f.mu.Unlock()
			// Not worth a repeat: the next change writes the count, and it ends by itself.
			if err := r.db.Note(ctx, f.item(r.now(), n, dead)); err != nil && ctx.Err() == nil {
				slog.Warn("slow attempts at a webhook not written", "webhook", r.ref.ID, "error", err)
			}
		}
	})
}

// item returns the item that sets our count and removes those of dead functions.
func (f *inFlight) item(now time.Time, n int, dead []string) store.Item {
	it := store.Item{Key: f.key, Kind: inFlightKind, ExpireAt: now.Add(keepInFlight),
		Attributes: map[string]string{f.by: ""}}
	for _, name := range dead {
		it.Attributes[name] = ""
	}
	if n > 0 {
		// No attempt takes longer.
		it.Attributes[f.by] = strconv.Itoa(n) +
			" " + now.Add(endpoint.AttemptTimeout+time.Second).UTC().Format(resource.TimeLayout)
	}
	return it
}
