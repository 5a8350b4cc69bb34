package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

// pages reads a list to its end and returns the ids of each page.
func pages(t testing.TB, db *store.DB, q store.Query) (all [][]string) {
	t.Helper()
	for range 100 {
		page, err := db.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, idsOf(page))
		if page.Next == nil {
			return all
		}
		q.After = page.Next
	}
	t.Fatal("the list has no end")
	return nil
}

func idsOf(p store.Page) []string {
	ids := []string{}
	for _, it := range p.Items {
		if it.PK == "parts" {
			ids = append(ids, it.SK)
		} else {
			ids = append(ids, it.PK)
		}
	}
	return ids
}

func reversed(s []string) []string {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// fill makes n things that all indexes list.
func fill(t testing.TB, db *store.DB, n int, change func(i int, it *store.Item)) {
	t.Helper()
	for i, id := range ids(n) {
		it := thing(t, id, "made")
		it.Parent, it.Due = store.Key{PK: "parent", SK: id}, store.Key{PK: "due", SK: id}
		if change != nil {
			change(i, &it)
		}
		commit(t, db, func(tx *store.Tx) { tx.Create(it, nil) })
	}
}

func TestListsAreReadPageByPage(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 7, nil)
	for _, id := range ids(7) {
		it := thing(t, id, "part")
		it.Key, it.ListKey = store.Key{PK: "parts", SK: id}, store.Key{}
		commit(t, db, func(tx *store.Tx) { tx.Create(it, nil) })
	}
	newest := reversed(ids(7))
	for name, q := range map[string]store.Query{
		"by owner":  list(0),
		"by parent": {Index: store.ByParent, Partition: "parent"},
		"by due":    {Index: store.ByDue, Partition: "due"},
		"the table": {Index: store.Table, Partition: "parts"},
	} {
		for limit := 1; limit <= 8; limit++ {
			q.Limit = limit
			want := slices.Collect(slices.Chunk(newest, limit))
			if got := pages(t, db, q); !equal(got, want) {
				t.Errorf("%s, %d at a time: got %v, want %v", name, limit, got, want)
			}
		}
		q.Limit, q.OldestFirst = 3, true
		if got, want := pages(t, db, q), slices.Collect(slices.Chunk(ids(7), 3)); !equal(got, want) {
			t.Errorf("%s, oldest first: got %v, want %v", name, got, want)
		}
	}
}

func equal(a, b [][]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func TestAnEmptyListHasAnEnd(t *testing.T) {
	db := storetest.Open(t, time.Now)
	for _, index := range []store.Index{store.Table, store.ByOwner, store.ByParent, store.ByDue} {
		page, err := db.List(t.Context(), store.Query{Index: index, Partition: "nobody", Limit: 10})
		if err != nil || len(page.Items) != 0 || page.Next != nil {
			t.Errorf("%v: %+v, %v", index, page, err)
		}
	}
}

func TestACursorHoldsWhileItemsAreAddedAndRemoved(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 6, nil)
	q := list(2)
	first, err := db.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	create(t, db, "thing_999")
	last, _ := get(t, db, "thing_004") // the one that the cursor names
	commit(t, db, func(tx *store.Tx) { tx.Delete(last) })
	q.After = first.Next
	if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, reversed(ids(4))) {
		t.Errorf("after %v came %v", idsOf(first), got)
	}
}

func TestBoundsAreInclusive(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 6, nil)
	all := ids(6)
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{"", "", all},
		{"thing_002", "", all[2:]},
		{"", "thing_003", all[:4]},
		{"thing_002", "thing_003", all[2:4]},
		{"thing_0025", "thing_0045", all[3:5]},
		{"thing_100", "", nil},
		{"thing_003", "thing_002", nil},
	} {
		q := list(2)
		q.From, q.To = c.from, c.to
		if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, reversed(c.want)) {
			t.Errorf("from %q to %q: got %v", c.from, c.to, got)
		}
	}
}

