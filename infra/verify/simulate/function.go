package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// function is a Lambda function with its instances.
type function struct {
	topology.Function
	// start creates the handler of a new instance.
	start func() handler
	idle  []handler
	count int
	// running are the invocations that have not ended.
	running int
}

// handler handles one invocation.
type handler func(ctx context.Context, in any) (any, error)

// invocation is one run of a function.
type invocation struct {
	world    *world
	id       string
	function *function
	// serves is the function whose permissions the run has. That of a run of the API is the one that has the operation.
	serves topology.Function
	cancel context.CancelFunc
	// crashed reports whether the instance was killed. A killed instance has no effect any more.
	crashed, ended bool
	// stalls is the number of attempts at calls of AWS that took too long.
	stalls atomic.Int32
	// died are the functions to call when the instance crashes.
	died []func()
}

// apart separates the end of a function's time from its heartbeats, which come in whole seconds, because events at
// the same time have no order.
const apart = 333 * time.Microsecond

// invoke invokes a function. It calls done with the answer, unless the instance crashes or fails first.
func (w *world) invoke(f *function, what string, in any, done func(out any)) *invocation {
	f.count++
	f.running++
	inv := &invocation{world: w, id: fmt.Sprintf("%s-%d", f.Name, f.count), function: f, serves: f.Function}
	var h handler
	if n := len(f.idle); n > 0 && w.random.IntN(4) > 0 {
		h, f.idle = f.idle[n-1], f.idle[:n-1]
	} else {
		h = f.start()
	}
	w.note("invoke %s %s", inv.id, what)
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx := context.WithValue(context.Background(), invocationKey{}, inv)
	ctx = backoff.WithChance(ctx, inv.chances(w.random.Uint64()))
	ctx, cancel := context.WithTimeout(ctx, f.Timeout+apart)
	inv.cancel = cancel
	w.alive++
	// Lambda kills a run that does not end in time.
	w.after(f.Timeout+2*apart, func() {
		if !inv.ended && !inv.crashed {
			w.note("time-out %s", inv.id)
			w.crash(inv)
		}
	})
	go func() {
		defer func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.alive--
		}()
		out, err := h(ctx, in)
		_ = pass(context.WithoutCancel(ctx), &call{kind: toCaller, key: "return", do: func() error {
			inv.ended = true
			f.running--
			cancel()
			f.idle = append(f.idle, h)
			if err == nil && done != nil {
				done(out)
			}
			return nil
		}})
	}()
	return inv
}

// crash kills the instance of an invocation.
func (w *world) crash(inv *invocation) {
	if inv.crashed || inv.ended {
		return
	}
	w.note("crash %s", inv.id)
	w.mu.Lock()
	inv.crashed = true
	w.mu.Unlock()
	inv.function.running--
	inv.cancel()
	for _, f := range inv.died {
		f()
	}
}

// every invokes a function at regular intervals.
func (w *world) every(f *function, in any) {
	w.after(f.Every, func() {
		if w.stopped {
			return
		}
		w.invoke(f, "schedule", in, nil)
		w.every(f, in)
	})
}

// retry is the time until a stream or a bus repeats a failed call.
const retry = time.Second

// chances returns the source of random numbers of an invocation, whose goroutines share it.
func (*invocation) chances(seed uint64) func() float64 {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 2))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
}

// kind is the target of a call.
type kind int

const (
	toTable kind = iota
	toQueue
	toBus
	toProvider
	toReceiver
	toObjects
	// toCaller is the answer of a function to its caller.
	toCaller
)

// call is a request of a function to the world outside of it. It waits at the gate until the scheduler carries it
// out.
type call struct {
	by   *invocation
	kind kind
	// key names the call for the trace, and orders calls that arrive at the same time.
	key string
	// do carries out the call.
	do func() error
	// conflict takes the place of do, if it is not nil, and answers that another transaction has the item.
	conflict func() error
	// refused is the answer of a call that is not carried out, and lost is the answer of a call whose real answer
	// does not arrive.
	refused, lost error
	// throttled is the answer of a service that gets too many calls. It is refused if it is nil.
	throttled error
	// unheard is called, if it is not nil, when the answer does not arrive.
	unheard func()
	answer  chan error
}

// errCrashed is the answer to calls of a crashed function. The function no longer exists, and has no effect any
// more.
var errCrashed = errors.New("simulate: the function has crashed")

type invocationKey struct{}

// invocationOf returns the invocation that a context belongs to. All calls of functions use it, so that the code
// under test is built once for all seeds.
func invocationOf(ctx context.Context) *invocation {
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		panic("simulate: a call outside of any function")
	}
	return inv
}

// pass takes a call through the gate and returns its answer. The caller may leave when its context ends; the call
// may still be carried out then.
func pass(ctx context.Context, c *call) error {
	c.by = invocationOf(ctx)
	w := c.by.world
	if err := ctx.Err(); err != nil {
		return err
	}
	c.answer = make(chan error, 1)
	w.mu.Lock()
	if c.by.crashed {
		w.mu.Unlock()
		return errCrashed
	}
	w.arrived = append(w.arrived, c)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		if c.unheard != nil {
			c.unheard()
		}
		return ctx.Err()
	}
}

// The functions configure the SDK to repeat calls that were refused for now, lost their answer or take long.
const (
	sdkTries   = 4
	sdkPause   = 50 * time.Millisecond
	sdkTimeout = 5*time.Second + apart
)

// insist makes a call with the repeats of the SDK.
func insist(ctx context.Context, attempt func() *call) error {
	for try := 1; ; try++ {
		c := attempt()
		within, cancel := context.WithTimeout(ctx, sdkTimeout)
		err := pass(within, c)
		late := within.Err() != nil && ctx.Err() == nil
		cancel()
		if err != nil && late {
			invocationOf(ctx).stalls.Add(1)
			err = c.lost
		}
		if err == nil || (err != c.lost && err != c.refused) {
			return err
		}
		if try == sdkTries {
			invocationOf(ctx).stalls.Add(maxStalls) // it is cut off
			return err
		}
		if err := backoff.Sleep(ctx, sdkPause<<try); err != nil {
			return err
		}
	}
}

// sorted returns the indices of the parts of a call in an order that does not depend on which goroutine added its
// part first.
func sorted(parts []string) []int {
	places := make([]int, len(parts))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(parts[a], parts[b]) })
	return places
}

// inOrder returns the sorted parts of a call as its name.
func inOrder(parts []string) string { return strings.Join(slices.Sorted(slices.Values(parts)), " ") }

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
