package simulate

import (
	"math/rand/v2"
	"time"
)

// what is the outcome of a call.
type what string

const (
	fine        what = "ok"
	lose        what = "lost"
	refuse      what = "refused"
	conflict    what = "conflict"
	crashBefore what = "crash-before"
	crashAfter  what = "crash-after"
)

// fate is the outcome of a call, and its time.
type fate struct {
	what    what
	latency time.Duration
	// sent reports whether the call leaves its function at once, so that it is carried out even if the function
	// crashes.
	sent bool
}

// faults are the probabilities of the faults. Each seed has its own: some have many faults of one kind, and some
// have none.
type faults struct {
	Lose, Refuse, Conflict, Crash float64
	// Slow is the share of calls that take long, up to SlowFor.
	Slow    float64
	SlowFor time.Duration
	// Twice and Late are the shares of messages that arrive twice, or late.
	Twice, Late float64
	// Receiver is the probability that a receiver fails.
	Receiver float64
	// Provider is the probability that a provider fails a generation.
	Provider float64
}

// drawFaults draws the faults of a seed.
func drawFaults(r *rand.Rand) faults {
	draw := func(most float64) float64 {
		switch r.IntN(3) {
		case 0:
			return 0
		case 1:
			return most * r.Float64() / 10
		default:
			return most * r.Float64()
		}
	}
	return faults{
		Lose: draw(0.1), Refuse: draw(0.1), Conflict: draw(0.2), Crash: draw(0.03),
		Slow: draw(0.1), SlowFor: []time.Duration{time.Second, 10 * time.Second, 40 * time.Second}[r.IntN(3)],
		Twice: draw(0.3), Late: draw(0.3), Receiver: draw(0.3), Provider: draw(0.2),
	}
}

// fate draws the outcome of a call.
func (w *world) fate(c *call) fate {
	f := fate{what: fine, latency: time.Millisecond + between(w.random, 0, 20*time.Millisecond),
		sent: w.random.IntN(2) == 0}
	if w.calm {
		return f
	}
	if chance(w.random, w.faults.Slow) {
		f.latency = between(w.random, 0, w.faults.SlowFor)
	}
	switch {
	case chance(w.random, w.faults.Crash):
		f.what = crashBefore
		if w.random.IntN(2) == 0 {
			f.what = crashAfter
		}
	case c.lost != nil && chance(w.random, w.faults.Lose):
		f.what = lose
	case c.refused != nil && chance(w.random, w.faults.Refuse):
		f.what = refuse
	case c.conflict != nil && chance(w.random, w.faults.Conflict):
		f.what = conflict
	}
	return f
}
