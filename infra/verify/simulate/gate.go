package simulate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

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
		if err := sleep(ctx, sdkPause<<try); err != nil {
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

// sleep waits for a duration, or for the end of the context.
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
