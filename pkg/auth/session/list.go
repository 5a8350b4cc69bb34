package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/store"
)

// List returns the open sessions of a person, the one in use last first.
func (s *Store) List(ctx context.Context, personID string) (all []*Session, err error) {
	var keys []store.Key
	q := store.Query{Index: store.ByParent, Partition: ofPerson(personID), Limit: 100}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		keys = append(keys, it.Key)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("session: list: %w", err)
	}
	// The index is late: a session that has just ended may still be in it.
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("session: list: %w", err)
	}
	now := s.now()
	for _, it := range items {
		if it.Kind == "" {
			continue
		}
		found := &Session{hash: it.Parent.SK, version: it.Version}
		if err := it.Decode(found); err != nil {
			return nil, err
		}
		if !found.ended(now) {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return b.SeenAt.Compare(a.SeenAt) })
	return all, nil
}
