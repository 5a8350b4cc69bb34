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
	rows := map[string]string{}
	for i := range 10 {
		rows[fmt.Sprintf("P%d", i)] = "3 EUR"
	}
	w.sync(table(rows))
	held := w.sync(table(map[string]string{"P0": "3 EUR"}))
	if held.State != feed.Held {
		t.Fatal(told(held))
	}
	w.Call(http.MethodDelete, w.path(), nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPost, w.path()+"/sync", object{"confirm_run_id": held.ID}).Refused(t, 404, errs.NotFound, "")
	if r := w.run(held.ID); r.State != feed.Held || len(w.products()) != 10 {
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
