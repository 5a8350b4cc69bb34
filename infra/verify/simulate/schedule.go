package simulate

import (
	"cmp"
	"container/heap"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing/synctest"
	"time"
)

// entry is an action of the scheduler at a time.
type entry struct {
	at  time.Time
	seq int
	do  func()
}

type agenda []*entry

func (e agenda) Len() int { return len(e) }
func (e agenda) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].seq < e[j].seq
}
func (e agenda) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *agenda) Push(x any) { *e = append(*e, x.(*entry)) }

// Pop implements heap.Interface.
func (e *agenda) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// after schedules an action after a duration.
func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, &entry{time.Now().Add(d), w.seq, do})
}

// run performs one action after another until the world is quiet. Between two of them every goroutine is blocked:
// at the gate, or waiting for a time.
func (w *world) run() {
	for {
		synctest.Wait()
		select {
		case <-w.wake:
		default:
		}
		w.admit()
		w.follow()
		if w.quiet() {
			return
		}
		if len(w.events) == 0 {
			<-w.wake // some goroutine waits for a time
			continue
		}
		if d := time.Until(w.events[0].at); d > 0 {
			t := time.NewTimer(d)
			select {
			case <-w.wake:
			case <-t.C:
			}
			t.Stop()
			continue
		}
		heap.Pop(&w.events).(*entry).do()
	}
}

// admit decides the fate of the calls that have arrived at the gate.
func (w *world) admit() {
	w.mu.Lock()
	arrived, calls := w.arrived, w.asked
	w.arrived, w.asked = nil, nil
	w.mu.Unlock()
	// The goroutines may have arrived in any order.
	slices.SortStableFunc(arrived, func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.by.id, b.by.id), cmp.Compare(a.key, b.key))
	})
	slices.SortStableFunc(calls, func(a, b asked) int { return cmp.Compare(a.key+a.path, b.key+b.path) })
	for _, a := range calls {
		w.after(time.Millisecond, func() { w.answer(a) })
	}
	for _, c := range arrived {
		f := w.fate(c)
		w.after(f.latency, func() { w.carryOut(c, f) })
	}
}

// carryOut carries out a call as its fate says, and answers it.
func (w *world) carryOut(c *call, f fate) {
	if c.by.crashed {
		// The call was on its way when its function died.
		if f.sent && c.kind != toCaller {
			w.note("late %s", c.key)
			_ = c.do()
		}
		c.fails(errCrashed)
		return
	}
	w.note("%s %s %s", f.what, c.by.id, c.key)
	switch f.what {
	case crashBefore:
		w.crash(c.by)
		c.fails(errCrashed)
	case crashAfter:
		_ = c.do()
		w.crash(c.by)
		c.fails(errCrashed)
	case lose:
		_ = c.do()
		c.fails(c.lost)
	case throttle:
		c.answer <- cmp.Or(c.throttled, c.refused)
	case refuse:
		c.answer <- c.refused
	case conflict:
		c.answer <- c.conflict()
	default:
		c.answer <- c.do()
	}
}

// fails returns an error as the answer of a call that was carried out.
func (c *call) fails(err error) {
	if c.unheard != nil {
		c.unheard()
	}
	c.answer <- err
}

// note adds a line to the trace.
func (w *world) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", w.trace, time.Now().UnixNano(), line)
	w.trace = h.Sum64()
	w.steps++
	if w.Trace != nil {
		fmt.Fprintf(w.Trace, "%s %s\n", time.Now().Format("15:04:05.000000"), line)
	}
}

// chance reports whether an event of the given probability happens.
func chance(r *rand.Rand, p float64) bool { return p > 0 && r.Float64() < p }

// between returns a random duration. Short ones are more likely.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	x := r.Float64()
	return least + time.Duration(x*x*x*float64(most-least))
}
