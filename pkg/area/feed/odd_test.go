package feed_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	reader "github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// A product is found by its id as the shop writes it, whatever that is.
func TestIdsWithUnusualCharacters(t *testing.T) {
	w := newWorld(t)
	w.set()
	ids := []string{"a/b#c?d%20&e=f", "緑茶-1", "<b>1</b>", "' OR 1=1 --", "😀", "\u202egnp.1", "..", "A\u0301", "\u00c1", "a b",
		"a  b", "#", "sku#1", "Ä|ß", "=1+1", "0", "-", strings.Repeat("語", 64)}
	var b strings.Builder
	b.WriteString("sku,name,price\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "\"%s\",Tea,3 EUR\n", id)
	}
	if r := w.sync(b.String()); r.Created != len(ids) {
		t.Fatalf("%s, %+v", told(r), r.Refusals)
	}
	all := w.products()
	for _, id := range ids {
		found := apitest.All[product.Product](w.Caller, "/v1/products?factory_id="+w.seller+"&sku="+url.QueryEscape(id), 10)
		if all[id].SKU != id || len(found) != 1 || found[0].ID != all[id].ID {
			t.Errorf("%q is %+v, found are %d", id, all[id], len(found))
		}
	}
	if r := w.sync(b.String()); r.Unchanged != len(ids) || r.Gone != 0 {
		t.Errorf("again: %s", told(r))
	}
}

// Rows with an id that came before are refused, and the product is as the first of them has it.
func TestDuplicatedIds(t *testing.T) {
	w := newWorld(t)
	w.set()
	text := "sku,name,price\nA,First,3 EUR\nB,Other,3 EUR\nA,Second,4 EUR\n A ,Third,5 EUR\n"
	for range 2 {
		r := w.sync(text)
		if r.Refused != 2 || len(r.Refusals) != 2 || !strings.Contains(r.Refusals[1].Reason, "as in row 2") {
			t.Errorf("%s, %+v", told(r), r.Refusals)
		}
		if a := w.products()["A"]; a.Name != "First" || a.Price.Amount != 300 {
			t.Errorf("A is %+v", a)
		}
	}
}

// A shop whose server moves, ends or breaks keeps its shelf, and goes on once the server does.
func TestAServerThatChanges(t *testing.T) {
	w := newWorld(t)
	w.set()
	good := table(map[string]string{"A": "3 EUR", "B": "3 EUR"})
	w.sync(good)
	before := w.writes("product")
	answers := map[string]http.HandlerFunc{
		"status 500": nil, "status 502": nil, "status 404": nil, "status 410": nil, "status 403": nil, "status 401": nil,
		"no column": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>404</html>") },
		"could not be fetched": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/feed", http.StatusMovedPermanently)
		},
		"status 300": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMultipleChoices) },
		"status 206": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, good[:60])
		},
		"status 204": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	}
	for reason, serve := range answers {
		status := 0
		_, _ = fmt.Sscanf(reason, "status %d", &status)
		if serve == nil {
			serve = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
		}
		r := w.syncFrom(serve)
		if r.State != feed.Failed || !strings.Contains(r.Failure.Message, reason) || w.writes("product") != before ||
			w.get().State != feed.Failing {
			t.Errorf("%s: %s, %d writes", reason, told(r), w.writes("product")-before)
		}
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		r := w.syncFrom(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/feed" {
				http.Redirect(out, r, "/moved?to=1#top", status)
				return
			}
			_, _ = io.WriteString(out, good)
		})
		if r.State != feed.Completed || r.Unchanged != 2 {
			t.Errorf("status %d: %s", status, told(r))
		}
	}
}

