package publication

import (
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// clockKind is the kind of the clock of a sandbox in the table.
const clockKind = "sandbox_clock"

// maxMoves bounds the moves that are kept. Beyond them, the oldest two count as one.
const maxMoves = 100

// testClock is the clock of a sandbox, by which a test key lets time pass. It counts the time that was added after
// something was made: what is made later is not older for it.
type testClock struct {
	Moves []move `json:"moves"`
}

// move is a time that was added.
type move struct {
	At      time.Time `json:"at"`
	Seconds int64     `json:"seconds"`
}

// clockKey returns the key of the clock of a sandbox.
func clockKey(o tenant.Owner) store.Key { return store.IDKey(clockKind + "#" + o.String()) }

// clockOf reads the clock of an item. An item that is not there is a clock that was not moved.
func clockOf(it *store.Item) (c testClock, err error) {
	if it.Kind != clockKind {
		return c, nil
	}
	return c, it.Decode(&c)
}

// since returns the time that was added after a moment.
func (c testClock) since(at time.Time) (ahead time.Duration) {
	for _, m := range c.Moves {
		if m.At.After(at) {
			ahead += time.Duration(m.Seconds) * time.Second
		}
	}
	return ahead
}

// ahead returns the time by which the clock of an item was moved: since it was made, or since its content plan was.
func (c testClock) ahead(r *item.Record) time.Duration {
	if r.ContentPlanID == nil {
		return c.since(r.CreatedAt.Time)
	}
	made, ok := id.Time(*r.ContentPlanID)
	if !ok || made.After(r.CreatedAt.Time) {
		made = r.CreatedAt.Time
	}
	return c.since(made)
}

// aged returns the time that a post is older than the real clock says. A post that the clock has published at its
// planned time counts from that time.
func (c testClock) aged(r *item.Record, pub *item.Publication) time.Duration {
	if pub.PublishedAt == nil {
		return 0
	}
	after := c.since(pub.PublishedAt.Time)
	if r.PublishAt == nil {
		return after
	}
	early, all := r.PublishAt.Sub(pub.PublishedAt.Time), c.ahead(r)
	if early <= 0 || all-after < early { // it was published at its time, or before it by a call
		return after
	}
	return all - early
}

// addMove adds a move to the clock of an item in the transaction.
func addMove(tx *store.Tx, o tenant.Owner, it store.Item, m move) error {
	c, err := clockOf(&it)
	if err != nil {
		return err
	}
	if c.Moves = append(c.Moves, m); len(c.Moves) > maxMoves {
		c.Moves[1].Seconds += c.Moves[0].Seconds
		c.Moves = c.Moves[1:]
	}
	if it.Kind != clockKind {
		made, err := store.NewItem(clockKind, o, it.PK, c)
		made.Key = clockKey(o)
		tx.Create(made, nil)
		return err
	}
	if err := it.Encode(c); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}
