package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// kind is what a call goes to.
type kind int

const (
	toTable kind = iota
	toQueue
	toBus
	toProvider
	toReceiver
	toObjects
	// toCaller is the answer of a function to whoever invoked it.
	toCaller
)

// call is something that a function asks of the world outside of it. It waits at the
// gate until the scheduler carries it out.
type call struct {
	by   *invocation
	kind kind
	// key names the call for the trace, and orders calls that arrive at the same time.
	key string
	// do carries the call out.
	do func() error
	// conflict, where it is set, takes the place of do and answers that another
	// transaction has the item.
	conflict func() error
	// refused is the answer of a call that is not carried out, and lost that of one whose
	// answer does not arrive.
	refused, lost error
	// unheard, where it is set, is called where the answer did not arrive.
	unheard func()
	answer  chan error
}

// errCrashed is what a function that has crashed gets for an answer: it no longer
// exists, and nothing that it does has an effect.
var errCrashed = errors.New("simulate: the function has crashed")

type invocationKey struct{}

// invocationOf returns the invocation that a context belongs to. All that functions
// call is reached through it, so that the code under test is built once for all seeds.
func invocationOf(ctx context.Context) *invocation {
	inv, ok := ctx.Value(invocationKey{}).(*invocation)
	if !ok {
		panic("simulate: a call outside of any function")
	}
	return inv
}

// pass takes a call through the gate and returns its answer. The caller may leave
// when its context ends; the call may still be carried out then.
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

// How the functions have the SDK try a call again that was refused for now, or whose
// answer was lost or takes long.
const (
	sdkTries   = 4
	sdkPause   = 50 * time.Millisecond
	sdkTimeout = 5*time.Second + apart
)

// insist passes a call as the SDK does.
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
		if try == sdkTries || err == nil || (err != c.lost && err != c.refused) {
			return err
		}
		if err := sleep(ctx, sdkPause<<try); err != nil {
			return err
		}
	}
}

// sorted returns the places of what a call takes together, in an order that does not
// depend on which goroutine brought its part first.
func sorted(parts []string) []int {
	places := make([]int, len(parts))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(parts[a], parts[b]) })
	return places
}

// inOrder returns the parts of a call as its name.
func inOrder(parts []string) string { return strings.Join(slices.Sorted(slices.Values(parts)), " ") }

// sleep waits for a time, or for the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