// syncFrom reads the feed from a server on this machine by the real client.
func (w *world) syncFrom(serve http.HandlerFunc) feed.Run {
	w.T.Helper()
	srv := httptest.NewServer(serve)
	defer srv.Close()
	at, err := url.Parse(srv.URL + "/feed")
	if err != nil {
		w.T.Fatal(err)
	}
	defer func(was feed.URLs) { w.worker.URLs = was }(w.worker.URLs)
	w.worker.URLs = server{safehttp.New(safehttp.Options{AllowLoopback: true, MaxBody: reader.MaxBytes + 1,
		Timeout: 5 * time.Second, Redirects: safehttp.MaxRedirects}), at}
	return w.sync("")
}

// Of two calls at the same time one begins a run, and a feed is not deleted while one begins.
func TestTwoCallsAtOnce(t *testing.T) {
	for name, second := range map[string]func(w *world) apitest.Answer{
		"sync":   func(w *world) apitest.Answer { return w.Call(http.MethodPost, w.path()+"/sync", nil) },
		"delete": func(w *world) apitest.Answer { return w.Call(http.MethodDelete, w.path(), nil) },
	} {
		w := newWorld(t)
		w.set()
		w.shop.feed = table(map[string]string{"A": "3 EUR"})
		var r feed.Run
		w.Faults.Before("TransactWriteItems", func() {
			w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, &r)
		})
		second(w).Refused(t, 409, errs.InvalidState, "")
		if runs := apitest.All[feed.Run](w.Caller, w.path()+"/runs", 10); len(runs) != 1 || runs[0].ID != r.ID {
			t.Errorf("%s: the runs are %+v", name, runs)
		}
		// The message of the run may come twice.
		key := store.IDKey(task.ID(feed.RunKind, r.ID, 1))
		w.DoAfter(key, 0)
		w.DoAfter(key, 0)
		if got := told(w.run(r.ID)); got != "completed read 1, created 1, changed 0, unchanged 0, archived 0, refused 0" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A feed that is deleted while its run is held, or gone from the table while one goes on, ends the run, and the shelf
// stays.
func TestAFeedThatIsDeletedWithItsRun(t *testing.T) {
	w := newWorld(t)
	w.set("schedule", "hourly")
	rows := products(10, "3 EUR")
	w.sync(table(rows))
	held := w.sync(table(map[string]string{"P0": "3 EUR"}))
	if held.State != feed.Held {
		t.Fatal(told(held))
	}
	w.Call(http.MethodDelete, w.path(), nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPost, w.path()+"/sync", object{"confirm_run_id": held.ID}).Refused(t, 404, errs.NotFound, "")
	if r := w.run(held.ID); r.State != feed.Canceled || len(w.products()) != 10 {
		t.Errorf("%s, %d products", told(r), len(w.products()))
	}
	// A feed that is set anew knows what the one before has brought, and its tasks are others.
	w.Clock.Add(time.Second)
	if f := w.set("schedule", "hourly"); f.NextRunAt == nil {
		t.Errorf("it is %+v", f)
	}
	if r := w.sync(table(rows)); r.State != feed.Completed || r.Unchanged != 10 {
		t.Errorf("%s", told(r))
	}
	if r := w.sync(table(map[string]string{"P0": "3 EUR"})); r.State != feed.Held || r.Gone != 9 {
		t.Errorf("%s, %d gone", told(r), r.Gone)
	}
}

// A server that asks to wait is waited for, up to an hour each time.
func TestAServerThatAsksToWait(t *testing.T) {
	for asked, wait := range map[string]time.Duration{"600": 10 * time.Minute, "86400": time.Hour} {
		for _, status := range []int{429, 503} {
			w := newWorld(t)
			w.set()
			w.shop.status, w.shop.header = status, map[string]string{"Retry-After": asked}
			r := w.sync("")
			key := store.IDKey(task.ID(feed.RunKind, r.ID, 1))
			for n := 1; n < 4; n++ {
				w.DoAfter(key, wait-5*time.Minute)
				if len(w.shop.asked) != n {
					t.Errorf("%d, %s: asked %d times, want %d", status, asked, len(w.shop.asked), n)
				}
				w.DoAfter(key, 6*time.Minute)
			}
			if r = w.run(r.ID); r.State != feed.Failed || len(w.shop.asked) != 4 {
				t.Errorf("%d, %s: %s after %d calls", status, asked, told(r), len(w.shop.asked))
			}
		}
	}
}

// A product that was in the catalog before it was in the feed follows it, and stays when its row is gone. One that was
// never in it is left alone.
func TestProductsThatWereThereBefore(t *testing.T) {
	w := newWorld(t)
	w.set()
	for _, sku := range []string{"A", "Mine"} {
		w.Call(http.MethodPost, "/v1/products", object{"factory_id": w.seller, "sku": sku, "name": "By hand",
			"price": object{"amount": 900, "currency": "EUR"}}).Into(t, http.StatusCreated, new(any))
	}
	rows := products(9, "3 EUR")
	rows["A"] = "10 EUR,,8 EUR"
	for range 2 { // it may come back
		w.sync(table(rows))
		if a := w.products()["A"]; !a.InFeed || a.Name != "Product A" || a.Price.Amount != 1000 {
			t.Errorf("A is %+v", a)
		}
		delete(rows, "A")
		r := w.sync(table(rows))
		all := w.products()
		if a := all["A"]; r.Gone != 1 || r.Archived != 0 || a.State != product.Active || a.InFeed ||
			all["Mine"].State != product.Active || all["Mine"].Name != "By hand" {
			t.Errorf("%s: %+v", told(r), all)
		}
		if r = w.sync(table(rows)); r.Gone != 0 {
			t.Errorf("again: %d gone", r.Gone)
		}
		rows["A"] = "10 EUR,,8 EUR"
	}
	for _, p := range apitest.All[product.Promotion](w.Caller, "/v1/promotions?factory_id="+w.seller, 100) {
		if p.State != product.Ended {
			t.Errorf("the promotion is %+v", p)
		}
	}
}

// All refusals are in the file, also those of the catalog, and what it does not take is tried again, though the feed is
// as it was.
func TestManyRefusalsOfTheCatalog(t *testing.T) {
	w := newWorld(t)
	w.set()
	w.worker.StepRows = 100
	rows := products(230, "5 EUR")
	w.shop.header = map[string]string{"ETag": `"1"`}
	w.sync(table(rows))
	all := w.products()
	for part := range 5 {
		var ids []string
		for i := part * 46; i < part*46+46; i++ {
			ids = append(ids, all[fmt.Sprintf("P%d", i)].ID)
		}
		w.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.seller, "product_ids": ids, "name": "Mine",
			"discount": object{"kind": "amount", "value": 300}, "ends_at": "2027-01-01T00:00:00Z"}).
			Into(t, http.StatusCreated, new(any))
	}
	for sku := range rows {
		rows[sku] = "2 EUR"
	}
	rows["Q"] = "free"
	w.shop.header = map[string]string{"ETag": `"2"`}
	w.shop.feed = table(rows)
	var r feed.Run
	w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, &r)
	key := store.IDKey(task.ID(feed.RunKind, r.ID, 1))
	for n := 2; n < 8; n++ {
		w.crash(key, n)
	}
	w.DoAfter(key, 0)
	if r = w.run(r.ID); r.Refused != 231 || len(r.Refusals) != 231 || r.Refusals[0].Member != "price" {
		t.Errorf("%s with %d refusals", told(r), len(r.Refusals))
	}
	for key, content := range w.bucket.Objects {
		if lines := strings.Count(string(content), "\n"); strings.HasSuffix(key, "refusals.csv") && lines != 232 {
			t.Errorf("the file has %d lines", lines)
		}
	}
	if r = w.sync(table(rows)); r.NotModified || r.Refused != 231 {
		t.Errorf("again: %s, not modified %v", told(r), r.NotModified)
	}
}
