package store

import (
	"context"
	"sync"
	"time"
)

// linger is how long an update waits for others to share its round trip with.
const linger = 4 * time.Millisecond

// Group sends updates together that several callers make at about the same time.
// It waits for company only while there are callers that might bring some.
type Group struct {
	ctx context.Context
	db  *DB

	mu sync.Mutex
	// busy are the callers that have no update under way: more may come from them.
	busy    int
	waiting []waiting
	timer   *time.Timer
}

// waiting is an update whose caller waits for its end.
type waiting struct {
	update Update
	done   chan error
}

// Group makes a group for the given number of callers. Each of them must call Leave
// when it has no more updates to come. The context is that of all their calls.
func (db *DB) Group(ctx context.Context, callers int) *Group {
	return &Group{ctx: ctx, db: db, busy: callers}
}

// Leave tells that a caller brings no more updates.
func (g *Group) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	g.sendIfAll()
}

// Update is UpdateAll of one update.
func (g *Group) Update(u Update) error {
	done := make(chan error, 1)
	g.mu.Lock()
	g.busy--
	g.waiting = append(g.waiting, waiting{u, done})
	switch {
	case len(g.waiting) >= updateBatch:
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
func (g *Group) sendIfAll() {
	if g.busy <= 0 {
		g.send()
	}
}

// send sends what waits. Its callers are busy again when it has an end.
func (g *Group) send() {
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
		updates := make([]Update, len(all))
		for i, w := range all {
			updates[i] = w.update
		}
		failed := g.db.UpdateAll(g.ctx, updates...)
		g.mu.Lock()
		g.busy += len(all)
		g.mu.Unlock()
		for i, w := range all {
			w.done <- failed[i]
		}
	}()
}
