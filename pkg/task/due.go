package task

import (
	"context"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// Set is a set of items that are due at a time, in store.ByDue. It is spread over shards, because the items of a busy
// stack would be too many for one partition.
type Set struct {
	Name   string
	Shards int
}

// Tasks holds the tasks that have not ended, by the time of their next step. Parked holds those whose next step is due
// later than a queue can delay a message.
var (
	Tasks  = Set{"task", 8}
	Parked = Set{"parked", 8}
)

// Key returns the key in store.ByDue of an item that is due at the given time, to the second.
func (s Set) Key(id string, at time.Time) store.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // returns no error
	return store.Key{PK: s.partition(int(h.Sum32() % uint32(s.Shards))), SK: at.UTC().Format(time.RFC3339) + "#" + id}
}

func (s Set) partition(shard int) string { return s.Name + "#" + strconv.Itoa(shard) }

// dueAt returns the time that Key was made for.
func dueAt(k store.Key) (time.Time, error) {
	at, _, _ := strings.Cut(k.SK, "#")
	return time.Parse(time.RFC3339, at)
}

// First returns the time at which the first item of the set is due, or the zero time if the set is empty.
func (s Set) First(ctx context.Context, db *store.DB) (first time.Time, err error) {
	for shard := range s.Shards {
		page, err := db.Keys(ctx, store.Query{Index: store.ByDue, Partition: s.partition(shard), Limit: 1,
			OldestFirst: true})
		if err != nil {
			return first, err
		}
		for _, it := range page.Items {
			at, err := dueAt(it.Due)
			if err != nil {
				return first, err
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	return first, nil
}

// until returns the largest sort key of the items that are due before the second after the given time.
func until(at time.Time) string { return at.UTC().Format(time.RFC3339) + "#~" }
