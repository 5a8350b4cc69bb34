package store

import (
	"context"
	"sync"
)

// Merge reads several partitions of an index of keys as if they were one, in the order of their sort keys, oldest
// first. It holds one page of keys of each partition, and the items of one page.
type Merge struct {
	db    *DB
	limit int
	parts []*mergePart
}

// mergePart is one partition: the keys that were read and not yet returned, and whether there are more.
type mergePart struct {
	q    Query
	keys []Item
	more bool
}

// Merge returns the merged list of the partitions. The query sets everything else. Its index must hold keys only. Its
// limit is the size of a page.
func (db *DB) Merge(q Query, partitions []string) *Merge {
	m := &Merge{db: db, limit: q.Limit}
	q.OldestFirst = true
	for _, p := range partitions {
		q.Partition = p
		m.parts = append(m.parts, &mergePart{q: q, more: true})
	}
	return m
}

// Next returns the next items, at most the limit, or none at the end.
func (m *Merge) Next(ctx context.Context) ([]Item, error) {
	for {
		var keys []Key
		for len(keys) < m.limit {
			if err := m.fill(ctx); err != nil {
				return nil, err
			}
			first := m.first()
			if first == nil {
				break
			}
			keys = append(keys, first.keys[0].Key)
			first.keys = first.keys[1:]
		}
		if len(keys) == 0 {
			return nil, nil
		}
		items, err := m.db.GetAll(ctx, keys...)
		if err != nil {
			return nil, err
		}
		// The index lags: leave out items that no longer exist.
		there := items[:0]
		for _, it := range items {
			if it.Kind != "" {
				there = append(there, it)
			}
		}
		if len(there) > 0 {
			return there, nil
		}
	}
}

// fill reads the next page of each partition whose keys are used up.
func (m *Merge) fill(ctx context.Context) error {
	failed := make([]error, len(m.parts))
	var all sync.WaitGroup
	for i, p := range m.parts {
		if len(p.keys) == 0 && p.more {
			all.Go(func() { failed[i] = p.read(ctx, m.db) })
		}
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads pages until one has keys.
func (p *mergePart) read(ctx context.Context, db *DB) error {
	for len(p.keys) == 0 && p.more {
		page, err := db.list(ctx, p.q)
		if err != nil {
			return err
		}
		p.keys, p.q.After, p.more = page.Items, page.Next, page.Next != nil
	}
	return nil
}

// first returns the partition whose next key is the smallest, or nil at the end.
func (m *Merge) first() (first *mergePart) {
	for _, p := range m.parts {
		if len(p.keys) > 0 && (first == nil || p.sort() < first.sort()) {
			first = p
		}
	}
	return first
}

// sort returns the sort key of the next key.
func (p *mergePart) sort() string { return p.keys[0].key(p.q.Index).SK }