func TestFilters(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 12, func(i int, it *store.Item) {
		it.Filters = map[string]string{"parity": []string{"even", "odd"}[i%2], "third": fmt.Sprint(i % 3)}
	})
	for _, c := range []struct {
		filters  map[string]string
		prefixes map[string][]string
		oneOf    map[string][]string
		want     []string
	}{
		{map[string]string{"parity": "even"}, nil, nil, []string{"thing_010", "thing_008", "thing_006", "thing_004",
			"thing_002", "thing_000"}},
		{map[string]string{"parity": "even", "third": "1"}, nil, nil, []string{"thing_010", "thing_004"}},
		{map[string]string{"parity": "", "third": "2"}, nil, nil, []string{"thing_011", "thing_008", "thing_005",
			"thing_002"}},
		{map[string]string{"parity": "none"}, nil, nil, nil},
		{map[string]string{"other": "x"}, nil, nil, nil},
		{nil, map[string][]string{"parity": {"ev"}}, nil, []string{"thing_010", "thing_008", "thing_006", "thing_004",
			"thing_002", "thing_000"}},
		{map[string]string{"third": "1"}, map[string][]string{"parity": {"o"}, "third": nil}, nil,
			[]string{"thing_007", "thing_001"}},
		{nil, map[string][]string{"parity": {"x"}}, nil, nil},
		{map[string]string{"third": "1"}, map[string][]string{"parity": {"x", "e", "o"}}, nil,
			[]string{"thing_010", "thing_007", "thing_004", "thing_001"}},
		{nil, nil, map[string][]string{"third": {"0", "2"}, "parity": {"odd"}},
			[]string{"thing_011", "thing_009", "thing_005", "thing_003"}},
		{map[string]string{"parity": "even"}, nil, map[string][]string{"third": {"1"}, "parity": nil},
			[]string{"thing_010", "thing_004"}},
		{nil, map[string][]string{"parity": {"e"}}, map[string][]string{"parity": {"odd", "none"}}, nil},
	} {
		for limit := 1; limit <= 7; limit++ {
			q := list(limit)
			q.Filters, q.Prefixes, q.OneOf = c.filters, c.prefixes, c.oneOf
			got := pages(t, db, q)
			if all := slices.Concat(got...); !slices.Equal(all, c.want) {
				t.Errorf("%v, %d at a time: got %v", c.filters, limit, got)
			}
			if len(got) != max(1, (len(c.want)+limit-1)/limit) {
				t.Errorf("%v, %d at a time: %d pages", c.filters, limit, len(got))
			}
		}
	}
}

// Ranges and texts that a value contains pass only items that have the value.
func TestFiltersByRangesAndTexts(t *testing.T) {
	db, _, _ := faulty(t)
	fill(t, db, 6, func(i int, it *store.Item) {
		if i > 0 {
			it.Filters = map[string]string{"at": fmt.Sprint(i), "tags": strings.Repeat(".a", i%2) + ".b" + fmt.Sprint(i)}
		}
	})
	for _, c := range []struct {
		ranges   map[string]store.Range
		contains map[string][]string
		want     []string
	}{
		{map[string]store.Range{"at": {From: "2", To: "4"}}, nil, []string{"thing_003", "thing_002"}},
		{map[string]store.Range{"at": {From: "4"}}, nil, []string{"thing_005", "thing_004"}},
		{map[string]store.Range{"at": {To: "2"}}, nil, []string{"thing_001"}},
		{nil, map[string][]string{"tags": {".a"}}, []string{"thing_005", "thing_003", "thing_001"}},
		{nil, map[string][]string{"tags": {".a", ".b3"}, "at": nil}, []string{"thing_003"}},
		{map[string]store.Range{"at": {From: "2"}}, map[string][]string{"tags": {".a"}},
			[]string{"thing_005", "thing_003"}},
	} {
		q := list(4)
		q.Ranges, q.Contains = c.ranges, c.contains
		if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: got %v", c.ranges, c.contains, got)
		}
	}
}

