package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

// An index of keys does not hold when its items expire.
func TestWhatHasExpiredIsHiddenInAListOfKeys(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	fill(t, db, 6, func(i int, it *store.Item) {
		if i != 0 {
			it.ExpireAt = clock.Now().Add(time.Duration(i) * time.Minute)
		}
	})
	clock.Add(3 * time.Minute)
	want := []string{"thing_000", "thing_004", "thing_005"}
	for limit := 1; limit <= 7; limit++ {
		q := store.Query{Index: store.ByDue, Partition: "due", Limit: limit, OldestFirst: true}
		got := pages(t, db, q)
		if all := slices.Concat(got...); !slices.Equal(all, want) {
			t.Errorf("%d at a time: the list gives %v", limit, got)
		}
		if pages := (6 + limit - 1) / limit; len(got) != pages {
			t.Errorf("%d at a time: %d pages, want %d", limit, len(got), pages)
		}
		var merged []string
		m := db.Merge(q, []string{"due", "none"})
		for items, err := m.Next(t.Context()); len(items) > 0 || err != nil; items, err = m.Next(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			merged = append(merged, idsOf(store.Page{Items: items})...)
		}
		if !slices.Equal(merged, want) {
			t.Errorf("%d at a time: the merged list gives %v", limit, merged)
		}
	}
}

// A list of an index of keys cannot be filtered, and says so before it reads.
func TestAListOfKeysTakesNoFilter(t *testing.T) {
	db, faults, _ := faulty(t)
	fill(t, db, 2, func(_ int, it *store.Item) { it.Filters = map[string]string{"parity": "even"} })
	faults.Reset()
	bound := map[string]store.Bound{"parity": {At: "a", After: true}}
	for name, filter := range map[string]func(*store.Query){
		"values":   func(q *store.Query) { q.Filters = map[string]string{"parity": "even"} },
		"one of":   func(q *store.Query) { q.OneOf = map[string][]string{"parity": {"even"}} },
		"prefixes": func(q *store.Query) { q.Prefixes = map[string][]string{"parity": {"e"}} },
		"ranges":   func(q *store.Query) { q.Ranges = map[string]store.Range{"parity": {From: "e"}} },
		"contains": func(q *store.Query) { q.Contains = map[string][]string{"parity": {"e"}} },
		"bounds":   func(q *store.Query) { q.Bounds = bound },
		"either":   func(q *store.Query) { q.Either = []map[string]store.Bound{bound} },
	} {
		q := store.Query{Index: store.ByDue, Partition: "due", Limit: 10}
		filter(&q)
		if page, err := db.List(t.Context(), q); err == nil || !strings.Contains(err.Error(), "by_due") {
			t.Errorf("%s: listed %v, %v", name, idsOf(page), err)
		}
	}
	if got := faults.Operations(); got != "" {
		t.Errorf("the table was asked: %s", got)
	}
}
