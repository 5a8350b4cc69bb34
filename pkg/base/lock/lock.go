// Package lock has a lock that may be held during a call of another service. Start with Mutex.
package lock

import "sync"

// Mutex is a lock like sync.Mutex, and like it ready to use as its zero value. It goes to the waiting callers in their
// order. They block on a channel: so a simulation under testing/synctest recognizes that all goroutines are blocked
// until the call of the holder is answered.
type Mutex struct {
	mu      sync.Mutex
	held    bool
	waiting []chan struct{}
}

// Lock waits for the lock.
func (m *Mutex) Lock() {
	m.mu.Lock()
	if !m.held {
		m.held = true
		m.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	m.waiting = append(m.waiting, turn)
	m.mu.Unlock()
	<-turn
}

// Unlock passes the lock on.
func (m *Mutex) Unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.held {
		panic("lock: unlock of a mutex that is not held")
	}
	if len(m.waiting) == 0 {
		m.held = false
		return
	}
	close(m.waiting[0])
	m.waiting = m.waiting[1:]
}
