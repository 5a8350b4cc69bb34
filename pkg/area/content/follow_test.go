package content_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// reads returns the calls that a following takes to read the table, and the items that it asks for one by one.
func (s *shelf) reads() (calls int) {
	s.w.T.Helper()
	s.w.Faults.Reset()
	s.follow()
	for _, c := range s.w.Faults.Calls() {
		if c.Operation == "Query" || c.Operation == "GetItem" || c.Operation == "BatchGetItem" {
			calls++
		}
	}
	return calls
}

// copied writes n published items that are as one is, but each about one of the products.
func (s *shelf) copied(like string, n int, products []string) {
	s.w.T.Helper()
	for at := 0; at < n; at += 20 {
		tx := &store.Tx{}
		for i := at; i < min(n, at+20); i++ {
			_, r, _, err := item.Lookup(s.w.T.Context(), s.w.DB, s.w.Principal.Owner, like)
			if err != nil {
				s.w.T.Fatal(err)
			}
			shown := *r.Brief.Product
			shown.ProductID = products[i%len(products)]
			r.Brief.Product, r.Item.ProductID = &shown, &shown.ProductID
			r.Item.ID, r.Item.Publications[0].ID = id.New(id.ContentItem, s.w.Now()), id.New(id.Publication, s.w.Now())
			r.Item.Publications[0].ContentItemID = r.Item.ID
			if err := r.Create(tx, s.w.Principal.Owner); err != nil {
				s.w.T.Fatal(err)
			}
		}
		if err := s.w.DB.Commit(s.w.T.Context(), tx); err != nil {
			s.w.T.Fatal(err)
		}
		s.w.Faults.Reset() // which keeps all that is written
	}
}

// count returns the number of times that an event happened.
func (w *world) count(of event.Type) (n int) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB, event.Kind) {
		if strings.Contains(row["doc"], `"type":"`+string(of)+`"`) {
			n++
		}
	}
	return n
}

// A run reads the products of posts, and of the posts those alone whose products have changed. It leaves posts that are
// told of, and those that are older than half a year.
func TestARunLeavesPostsThatItDoesNotConcern(t *testing.T) {
	const products = 100
	posts := 1000
	if os.Getenv("BREADTH") != "" {
		posts = 10_000
	}
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	for i := range products {
		s.rows[fmt.Sprintf("Q%02d", i)] = "129 EUR"
	}
	s.sync()
	first := s.present("A", telegram, time.Hour)
	s.publishes(first.ID, time.Hour)
	var ids []string
	for i := range products {
		ids = append(ids, s.product(fmt.Sprintf("Q%02d", i)))
	}
	s.copied(first.ID, posts, ids)
	run := func(want int, changed ...string) {
		t.Helper()
		w.Clock.Add(time.Hour)
		for _, sku := range changed {
			s.rows[sku] = "139 EUR"
		}
		s.sync()
		calls, told := s.reads(), w.count(event.ProductOutdated)
		t.Logf("%d posts, %d products changed: %d reads, %d posts told of until then", posts, len(changed), calls, told)
		// Each page of the list takes a query and some reads of 100 products, and each post that is concerned two.
		if bound := 20 + posts/100 + 3*len(changed)*posts/products; calls > bound || told != want {
			t.Errorf("%d products changed: %d reads, and %d posts are told of; want at most %d, and %d", len(changed), calls,
				told, bound, want)
		}
	}
	s.sync()
	s.follow() // new posts are looked at once
	run(0)
	run(posts/products, "Q07")
	run(posts / products) // they are told of
	run(posts/products*3, "Q08", "Q09")
	w.Clock.Add(180 * 24 * time.Hour)
	storetest.Expire(t, w.DB, w.Now())
	run(0, "Q10") // the events have expired, too
}

// An offer that begins or ends by itself is followed, also if the server says that the feed is as it was.
func TestAnOfferThatBeginsByItself(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	s.tag = `"1"`
	from := w.Now().Add(48 * time.Hour).UTC()
	s.rows["A"] = "129 EUR,in_stock,99 EUR," + from.Format("2006-01-02T15:04Z") + "/" +
		from.Add(72*time.Hour).Format("2006-01-02T15:04Z")
	s.sync()
	it := s.present("A", telegram, time.Hour)
	s.publishes(it.ID, time.Hour)
	for _, day := range []struct {
		after time.Duration
		want  item.Ways
	}{{time.Hour, item.Ways{}}, {48 * time.Hour, item.Ways{item.OfferChanged}}, {72 * time.Hour, item.Ways{}}} {
		w.Clock.Add(day.after)
		s.sync()
		s.follow()
		if got := w.get(it.ID).Outdated; !slices.Equal(got, day.want) {
			t.Errorf("after %v more, outdated is %v, want %v", day.after, got, day.want)
		}
	}
}
