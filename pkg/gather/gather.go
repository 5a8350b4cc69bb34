// Package gather lets callers that run at the same time share calls that take many
// entries at once, such as the writes of a table or the messages for a queue.
package gather

import (
	"sync"
	"time"
)

// linger is how long an entry waits for others to share its call with.
const linger = 4 * time.Millisecond

// Group sends the entries of several callers together. It waits for company only
// while there are callers that might bring some.
type Group[T any] struct {
	most int
	do   func([]T) []error

	mu sync.Mutex
	// busy are the callers that have no entry under way: more may come from them.
	busy    int
	waiting []waiting[T]
	timer   *time.Timer
}

// waiting is an entry whose caller waits for its end.
type waiting[T any] struct {
	entry T
	done  chan error
}

// New makes a group for the given number of callers. Each of them must call Leave
// when it has no more entries to come. A call takes most entries; do makes one, and
// gives at the place of each entry its error or nil.
func New[T any](callers, most int, do func([]T) []error) *Group[T] {
	return &Group[T]{busy: callers, most: most, do: do}
}

// Leave tells that a caller brings no more entries.
func (g *Group[T]) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	g.sendIfAll()
}

// Do has an entry sent, and gives its error.
func (g *Group[T]) Do(entry T) error {
	done := make(chan error, 1)
	g.mu.Lock()
	g.busy--
	g.waiting = append(g.waiting, waiting[T]{entry, done})
	switch {
	case len(g.waiting) >= g.most:
		g.send()
	case len(g.waiting) == 1 && g.busy > 0:
		g.timer = time.AfterFunc(linger, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.send()
		})
	default:
		g.sendIfAll()
	}
	g.mu.Unlock()
	return <-done
}

// sendIfAll sends what waits where nobody is left that might bring more.
func (g *Group[T]) sendIfAll() {
	if g.busy <= 0 {
		g.send()
	}
}

// send sends what waits. Its callers are busy again when it has an end.
func (g *Group[T]) send() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	all := g.waiting
	if len(all) == 0 {
		return
	}
	g.waiting = nil
	go func() {
		entries := make([]T, len(all))
		for i, w := range all {
			entries[i] = w.entry
		}
		failed := g.do(entries)
		g.mu.Lock()
		g.busy += len(all)
		g.mu.Unlock()
		for i, w := range all {
			w.done <- failed[i]
		}
	}()
}
