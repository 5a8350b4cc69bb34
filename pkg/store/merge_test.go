package store_test

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/store"
)

func TestPartitionsAreMergedInOrder(t *testing.T) {
	db, faults, _ := faulty(t)
	partitions := []string{"due#0", "due#1", "due#2", "due#3"}
	all := ids(20)
	fill(t, db, len(all), func(i int, it *store.Item) { it.Due.PK = partitions[i*i%3] })
	read := func(limit int) (got []string) {
		t.Helper()
		m := db.Merge(store.Query{Index: store.ByDue, From: all[2], To: all[17], Limit: limit}, partitions)
		for {
			items, err := m.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(items) == 0 {
				return got
			}
			if len(items) > limit {
				t.Errorf("%d items, limit %d", len(items), limit)
			}
			got = append(got, idsOf(store.Page{Items: items})...)
		}
	}
	for _, limit := range []int{1, 3, 20} {
		if got := read(limit); !slices.Equal(got, all[2:18]) {
			t.Errorf("%d at a time: %v", limit, got)
		}
	}
	// Items that are deleted between the index and the table are left out.
	it, _ := get(t, db, all[5])
	faults.Reset()
	faults.Before("BatchGetItem", func() { commit(t, db, func(tx *store.Tx) { tx.Delete(it) }) })
	if got, want := read(4), slices.Concat(all[2:5], all[6:18]); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	faults.Reset()
	faults.Reject("Query", "ValidationException", 1)
	if items, err := db.Merge(store.Query{Index: store.ByDue, Limit: 3}, partitions).Next(t.Context()); err == nil {
		t.Errorf("a partition cannot be read, and the list is %v", items)
	}
}
