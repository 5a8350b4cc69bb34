package dispatch

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/store"
)

// checkpoint is how far the sweeps have come.
type checkpoint struct {
	item store.Item
	// Done is the place up to which nothing is left to do; empty before the first.
	Done string `json:"done"`
}

// checkpoint reads the checkpoint of one part of the sweeps.
func (s *Sweeper) checkpoint(ctx context.Context, part string) (*checkpoint, error) {
	m := &checkpoint{}
	it, err := s.db.Get(ctx, store.IDKey("sweep#"+part))
	switch {
	case errors.Is(err, store.ErrNotFound):
		m.item = store.Item{Key: store.IDKey("sweep#" + part), Kind: "sweep"}
		return m, nil
	case err != nil:
		return nil, err
	}
	m.item = it
	return m, it.Decode(m)
}

// advance moves a checkpoint on. It returns store.ErrConflict if another sweeper has
// done so since it was read.
func (s *Sweeper) advance(ctx context.Context, m *checkpoint, done string) error {
	if done <= m.Done {
		return nil
	}
	m.Done = done
	if err := m.item.Encode(m); err != nil {
		return err
	}
	tx := &store.Tx{}
	if m.item.Version == 0 {
		tx.Create(m.item, nil)
	} else {
		tx.Replace(m.item)
	}
	if err := s.db.Commit(ctx, tx); err != nil {
		return err
	}
	m.item.Version++
	return nil
}
