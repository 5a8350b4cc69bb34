package task

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/store"
)

// Checkpoint is how far a repeated search has got, kept from one run to the next.
type Checkpoint struct {
	db   *store.DB
	item store.Item
	// Done is the place up to which nothing is left to do; empty before the first run.
	Done string `json:"done"`
}

// ReadCheckpoint reads the checkpoint of a search.
func ReadCheckpoint(ctx context.Context, db *store.DB, name string) (*Checkpoint, error) {
	key := store.IDKey("checkpoint#" + name)
	it, err := db.Get(ctx, key)
	c := &Checkpoint{db: db, item: it}
	if errors.Is(err, store.ErrNotFound) {
		c.item = store.Item{Key: key, Kind: "checkpoint"}
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	return c, it.Decode(c)
}

// Advance moves the checkpoint on; never back. It returns store.ErrConflict where
// another run has done so since it was read.
func (c *Checkpoint) Advance(ctx context.Context, done string) error {
	if done <= c.Done {
		return nil
	}
	c.Done = done
	if err := c.item.Encode(c); err != nil {
		return err
	}
	tx := &store.Tx{}
	if c.item.Version == 0 {
		tx.Create(c.item, nil)
	} else {
		tx.Replace(c.item)
	}
	if err := c.db.Commit(ctx, tx); err != nil {
		return err
	}
	c.item.Version++
	return nil
}
