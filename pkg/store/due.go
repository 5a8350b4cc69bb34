package store

import (
	"context"
	"errors"
	"time"
)

// DueAt returns the place of an item in a partition of ByDue that lists items by the time at which they are due.
func DueAt(partition string, at time.Time, id string) Key {
	return Key{PK: partition, SK: dueFrom(at) + id}
}

// dueFrom is the beginning of the sort keys of all items that are due at a time.
func dueFrom(t time.Time) string { return t.UTC().Format(time.RFC3339) + "#" }

// EachDue calls f for each item of such a partition that is due, the longest due first, and returns the sum of what f
// returns. An item for which f fails stays in the list for the next call, and its error is among those returned,
// unless it is ErrConflict: the item has changed since, or the index is behind.
func (db *DB) EachDue(ctx context.Context, partition string, now time.Time, f func(Item) (int, error)) (sum int,
	err error) {
	q := Query{Index: ByDue, Partition: partition, To: dueFrom(now.Add(time.Second)), Limit: 100, OldestFirst: true}
	var failed error
	err = db.Each(ctx, q, func(it Item) error {
		n, err := f(it)
		switch {
		case errors.Is(err, ErrConflict):
		case err != nil:
			failed = errors.Join(failed, err)
		default:
			sum += n
		}
		return ctx.Err()
	})
	return sum, errors.Join(err, failed)
}