// A filter that passes few items needs several reads for a page, and each read
// ends where DynamoDB likes.
func TestAFilterThatPassesFewItems(t *testing.T) {
	db, faults, _ := faulty(t)
	const n = 250
	fill(t, db, n, func(i int, it *store.Item) {
		it.Filters = map[string]string{"rare": fmt.Sprint(i%90 == 5)} // 5, 95, 185
	})
	want := []string{"thing_185", "thing_095", "thing_005"}
	for limit := 1; limit <= 4; limit++ {
		q := list(limit)
		q.Filters = map[string]string{"rare": "true"}
		if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, want) {
			t.Errorf("%d at a time: got %v", limit, got)
		}
	}
	faults.Reset()
	q := list(10)
	q.Filters = map[string]string{"rare": "true"}
	page, err := db.List(t.Context(), q)
	if err != nil || !slices.Equal(idsOf(page), want) || page.Next != nil {
		t.Errorf("one page: %v, next %v, %v", idsOf(page), page.Next, err)
	}
	if got := faults.Operations(); got != "Query Query Query" {
		t.Errorf("%d items took %s", n, got)
	}
}

func TestAPageThatFindsNothingGoesOn(t *testing.T) {
	db, faults, _ := faulty(t)
	const n = 905 // more than one call reads
	var all []store.Item
	for i, id := range ids(n) {
		it := thing(t, id, "made")
		it.Filters = map[string]string{"rare": fmt.Sprint(i == 2)}
		all = append(all, it)
	}
	for batch := range slices.Chunk(all, 100) {
		commit(t, db, func(tx *store.Tx) {
			for _, it := range batch {
				tx.Create(it, nil)
			}
		})
	}
	faults.Reset()
	q := list(10)
	q.Filters = map[string]string{"rare": "true"}
	page, err := db.List(t.Context(), q)
	if err != nil || len(page.Items) != 0 || page.Next == nil {
		t.Fatalf("the first page: %v, next %v, %v", idsOf(page), page.Next, err)
	}
	if reads := strings.Count(faults.Operations(), "Query"); reads > 8 {
		t.Errorf("one page took %d reads", reads)
	}
	q.After = page.Next
	page, err = db.List(t.Context(), q)
	if err != nil || !slices.Equal(idsOf(page), []string{"thing_002"}) || page.Next != nil {
		t.Errorf("the second page: %v, next %v, %v", idsOf(page), page.Next, err)
	}
}

func TestWhatHasExpiredIsHidden(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	fill(t, db, 6, func(i int, it *store.Item) {
		if i != 0 {
			it.ExpireAt = clock.Now().Add(time.Duration(i) * time.Minute)
		}
	})
	clock.Add(3 * time.Minute)
	want := []string{"thing_005", "thing_004", "thing_000"}
	for limit := 1; limit <= 4; limit++ {
		if got := slices.Concat(pages(t, db, list(limit))...); !slices.Equal(got, want) {
			t.Errorf("%d at a time: the list gives %v", limit, got)
		}
	}
	var keys []store.Key
	for i, id := range ids(6) {
		keys = append(keys, store.IDKey(id))
		_, err := db.Get(t.Context(), keys[i])
		if slices.Contains(want, id) != (err == nil) {
			t.Errorf("get gives %v for %s", err, id)
		}
	}
	items, err := db.GetAll(t.Context(), keys...)
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if slices.Contains(want, ids(6)[i]) != (it.Kind != "") {
			t.Errorf("get all gives %+v for %s", it, ids(6)[i])
		}
	}
}

func TestGetAllKeepsTheOrderAndTheHoles(t *testing.T) {
	db, faults, _ := faulty(t)
	fill(t, db, 4, nil)
	commit(t, db, func(tx *store.Tx) { tx.Count(store.IDKey("count"), 3, 10, nil) })
	faults.Reset()
	items, err := db.GetAll(t.Context(), store.IDKey("thing_003"), store.IDKey("nothing"), store.IDKey("count"),
		store.IDKey("thing_000"), store.IDKey("thing_003"))
	if err != nil || len(items) != 5 || items[4].PK != "thing_003" {
		t.Fatalf("%v, %v", items, err)
	}
	if items[0].PK != "thing_003" || items[3].PK != "thing_000" || items[0].Kind != "thing" {
		t.Errorf("got %v", items)
	}
	if items[1].PK != "" || items[1].Kind != "" || items[2].PK != "count" || items[2].Count() != 3 {
		t.Errorf("got %v", items)
	}
	if got := faults.Operations(); got != "BatchGetItem" {
		t.Errorf("it took %s", got)
	}
	if none, err := db.GetAll(context.Background()); err != nil || len(none) != 0 {
		t.Errorf("no keys give %v, %v", none, err)
	}
}

