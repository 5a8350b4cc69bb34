package feed_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

const public = "https://93.184.215.14/feed.xml"

// world is the area with its workers, and the areas that it needs.
type world struct {
	importertest.Worker
	bucket *importertest.Bucket
	shop   *shop
	worker *feed.Worker
	seller string
}

// shop is the server of a shop: it has one feed at all public addresses.
type shop struct {
	*safehttp.Client
	feed   string
	status int
	header map[string]string
	asked  []http.Header
}

func (s *shop) Do(req *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, req.Header)
	rec := httptest.NewRecorder()
	for name, value := range s.header {
		rec.Header().Set(name, value)
	}
	if tag := s.header["ETag"]; tag != "" && req.Header.Get("If-None-Match") == tag {
		rec.WriteHeader(http.StatusNotModified)
	} else {
		rec.WriteHeader(max(s.status, 200))
		_, _ = rec.WriteString(s.feed)
	}
	return rec.Result(), nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Worker: importertest.Worker{World: servicetest.New(t)}, shop: &shop{
		Client: safehttp.New(safehttp.Options{})}, bucket: &importertest.Bucket{Objects: map[string][]byte{}}}
	signer := apitest.Signer(t, w.Now)
	w.Serve(factory.NewService(w.DB, w.Now), mediaarea.NewService(w.DB, signer, w.shop, w.Now),
		product.NewService(w.DB, signer, w.shop, w.Now), product.NewPromotions(w.DB, w.Now),
		feed.NewService(w.DB, signer, w.shop, w.Now), account.NewEvents(w.DB, signer))
	w.Kept()
	w.worker = &feed.Worker{DB: w.DB, Objects: w.bucket, URLs: w.shop, Now: w.Clock.Now}
	files := &mediaarea.Importer{DB: w.DB, Objects: w.bucket, URLs: w.shop, Now: w.Clock.Now}
	handlers := w.worker.Handlers()
	handlers[mediaarea.Kind] = task.Func(files.Import)
	handlers[mediaarea.Photo] = task.Func((&product.PhotoWorker{Files: files}).Import)
	w.Tasks = w.Kernel(handlers)
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": "seller", "name": "Acme",
		"settings": object{"currency": "EUR"}}).Into(t, http.StatusCreated, &f)
	w.seller = f.ID
	return w
}

func (w *world) path() string { return "/v1/factories/" + w.seller + "/feed" }

// set sets the feed of the seller: a table at a public address.
func (w *world) set(members ...any) (f feed.Feed) {
	w.T.Helper()
	w.Call(http.MethodPut, w.path(), servicetest.Body(object{"source": object{"url": public}, "format": "csv"},
		members...)).Into(w.T, http.StatusOK, &f)
	return f
}

// sync reads a feed, and returns the run once it has ended.
func (w *world) sync(text string, body ...any) feed.Run {
	w.T.Helper()
	w.shop.feed = text
	var r feed.Run
	var sent any
	if len(body) > 0 {
		sent = servicetest.Body(object{}, body...)
	}
	w.Call(http.MethodPost, w.path()+"/sync", sent).Into(w.T, http.StatusAccepted, &r)
	attempt := 1
	if len(body) > 0 {
		attempt = 2
	}
	w.DoAfter(store.IDKey(task.ID(feed.RunKind, r.ID, attempt)), 0)
	return w.run(r.ID)
}

func (w *world) run(runID string) (r feed.Run) {
	w.T.Helper()
	w.Call(http.MethodGet, w.path()+"/runs/"+runID, nil).Into(w.T, http.StatusOK, &r)
	return r
}

// task returns the key of the last task of the feed of a kind: its timer, or what follows its runs.
func (w *world) task(kind task.Kind) store.Key {
	w.T.Helper()
	var r feed.Record
	it, err := w.DB.Get(w.T.Context(), shelf.Key(w.seller))
	if err == nil {
		err = it.Decode(&r)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	round := r.FollowRound
	if kind == feed.TimerKind {
		round = r.Round
	}
	return store.IDKey(task.ID(kind, w.seller, round))
}

func (w *world) get() (f feed.Feed) {
	w.T.Helper()
	w.Call(http.MethodGet, w.path(), nil).Into(w.T, http.StatusOK, &f)
	return f
}

// products returns the products of the seller by their SKUs.
func (w *world) products() map[string]product.Product {
	w.T.Helper()
	all := map[string]product.Product{}
	for _, p := range apitest.All[product.Product](w.Caller, "/v1/products?factory_id="+w.seller, 100) {
		all[p.SKU] = p
	}
	return all
}

// told returns the counts of a run as a text.
func told(r feed.Run) string {
	s := fmt.Sprintf("%s read %d, created %d, changed %d, unchanged %d, archived %d, refused %d", r.State, r.Read,
		r.Created, r.Changed, r.Unchanged, r.Archived, r.Refused)
	if r.Failure != nil {
		s += ": " + r.Failure.Code + ": " + r.Failure.Message
	}
	return s
}

// writes returns the number of writes of items of kinds until now.
func (w *world) writes(kinds ...string) (n int) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB, kinds...) {
		v := 0
		_, _ = fmt.Sscan(row["ver"], &v)
		n += v
	}
	return n
}

// table writes a feed of rows by their SKUs: the price and more cells.
func table(rows map[string]string) string {
	var b strings.Builder
	b.WriteString("sku,name,price,availability,sale_price,photo\n")
	for _, sku := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "%s,Product %s,%s\n", sku, sku, rows[sku])
	}
	return b.String()
}

// products returns the rows of n products, P0, P1 and so on, each with the same cells.
func products(n int, cells string) map[string]string {
	rows := map[string]string{}
	for i := range n {
		rows[fmt.Sprintf("P%d", i)] = cells
	}
	return rows
}

// breadth reports whether the long tests run.
func breadth() bool { return os.Getenv("BREADTH") != "" }

// crash has a step of a task die at its n-th write of the table, and reports whether it came so far.
func (w *world) crash(of store.Key, n int) (died bool) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), of)
	if err != nil {
		w.T.Fatal(err)
	}
	var t task.Task
	if err := it.Decode(&t); err != nil {
		w.T.Fatal(err)
	}
	m := t.Message
	for range 50 {
		ctx, die := context.WithCancel(w.T.Context())
		for i := range n {
			w.Faults.Before("TransactWriteItems", func() {
				if i == n-1 {
					die()
				}
			})
		}
		next, err := w.Tasks.Do(ctx, m, "")
		dead := ctx.Err() != nil
		die()
		w.Faults.Reset()
		if dead {
			w.Clock.Add(time.Minute) // the lease ends
			return true
		}
		if err != nil || next == nil || next.Delay > 2*time.Minute {
			return false
		}
		m = next.Message
	}
	return false
}
