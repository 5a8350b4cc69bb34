package task

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/store"
)

// Checkpoint is the progress of a repeated search, kept from one run to the next.
type Checkpoint struct {
	db   *store.DB
	item store.Item
	// Done is the position up to which nothing is left to do. It is empty before the first run.
	Done string `json:"done"`
}

// ReadCheckpoint reads the checkpoint of a search.
func ReadCheckpoint(ctx context.Context, db *store.DB, name string) (*Checkpoint, error) {
	it, err := checkpoint(ctx, db, name)
	c := &Checkpoint{db: db, item: it}
	if err != nil || it.Version == 0 {
		return c, err
	}
	return c, it.Decode(c)
}

// Advance moves the checkpoint forward, never back. It returns store.ErrConflict if another run has moved it since it
// was read.
func (c *Checkpoint) Advance(ctx context.Context, done string) error {
	if done <= c.Done {
		return nil
	}
	c.Done = done
	return keepCheckpoint(ctx, c.db, &c.item, c)
}

// checkpoint returns the item of a checkpoint, whose version is 0 before the first run.
func checkpoint(ctx context.Context, db *store.DB, name string) (store.Item, error) {
	key := store.IDKey("checkpoint#" + name)
	it, err := db.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Item{Key: key, Kind: "checkpoint"}, nil
	}
	return it, err
}

// keepCheckpoint writes the document of a checkpoint. It returns store.ErrConflict if
// another run has written it since it was read.
func keepCheckpoint(ctx context.Context, db *store.DB, it *store.Item, doc any) error {
	if err := it.Encode(doc); err != nil {
		return err
	}
	tx := &store.Tx{}
	if it.Version == 0 {
		tx.Create(*it, nil)
	} else {
		tx.Replace(*it)
	}
	if err := db.Commit(ctx, tx); err != nil {
		return err
	}
	it.Version++
	return nil
}
