package content_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/event"
	shelfrecord "github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// shelf is a shop whose catalog follows a feed: cells of the rows by their SKUs.
type shelf struct {
	*apitest.Caller
	w      *world
	seller string
	rows   map[string]string
	kernel *task.Kernel
	files  *importertest.Bucket
	syncs  int
	// written counts the products that the runs have changed.
	written int
	// tag is the validator with which the server answers, or empty.
	tag string
	// follower has content follow the catalog.
	follower *publication.Follower
}

// Do answers with the feed of the shop.
func (s *shelf) Do(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	if s.tag != "" {
		rec.Header().Set("ETag", s.tag)
	}
	if s.tag != "" && req.Header.Get("If-None-Match") == s.tag {
		rec.WriteHeader(http.StatusNotModified)
		return rec.Result(), nil
	}
	fmt.Fprintln(rec, "sku,name,price,availability,sale_price,sale_price_effective_date")
	for _, sku := range slices.Sorted(maps.Keys(s.rows)) {
		fmt.Fprintf(rec, "%s,Shoe %s,%s\n", sku, sku, s.rows[sku])
	}
	return rec.Result(), nil
}

func newShelf(w *world, policies ...any) *shelf {
	w.T.Helper()
	s := &shelf{w: w, rows: map[string]string{"A": "129 EUR", "B": "9 EUR", "C": "9 EUR", "D": "9 EUR", "E": "9 EUR",
		"F": "9 EUR"}}
	s.seller = w.makeFactory(object{"type": "seller", "name": "Shop", "settings": object{"currency": "EUR"}})
	s.Caller = apitest.New(w.T, w.DB, w.Log, w.Now, product.NewService(w.DB, w.signer, nil, w.Now),
		feed.NewService(w.DB, w.signer, safehttp.New(safehttp.Options{}), w.Now)).Kept()
	s.Principal = w.Principal
	s.follower = &publication.Follower{DB: w.DB, Platforms: social.NewPlatforms(social.PlatformsConfig{Now: w.Now}),
		Items: w.items, Now: w.Now}
	s.files = &importertest.Bucket{Objects: map[string][]byte{}}
	worker := &feed.Worker{DB: w.DB, URLs: s, Objects: s.files, Now: w.Now, Content: s.follower}
	s.kernel = w.Kernel(worker.Handlers())
	s.Call(http.MethodPut, "/v1/factories/"+s.seller+"/feed", servicetest.Body(object{"format": "csv",
		"source": object{"url": "https://93.184.215.14/feed.csv"}}, policies...)).Into(w.T, http.StatusOK, new(any))
	s.sync()
	return s
}

// sync has the catalog be what the shop has now.
func (s *shelf) sync() {
	s.w.T.Helper()
	var r feed.Run
	s.Call(http.MethodPost, "/v1/factories/"+s.seller+"/feed/sync", nil).Into(s.w.T, http.StatusAccepted, &r)
	s.take(task.ID(feed.RunKind, r.ID, 1))
	s.Call(http.MethodGet, "/v1/factories/"+s.seller+"/feed/runs/"+r.ID, nil).Into(s.w.T, http.StatusOK, &r)
	if s.syncs++; r.State != feed.Completed || r.Refused > 0 {
		s.w.T.Fatalf("the run is %+v, %+v", r, r.Failure)
	}
	s.written += r.Changed
	clear(s.files.Objects)
}

// follow has content follow the last run.
func (s *shelf) follow() {
	s.w.T.Helper()
	s.w.Clock.Add(3 * time.Second)
	s.take(task.ID(feed.FollowKind, s.seller, s.feed().FollowRound))
}

func (s *shelf) feed() (r feed.Record) {
	s.w.T.Helper()
	it, err := s.w.DB.Get(s.w.T.Context(), shelfrecord.Key(s.seller))
	if err == nil {
		err = it.Decode(&r)
	}
	if err != nil {
		s.w.T.Fatal(err)
	}
	return r
}

