package simulate

import (
	"context"
	"fmt"
	"math/rand/v2"
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
