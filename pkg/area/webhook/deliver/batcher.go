package deliver

import (
	"sync"
	"time"
)

// linger is the time that an entry waits for others to share its call with.
const linger = 4 * time.Millisecond

// batcher lets callers that run at the same time share calls that take many entries at
// once, such as the writes of a table or the messages for a queue. An entry waits for
// others only while there are callers that may bring some.
type batcher[T any] struct {
	most int
	call func([]T) []error

	mu sync.Mutex
	// busy counts the callers without an entry under way: more may come from them.
	busy    int
	waiting []waiting[T]
	timer   *time.Timer
}

// waiting is an entry whose caller waits for the result.
type waiting[T any] struct {
	entry T
	done  chan error
}

// newBatcher returns a batcher for the given number of callers, each of which calls
// leave when it has no more entries. A call takes at most most entries; do makes one,
// and returns at the place of each entry its error or nil.
func newBatcher[T any](callers, most int, do func([]T) []error) *batcher[T] {
	return &batcher[T]{busy: callers, most: most, call: do}
}

// leave says that a caller brings no more entries.
func (b *batcher[T]) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy--
	b.sendIfAll()
}

// do sends an entry and returns its error.
func (b *batcher[T]) do(entry T) error {
	done := make(chan error, 1)
	b.mu.Lock()
	b.busy--
	b.waiting = append(b.waiting, waiting[T]{entry, done})
	switch {
	case len(b.waiting) >= b.most:
		b.send()
	case len(b.waiting) == 1 && b.busy > 0:
		b.timer = time.AfterFunc(linger, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.send()
		})
	default:
		b.sendIfAll()
	}
	b.mu.Unlock()
	return <-done
}

// sendIfAll sends the waiting entries if no caller is left that may bring more.
func (b *batcher[T]) sendIfAll() {
	if b.busy <= 0 {
		b.send()
	}
}

// send sends the waiting entries. Their callers are busy again when the call has returned.
func (b *batcher[T]) send() {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	all := b.waiting
	if len(all) == 0 {
		return
	}
	b.waiting = nil
	go func() {
		entries := make([]T, len(all))
		for i, w := range all {
			entries[i] = w.entry
		}
		failed := b.call(entries)
		b.mu.Lock()
		b.busy += len(all)
		b.mu.Unlock()
		for i, w := range all {
			w.done <- failed[i]
		}
	}()
}