// take takes the steps of a task until it has to wait.
func (s *shelf) take(id string) {
	s.w.T.Helper()
	it, err := s.w.DB.Get(s.w.T.Context(), store.IDKey(id))
	if err != nil {
		s.w.T.Fatal(err)
	}
	var t task.Task
	if err := it.Decode(&t); err != nil {
		s.w.T.Fatal(err)
	}
	for m := t.Message; ; {
		next, err := s.kernel.Do(s.w.T.Context(), m, "")
		if err != nil {
			s.w.T.Fatal(err)
		}
		if next == nil || next.Delay > 0 {
			return
		}
		m = next.Message
	}
}

// product returns the id of a product.
func (s *shelf) product(sku string) string {
	s.w.T.Helper()
	found := apitest.All[product.Product](s.Caller, "/v1/products?factory_id="+s.seller+"&sku="+sku, 10)
	if len(found) != 1 {
		s.w.T.Fatalf("there are %d products %s", len(found), sku)
	}
	return found[0].ID
}

// present makes an item about a product, scheduled on an account after a while.
func (s *shelf) present(sku, account string, after time.Duration) item.Item {
	s.w.T.Helper()
	it := s.w.generated("factory_id", s.seller, "product_id", s.product(sku))
	return s.w.schedule(it.ID, s.w.Now().Add(after).Truncate(time.Second), "social_account_ids", []string{account})
}

// shows returns the price that an item shows.
func (s *shelf) shows(itemID string) money.Price {
	s.w.T.Helper()
	_, r, _, err := item.Lookup(s.w.T.Context(), s.w.DB, s.w.Principal.Owner, itemID)
	if err != nil || r == nil || r.Brief.Product == nil {
		s.w.T.Fatalf("%s shows no product: %v", itemID, err)
	}
	p := r.Brief.Product
	if p.Promotion != nil {
		return p.Promotion.Discount.Of(p.Price)
	}
	return p.Price
}

// publishes takes the steps of publishing after a while, and returns the item.
func (s *shelf) publishes(itemID string, after time.Duration) item.Item {
	s.w.T.Helper()
	s.w.Clock.Add(after)
	s.w.work()
	return s.w.get(itemID)
}

func TestAnItemWaitsForItsProduct(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	it := s.present("A", telegram, 2*time.Hour)
	s.rows["A"] = "139 EUR"
	s.sync()
	s.follow()
	got := w.get(it.ID)
	if got.State != item.Generated || got.WaitsFor != item.WaitsForProduct ||
		!slices.Equal(got.Outdated, item.Ways{item.PriceChanged}) {
		t.Fatalf("it is %s, waits for %s, outdated %v", got.State, got.WaitsFor, got.Outdated)
	}
	if n := w.events(it.ID)[event.ContentUnscheduled]; n != 1 {
		t.Errorf("content.unscheduled happened %d times", n)
	}
	if got = s.publishes(it.ID, time.Hour); got.State != item.Generated {
		t.Fatalf("it is %s", got.State)
	}
	// Made again, it goes out as it was scheduled, with the price of now.
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{}).Into(t, http.StatusAccepted, new(any))
	w.doAttempt(it.ID, 2)
	w.work()
	if got = w.get(it.ID); got.State != item.Scheduled || got.WaitsFor != item.WaitsForTime || len(got.Outdated) != 0 {
		t.Fatalf("it is %s, waits for %s, outdated %v", got.State, got.WaitsFor, got.Outdated)
	}
	if got = s.publishes(it.ID, 2*time.Hour); got.State != item.Published || s.shows(it.ID).Amount != 13900 {
		t.Errorf("it is %s with %s", got.State, s.shows(it.ID))
	}
}

