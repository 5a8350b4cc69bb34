// Package testclock has the clock of a sandbox, by which a test key lets time pass. It decides what is past, due or
// next: Now returns its time. What is noted, such as when something was made, keeps the time of the real clock.
package testclock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// kind is the kind of the clock in the table.
const kind = "sandbox_clock"

// maxMoves bounds the moves that are kept. Beyond them, the oldest two count as one.
const maxMoves = 100

// Clock is the clock of a sandbox. The zero value was never moved.
type Clock struct {
	Moves []Move `json:"moves"`
}

// Move is a time that was added.
type Move struct {
	At      time.Time `json:"at"`
	Seconds int64     `json:"seconds"`
}

// Key returns the key of the clock of a sandbox.
func Key(o tenant.Owner) store.Key { return store.IDKey(kind + "#" + o.String()) }

// Of reads the clock of an item. An item that is not there is a clock that was not moved.
func Of(it *store.Item) (c Clock, err error) {
	if it.Kind != kind {
		return c, nil
	}
	return c, it.Decode(&c)
}

// Since returns the time that was added after a moment of the real clock.
func (c Clock) Since(at time.Time) (ahead time.Duration) {
	for _, m := range c.Moves {
		if m.At.After(at) {
			ahead += time.Duration(m.Seconds) * time.Second
		}
	}
	return ahead
}

// Ahead returns the time by which the clock is ahead of the real one.
func (c Clock) Ahead() time.Duration { return c.Since(time.Time{}) }

// At returns the time at a time of the real clock, of an item that was read by Key.
func At(it *store.Item, real time.Time) (time.Time, error) {
	c, err := Of(it)
	return real.Add(c.Ahead()), err
}

// Read returns the clock of an owner. The clock of live data is the real one.
func Read(ctx context.Context, db *store.DB, o tenant.Owner) (c Clock, err error) {
	if o.Mode != tenant.Test {
		return c, nil
	}
	it, err := db.Lookup(ctx, Key(o))
	if err != nil {
		return c, err
	}
	return Of(&it)
}

// Now returns the time of an owner's clock at a time of the real one.
func Now(ctx context.Context, db *store.DB, o tenant.Owner, real time.Time) (time.Time, error) {
	c, err := Read(ctx, db, o)
	return real.Add(c.Ahead()), err
}

// Add adds a move to the clock of a sandbox in the transaction, and returns the time by which it is then ahead.
func Add(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner, m Move) (ahead time.Duration, err error) {
	it, err := db.Lookup(ctx, Key(o))
	if err != nil {
		return 0, err
	}
	c, err := Of(&it)
	if err != nil {
		return 0, err
	}
	if c.Moves = append(c.Moves, m); len(c.Moves) > maxMoves {
		c.Moves[1].Seconds += c.Moves[0].Seconds
		c.Moves = c.Moves[1:]
	}
	if it.Kind != kind {
		made, err := store.NewItem(kind, o, it.PK, c)
		made.Key = Key(o)
		tx.Create(made, nil)
		return c.Ahead(), err
	}
	if err := tx.Rewrite(it, c); err != nil {
		return 0, err
	}
	return c.Ahead(), nil
}

// Reset sets the clock of a sandbox back to the real one in the transaction.
func Reset(ctx context.Context, db *store.DB, tx *store.Tx, o tenant.Owner) error {
	it, err := db.Lookup(ctx, Key(o))
	if err == nil && it.Kind == kind {
		tx.Delete(it)
	}
	return err
}

// wokenAtOnce is the number of tasks that one step wakes.
const wokenAtOnce = 20

// StartWaking adds a task to the transaction that moves the clock of a sandbox. Its function is that of Waking.
func StartWaking(tx *store.Tx, now time.Time, account tenant.Account, kind task.Kind, q topology.Queue) error {
	return task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(kind, id.New("advance", now), 1),
		Kind: kind, Queue: q, Subject: string(account), Owner: tenant.Of(account, tenant.Test)}}, struct{}{})
}

// Waking returns the function of a task that wakes what waits for the clock of a sandbox: the tasks of its items of a
// kind. The message is that of an item's task, or nil if the item does not wait.
func Waking(db *store.DB, now func() time.Time, kind string,
	message func(store.Item) (*task.Message, error)) task.Func {
	return func(ctx context.Context, r *task.Run) error {
		if r.Mode != tenant.Test {
			return task.Permanent(fmt.Errorf("testclock: %s is not a sandbox", r.Owner))
		}
		var after *store.Cursor
		if err := r.Recall("after", &after); err != nil {
			return err
		}
		page, err := db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, kind),
			Limit: wokenAtOnce, OldestFirst: true, After: after})
		if err != nil {
			return task.Again(err)
		}
		r.Also(func(_ context.Context, tx *store.Tx) error {
			for _, it := range page.Items {
				m, err := message(it)
				if err == nil && m != nil {
					err = task.Wake(tx, now(), *m)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if page.Next == nil {
			return nil
		}
		return errors.Join(r.Keep("after", page.Next), r.Sleep(0))
	}
}
