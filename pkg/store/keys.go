package store

import "context"

// Keys reads a page of an index that holds keys only. It does not read the items: each has only its key and its key in
// the index. An item may have moved in the index since.
func (db *DB) Keys(ctx context.Context, q Query) (Page, error) { return db.list(ctx, q) }

// Whole reads the items that Keys listed by an index. The index lags: Whole leaves out the items that no longer exist,
// that have expired, or that have moved in the index since.
func (db *DB) Whole(ctx context.Context, x Index, listed []Item) ([]Item, error) {
	keys := make([]Key, len(listed))
	for i, it := range listed {
		keys[i] = it.Key
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var whole []Item
	for i, it := range items {
		if it.key(x) == listed[i].key(x) {
			whole = append(whole, it)
		}
	}
	return whole, nil
}
