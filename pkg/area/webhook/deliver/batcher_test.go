package deliver

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// calls records the entries that are sent together.
type calls struct {
	mu   sync.Mutex
	made [][]int
}

var errOdd = errors.New("odd")

// do refuses odd numbers.
func (c *calls) do(all []int) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, all)
	failed := make([]error, len(all))
	for i, n := range all {
		if n%2 == 1 {
			failed[i] = fmt.Errorf("%d is %w", n, errOdd)
		}
	}
	return failed
}

func TestEachCallerGetsItsOwnEnd(t *testing.T) {
	const callers, entries, most = 40, 5, 7
	var c calls
	g := newBatcher(callers, most, c.do)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			defer g.leave()
			for n := range entries {
				number := i*entries + n
				err := g.do(number)
				if (number%2 == 1) != errors.Is(err, errOdd) || err != nil &&
					err.Error() != fmt.Sprint(number, " is odd") {
					t.Errorf("%d: %v", number, err)
				}
			}
		})
	}
	group.Wait()
	seen := map[int]int{}
	for _, call := range c.made {
		if len(call) > most || len(call) == 0 {
			t.Errorf("a call of %d entries", len(call))
		}
		for _, n := range call {
			seen[n]++
		}
	}
	if len(seen) != callers*entries {
		t.Errorf("%d of %d entries were sent", len(seen), callers*entries)
	}
	for n, times := range seen {
		if times != 1 {
			t.Errorf("%d was sent %d times", n, times)
		}
	}
	if len(c.made) == callers*entries {
		t.Error("no call was shared")
	}
}

func TestNobodyWaitsForThoseWhoCannotCome(t *testing.T) {
	var c calls
	g := newBatcher(3, 10, c.do)
	held := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer g.leave()
		_ = g.do(0)
		<-held // it stays, and brings nothing: the others linger for it, and then go
	})
	group.Go(func() {
		defer g.leave()
		if err := g.do(2); err != nil {
			t.Error(err)
		}
		close(held)
	})
	g.leave()
	group.Wait()
	// A single caller does not linger.
	alone := newBatcher(1, 10, c.do)
	if err := alone.do(1); !errors.Is(err, errOdd) {
		t.Error(err)
	}
	alone.leave()
	total := 0
	for _, call := range c.made {
		total += len(call)
	}
	if total != 3 {
		t.Errorf("calls %v", c.made)
	}
}
