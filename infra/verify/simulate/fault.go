package simulate

import (
	"math/rand/v2"
	"slices"
	"time"
)

// what is the outcome of a call.
type what string

const (
	fine        what = "ok"
	lose        what = "lost"
	refuse      what = "refused"
	throttle    what = "throttled"
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
	// Silent is the time from the beginning for which one receiver does not answer.
	Silent time.Duration
	// Provider is the probability that a provider fails a generation.
	Provider float64
	// Answer is the probability that a platform answers a call otherwise than by doing what it asks.
	Answer float64
	// PerSecond are the calls a second that each kind of service takes; it throttles more. A missing kind takes any
	// number. AtOnce are the generations that a provider makes at the same time, and 0 is any number.
	PerSecond map[kind]int
	AtOnce    int
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
	f := faults{
		Lose: draw(0.1), Refuse: draw(0.1), Conflict: draw(0.2), Crash: draw(0.03),
		Slow: draw(0.1), SlowFor: []time.Duration{time.Second, 10 * time.Second, 40 * time.Second}[r.IntN(3)],
		Twice: draw(0.3), Late: draw(0.3), Receiver: draw(0.3), Provider: draw(0.2), Answer: draw(0.2),
		PerSecond: map[kind]int{}, AtOnce: r.IntN(3) * (1 + r.IntN(8)),
	}
	for _, k := range []kind{toTable, toQueue, toProvider} {
		if r.IntN(2) == 0 {
			f.PerSecond[k] = usualRate[k] + r.IntN(4*usualRate[k])
		}
	}
	return f
}

// silence is how long one receiver does not answer, in turn by the number of the seed.
var silence = []time.Duration{0, 24 * time.Hour, 0, 5 * time.Minute}

// usualRate are low rates of calls a second, which the busiest moments of a run exceed. One call of the API makes up to
// three calls of a CRM: with fewer a second it could never succeed.
var usualRate = map[kind]int{toTable: 30, toQueue: 10, toProvider: 4}

// throttles counts a call, and reports whether its service has got too many in the last second.
func (w *world) throttles(k kind) bool {
	most := w.faults.PerSecond[k]
	if w.calm || most == 0 {
		return false
	}
	now := time.Now()
	recent := slices.DeleteFunc(w.recent[k], func(at time.Time) bool { return now.Sub(at) >= time.Second })
	full := len(recent) >= most
	if !full {
		recent = append(recent, now)
	}
	w.recent[k] = recent
	return full
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
	case c.refused != nil && w.throttles(c.kind):
		f.what = throttle
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
