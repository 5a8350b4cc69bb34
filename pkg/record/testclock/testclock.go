// Package testclock holds the clock of a sandbox, by which a test key lets the metrics of its posts grow. The clock
// counts the time that was added after a post was published: later posts are not older for it.
package testclock

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of a clock in the table.
const Kind = "sandbox_clock"

// maxMoves bounds the moves that are kept. Beyond them, the oldest two count as one.
const maxMoves = 100

// Clock is the document of a clock.
type Clock struct {
	Moves []Move `json:"moves"`
}

// Move is a time that was added.
type Move struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Seconds int64     `json:"seconds"`
}

// Key returns the key of the clock of a sandbox.
func Key(o tenant.Owner) store.Key { return store.IDKey(Kind + "#" + o.String()) }

// Decode reads the clock of an item. An item that is not there is a clock that was not moved.
func Decode(it *store.Item) (c Clock, err error) {
	if it.Kind != Kind {
		return c, nil
	}
	return c, it.Decode(&c)
}

// Since returns the time that was added after a moment.
func (c Clock) Since(at time.Time) (ahead time.Duration) {
	for _, m := range c.Moves {
		if m.At.After(at) {
			ahead += time.Duration(m.Seconds) * time.Second
		}
	}
	return ahead
}

// Add adds a move to the clock of an item in the transaction. A move of the same id is added once.
func Add(tx *store.Tx, o tenant.Owner, it store.Item, m Move) error {
	c, err := Decode(&it)
	if err != nil {
		return err
	}
	for _, known := range c.Moves {
		if known.ID == m.ID {
			return nil
		}
	}
	if c.Moves = append(c.Moves, m); len(c.Moves) > maxMoves {
		c.Moves[1].Seconds += c.Moves[0].Seconds
		c.Moves = c.Moves[1:]
	}
	if it.Kind != Kind {
		made, err := store.NewItem(Kind, o, it.PK, c)
		made.Key = Key(o)
		tx.Create(made, nil)
		return err
	}
	if err := it.Encode(c); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}