// TestAPageOfLargeItemsIsShort lists more than a function may answer.
func TestAPageOfLargeItemsIsShort(t *testing.T) {
	db := storetest.Open(t, time.Now)
	const n, size = 25, 150 << 10
	fill(t, db, n, func(i int, it *store.Item) {
		it.Attributes = map[string]string{"long": strings.Repeat("x", size)}
	})
	q := list(100)
	got := pages(t, db, q)
	if all := slices.Concat(got...); !slices.Equal(all, reversed(ids(n))) {
		t.Errorf("listed %v", got)
	}
	for _, page := range got {
		if len(page)*size > 3<<20 {
			t.Errorf("a page has %d items of %d bytes", len(page), size)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d pages", len(got))
	}
}

// An item without the value lies on both sides of a bound.
func TestBoundsOfValues(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 6, func(i int, it *store.Item) {
		if i < 4 {
			it.Filters = map[string]string{"until": fmt.Sprint("2026-05-0", i+1),
				"parity": []string{"even", "odd"}[i%2]}
		}
	})
	for _, c := range []struct {
		bound  store.Bound
		parity string
		want   []string
	}{
		{store.Bound{At: "2026-05-02", After: true}, "", []string{"thing_005", "thing_004", "thing_003", "thing_002"}},
		{store.Bound{At: "2026-05-02"}, "", []string{"thing_005", "thing_004", "thing_001", "thing_000"}},
		{store.Bound{At: "2026-05-02", After: true}, "odd", []string{"thing_003"}},
	} {
		q := list(2)
		q.Bounds, q.Filters = map[string]store.Bound{"until": c.bound}, map[string]string{"parity": c.parity}
		if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// An item that lies within all bounds of one of several lists is kept.
func TestEitherOfSeveralBounds(t *testing.T) {
	db := storetest.Open(t, time.Now)
	fill(t, db, 4, func(i int, it *store.Item) {
		it.Filters = map[string]string{"from": fmt.Sprint("2026-05-0", i+1), "until": fmt.Sprint("2026-05-0", i+2),
			"parity": []string{"even", "odd"}[i%2]}
	})
	after, upTo := store.Bound{At: "2026-05-03", After: true}, store.Bound{At: "2026-05-03"}
	for _, c := range []struct {
		either []map[string]store.Bound
		parity string
		want   []string
	}{
		{nil, "", []string{"thing_003", "thing_002", "thing_001", "thing_000"}},
		{[]map[string]store.Bound{{"from": upTo, "until": after}}, "", []string{"thing_002"}},
		{[]map[string]store.Bound{{"from": after, "until": after}, {"until": upTo}}, "",
			[]string{"thing_003", "thing_001", "thing_000"}},
		{[]map[string]store.Bound{{"from": after, "until": after}, {"until": upTo}}, "odd",
			[]string{"thing_003", "thing_001"}},
	} {
		q := list(2)
		q.Either, q.Filters = c.either, map[string]string{"parity": c.parity}
		if got := slices.Concat(pages(t, db, q)...); !slices.Equal(got, c.want) {
			t.Errorf("%+v %s: got %v", c.either, c.parity, got)
		}
	}
}

// A list that the caller judges reads up to a thousand items in a round trip, and goes on where it ended.
func TestAListThatTheCallerJudges(t *testing.T) {
	db, faults, _ := faulty(t)
	fill(t, db, 999, nil)
	var want []string
	for i, id := range ids(999) {
		if i%100 == 7 {
			want = append(want, id)
		}
	}
	q := list(4)
	q.Keep = func(it store.Item) bool { return strings.HasSuffix(it.PK, "07") }
	faults.Reset()
	got := pages(t, db, q)
	if all := slices.Concat(got...); len(got) != 3 || !slices.Equal(all, reversed(want)) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := len(faults.Calls()); n > 6 {
		t.Errorf("%d round trips", n)
	}
}