// The product is looked at once more as publishing begins, whether the content has followed by then or not.
func TestNoPostGoesOutWithAnOldPrice(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	for name, c := range map[string]struct {
		row  string
		ways item.Ways
	}{
		"price":    {"139 EUR", item.Ways{item.PriceChanged}},
		"sale":     {"129 EUR,,99 EUR", item.Ways{item.OfferChanged}},
		"sold out": {"129 EUR,out_of_stock", item.Ways{item.SoldOut}},
		"gone":     {"", item.Ways{item.Removed}},
	} {
		s.rows["A"] = "129 EUR"
		s.sync()
		it, now := s.present("A", telegram, time.Hour), s.present("A", telegram, 24*time.Hour)
		if s.rows["A"] = c.row; c.row == "" {
			delete(s.rows, "A")
		}
		s.sync()
		w.Call(http.MethodPost, path(now.ID, "publish"), object{}).Refused(t, 409, errs.InvalidState, "")
		got := s.publishes(it.ID, time.Hour)
		if got.State != item.Generated || got.WaitsFor != item.WaitsForProduct || !slices.Equal(got.Outdated, c.ways) {
			t.Errorf("%s: it is %s, waits for %s, outdated %v", name, got.State, got.WaitsFor, got.Outdated)
		}
	}
}

func TestContentThatIsKeptGoesOut(t *testing.T) {
	w := newWorld(t)
	s := newShelf(w, "on_price_change", "keep", "on_sold_out", "keep", "on_removed", "keep")
	telegram := w.connect("telegram")
	it := s.present("A", telegram, time.Hour)
	s.rows["A"] = "139 EUR,out_of_stock"
	s.sync()
	s.follow()
	if got := s.publishes(it.ID, time.Hour); got.State != item.Published {
		t.Errorf("it is %s, waits for %s", got.State, got.WaitsFor)
	}
	// A product of no feed is not followed.
	w2 := newWorld(t)
	shop, account := newShop(w2), w2.connect("telegram")
	made := w2.generated("factory_id", shop.seller, "product_id", shop.shoe)
	w2.schedule(made.ID, w2.Now().Add(time.Hour).Truncate(time.Second), "social_account_ids", []string{account})
	shop.Call(http.MethodPatch, "/v1/products/"+shop.shoe, object{"price": object{"amount": 1}}).
		Into(t, http.StatusOK, new(any))
	w2.Clock.Add(time.Hour)
	if w2.work(); w2.get(made.ID).State != item.Published {
		t.Errorf("it is %s", w2.get(made.ID).State)
	}
}

// An item whose product is again as it shows it goes on by itself.
func TestAProductThatIsAsItWas(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w), w.connect("telegram")
	it := s.present("A", telegram, 5*time.Hour)
	s.rows["A"] = "129 EUR,out_of_stock"
	s.sync()
	s.follow()
	s.rows["A"] = "129 EUR"
	s.sync()
	s.follow()
	w.work()
	got := w.get(it.ID)
	if got.State != item.Scheduled || got.WaitsFor != item.WaitsForTime || len(got.Outdated) != 0 {
		t.Fatalf("it is %s, waits for %s, outdated %v", got.State, got.WaitsFor, got.Outdated)
	}
	if got = s.publishes(it.ID, 5*time.Hour); got.State != item.Published {
		t.Errorf("it is %s", got.State)
	}
}

func TestPublishedPostsThatAreOutdated(t *testing.T) {
	for _, policy := range []string{"keep", "hold", "withdraw"} {
		w := newWorld(t)
		s, telegram := newShelf(w, "on_price_change", policy), w.connect("telegram")
		it := s.present("A", telegram, time.Hour)
		s.publishes(it.ID, time.Hour)
		s.rows["A"] = "139 EUR"
		s.sync()
		s.follow()
		s.sync()
		s.follow()
		w.work()
		got := w.get(it.ID)
		if n := w.events(it.ID)[event.ProductOutdated]; n != 1 ||
			!slices.Equal(got.Outdated, item.Ways{item.PriceChanged}) {
			t.Errorf("%s: product.outdated happened %d times, outdated %v", policy, n, got.Outdated)
		}
		want := item.PublicationPublished
		if policy == "withdraw" {
			want = item.PublicationDeleted
		}
		if pub := w.publications(it.ID)[0]; pub.State != want {
			t.Errorf("%s: the post is %s, %+v", policy, pub.State, pub.Change)
		}
		s.rows["A"] = "129 EUR"
		s.sync()
		s.follow()
		if got = w.get(it.ID); len(got.Outdated) != 0 {
			t.Errorf("%s: outdated %v", policy, got.Outdated)
		}
	}
}
