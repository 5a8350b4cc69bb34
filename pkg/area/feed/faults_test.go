package feed_test

import (
	"bytes"
	"compress/gzip"
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
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	reader "github.com/content-automation/api/pkg/craft/feed"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// server is a shop on this machine, which the real client calls for the public address of the feed.
type server struct {
	client *safehttp.Client
	at     *url.URL
}

func (s server) Do(req *http.Request) (*http.Response, error) {
	to := req.Clone(req.Context())
	to.URL, to.Host = s.at, s.at.Host
	return s.client.Do(to)
}

func packed(text string, times int) string {
	for range times {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		text = b.String()
	}
	return text
}

// What servers do wrong changes nothing, unless the bytes say what is meant.
func TestServersOfShops(t *testing.T) {
	good := table(map[string]string{"A": "4 EUR", "B": "3 EUR"})
	const done = "completed read 2, created 0, changed 1, unchanged 1, archived 0, refused 0"
	answer := func(text string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			_, _ = io.WriteString(w, text)
		}
	}
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"a picture by its type": {answer(good, "Content-Type", "image/png"), done},
		"a page by its type":    {answer(good, "Content-Type", "text/html; charset=iso-8859-1"), done},
		"packed":                {answer(packed(good, 1), "Content-Type", "text/csv"), done},
		"encoded":               {answer(packed(good, 1), "Content-Encoding", "gzip"), done},
		"packed and encoded":    {answer(packed(good, 2), "Content-Encoding", "gzip"), done},
		"packed three times":    {answer(packed(good, 3), "Content-Encoding", "gzip"), "failed: unreadable: more than twice"},
		"packed, and cut off":   {answer(packed(good, 1)[:60]), "failed: unreadable: damaged"},
		"encoded in name alone": {answer(good, "Content-Encoding", "gzip"), done},
		"encoded otherwise":     {answer(good, "Content-Encoding", "br"), "failed: not_fetched: has compressed the feed as"},
		"a page with 200":       {answer("<html><body>Maintenance</body></html>"), "failed: unreadable: has no column"},
		"nothing":               {answer(""), "failed: unreadable: empty"},
		"redirected":            {to("/good"), done},
		"redirected for ever":   {to("/again"), "failed: not_fetched: "},
		"to a private address":  {to("http://10.0.0.1/feed"), "failed: not_fetched: "},
		"to the metadata":       {to("http://169.254.169.254/latest/meta-data"), "failed: not_fetched: "},
		"to a file":             {to("file:///etc/passwd"), "failed: not_fetched: "},
		"unauthorized":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "failed: not_fetched: status 401"},
		"not modified at once":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "failed: not_fetched: status 304"},
		"shorter than it says":  {answer(good, "Content-Length", "100000"), "failed: not_fetched: could not be read to its end"},
		"slower than is waited": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, good)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "failed: not_fetched: could not be read to its end"},
		"larger than 200 MB": {func(w http.ResponseWriter, _ *http.Request) {
			row := []byte("A,Product A," + strings.Repeat("x", 1<<20) + "\n")
			for range reader.MaxBytes/len(row) + 2 {
				if _, err := w.Write(row); err != nil {
					return
				}
			}
		}, "failed: unreadable: larger than 200 MB"},
	} {
		w := newWorld(t)
		w.set()
		w.sync(table(map[string]string{"A": "3 EUR", "B": "3 EUR"}))
		before := w.writes("product")
		mux := http.NewServeMux()
		mux.HandleFunc("/", c.serve)
		mux.HandleFunc("/good", answer(good))
		srv := httptest.NewServer(mux)
		at, err := url.Parse(srv.URL + "/feed")
		if err != nil {
			t.Fatal(err)
		}
		timeout := 5 * time.Second
		if strings.HasPrefix(name, "slower") {
			timeout = 100 * time.Millisecond
		}
		w.worker.URLs = server{safehttp.New(safehttp.Options{AllowLoopback: true, MaxBody: reader.MaxBytes + 1,
			Timeout: timeout, Redirects: safehttp.MaxRedirects}), at}
		r := w.sync("")
		got := told(r)
		if r.Failure != nil {
			got = fmt.Sprintf("%s: %s: %s", r.State, r.Failure.Code, r.Failure.Message)
		}
		state, reason, _ := strings.Cut(c.want, ": ")
		code, reason, _ := strings.Cut(reason, ": ")
		if r.Failure == nil && got != c.want || r.Failure != nil && (string(r.State) != state ||
			r.Failure.Code != code || !strings.Contains(got, reason)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if r.Failure != nil && w.writes("product") != before {
			t.Errorf("%s: products were changed", name)
		}
		srv.CloseClientConnections()
		srv.Close()
	}
}

// A feed that is set anew during a run is read to its end as the run has begun, and then anew.
func TestAFeedThatIsSetAnewDuringARun(t *testing.T) {
	for _, during := range []string{"run", "hold"} {
		w := newWorld(t)
		w.set("mapping", object{"sku": "Artikel"}, "currency", "EUR")
		w.worker.StepRows = 1
		w.shop.header = map[string]string{"ETag": `"1"`}
		first := "Artikel,name,price\n"
		for i := range 200 {
			first += fmt.Sprintf("P%03d,Product,%d\n", i, 3+i)
		}
		w.sync(first)
		if during == "hold" {
			first = "Artikel,name,price\nP000,Product,9\n"
		} else {
			first = strings.ReplaceAll(first, "Product", "Better")
		}
		w.shop.feed, w.shop.header = first, map[string]string{"ETag": `"2"`}
		var r feed.Run
		w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, &r)
		key, attempt := store.IDKey(task.ID(feed.RunKind, r.ID, 1)), 1
		w.crash(key, 2) // the feed was fetched, and the first rows are written
		w.set("format", "json_lines", "currency", "USD")
		if during == "hold" {
			w.DoAfter(key, 0)
			if r = w.run(r.ID); r.State != feed.Held {
				t.Fatalf("%s: %s", during, told(r))
			}
			w.Call(http.MethodPost, w.path()+"/sync", object{"confirm_run_id": r.ID}).Into(t, http.StatusAccepted, &r)
			attempt = 2
		}
		w.DoAfter(store.IDKey(task.ID(feed.RunKind, r.ID, attempt)), 0)
		r = w.run(r.ID)
		if r.State != feed.Completed || r.Refused > 0 || w.products()["P000"].Price.Currency != "EUR" {
			t.Fatalf("%s: %s", during, told(r))
		}
		// The next run asks for the feed without the validators of the other settings.
		w.sync(`{"id":"P000","title":"Product","price":"3"}`)
		if h := w.shop.asked[len(w.shop.asked)-1]; h.Get("If-None-Match") != "" {
			t.Errorf("%s: asked was %v", during, h)
		}
	}
}

// A factory that is deleted during a run ends it, and nothing of its feed stays.
func TestAFactoryThatIsDeletedDuringARun(t *testing.T) {
	w := newWorld(t)
	w.set()
	w.worker.StepRows = 1
	rows := products(200, "3 EUR")
	w.shop.feed = table(rows)
	var r feed.Run
	w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, &r)
	key := store.IDKey(task.ID(feed.RunKind, r.ID, 1))
	w.crash(key, 3)
	w.Call(http.MethodDelete, "/v1/factories/"+w.seller, nil).Into(t, http.StatusOK, new(any))
	before := w.writes("product")
	w.DoAfter(key, 0)
	if r = w.run(r.ID); r.State != feed.Failed || r.Failure.Code != "not_fetched" || w.writes("product") != before {
		t.Errorf("%s, %d writes", told(r), w.writes("product")-before)
	}
	clean := feed.Cleaner{DB: w.DB}
	for more := true; more; {
		var err error
		if more, err = clean.Clean(t.Context(), w.Principal.Owner, w.seller); err != nil {
			t.Fatal(err)
		}
	}
	w.Call(http.MethodGet, w.path()+"/runs/"+r.ID, nil).Refused(t, 404, errs.NotFound, "")
}

// What a person changes of a product stays until the shop changes its row.
func TestProductsThatPeopleChange(t *testing.T) {
	w := newWorld(t)
	w.set()
	rows := map[string]string{"A": "3 EUR", "B": "3 EUR"}
	w.sync(table(rows))
	all := w.products()
	if !all["A"].InFeed {
		t.Error("A is in no feed")
	}
	w.Call(http.MethodPatch, "/v1/products/"+all["A"].ID, object{"name": "By hand"}).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPatch, "/v1/products/"+all["B"].ID, object{"state": "archived"}).Into(t, http.StatusOK, new(any))
	w.sync(table(rows))
	if all = w.products(); all["A"].Name != "By hand" || all["B"].State != product.Archived {
		t.Errorf("the catalog has %+v", all)
	}
	rows["A"], rows["B"] = "4 EUR", "4 EUR"
	w.sync(table(rows))
	if all = w.products(); all["A"].Name != "Product A" || all["B"].State != product.Active {
		t.Errorf("the catalog has %+v", all)
	}
	w.Call(http.MethodDelete, "/v1/products/"+all["A"].ID, nil).Into(t, http.StatusOK, new(any))
	if r := w.sync(table(rows)); r.Created != 1 || w.products()["A"].Name != "Product A" {
		t.Errorf("%s: %+v", told(r), w.products())
	}
}

// The shelf is never emptied: a fifth that is gone waits, and one less goes.
func TestAFifthExactly(t *testing.T) {
	for gone, state := range map[int]feed.RunState{3: feed.Completed, 4: feed.Held, 5: feed.Held, 20: feed.Held} {
		w := newWorld(t)
		w.set()
		rows := products(20, "3 EUR")
		w.sync(table(rows))
		for i := range gone {
			delete(rows, fmt.Sprintf("P%d", i))
		}
		rows["new"] = "3 EUR" // new products do not count
		if r := w.sync(table(rows)); r.State != state || r.Gone != gone {
			t.Errorf("%d gone: %s", gone, told(r))
		}
	}
}

// Photos that cannot be fetched leave the product as it is.
func TestPhotosThatCannotBeFetched(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"missing":   {404, "not found"},
		"failing":   {503, "oops"},
		"a page":    {200, "<html></html>"},
		"too large": {200, "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 40<<20)},
	} {
		w := newWorld(t)
		w.set()
		w.sync(table(map[string]string{"A": "3 EUR,,,https://93.184.215.14/a.png"}))
		w.shop.feed, w.shop.status = c.body, c.status
		w.DoAfter(w.task(feed.PhotosKind), 2*time.Second)
		a := w.products()["A"]
		if len(a.Photos) != 1 {
			t.Fatalf("%s: A has %+v", name, a.Photos)
		}
		w.DoAfter(store.IDKey(task.ID(mediaarea.Photo, a.Photos[0].ID, 1)), 0)
		if a = w.products()["A"]; len(a.Photos) > 1 || len(a.Photos) == 1 && a.Photos[0].State != mediaarea.Rejected {
			t.Errorf("%s: A has %+v", name, a.Photos)
		}
		// The next run neither waits for the photo nor fetches it again.
		w.shop.status = 200
		if r := w.sync(table(map[string]string{"A": "3 EUR,,,https://93.184.215.14/a.png"})); r.Unchanged != 1 {
			t.Errorf("%s: %s", name, told(r))
		}
	}
}

// The catalog of another account keeps the links to the sales of its feed.
func TestAnImportedCatalogFollowsItsFeed(t *testing.T) {
	from, to := newWorld(t), newWorld(t)
	from.set()
	rows := map[string]string{"A": "10 EUR,,8 EUR", "B": "5 EUR", "C": "5 EUR", "D": "5 EUR", "E": "5 EUR", "F": "5 EUR"}
	from.sync(table(rows))
	to.set()
	adopt := func(add func(tx *store.Tx) error) {
		t.Helper()
		if err := to.DB.Change(t.Context(), add); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range from.products() {
		p.FactoryID = to.seller
		adopt(func(tx *store.Tx) error { return product.Adopt(tx, to.Principal.Owner, p, nil) })
	}
	promotions := func(w *world) []product.Promotion {
		return apitest.All[product.Promotion](w.Caller, "/v1/promotions?factory_id="+w.seller, 100)
	}
	for _, p := range promotions(from) {
		if !p.FromFeed {
			t.Errorf("%s is of no feed", p.ID)
		}
		p.FactoryID = to.seller
		adopt(func(tx *store.Tx) error {
			found, err := to.DB.GetAll(t.Context(), store.IDKeys(p.ProductIDs)...)
			if err != nil {
				return err
			}
			return product.AdoptPromotion(tx, to.Now(), to.Principal.Owner, p, found)
		})
	}
	rows["A"] = "10 EUR,,7 EUR"
	delete(rows, "F")
	if got := told(to.sync(table(rows))); got != "completed read 5, created 0, changed 5, unchanged 0, archived 1, refused 0" {
		t.Error(got)
	}
	if all := promotions(to); len(all) != 1 || all[0].Discount.Value != 300 || all[0].State != product.Running {
		t.Errorf("promotions are %+v", all)
	}
	rows["A"] = "10 EUR"
	to.sync(table(rows))
	if all := promotions(to); len(all) != 1 || all[0].State != product.Ended {
		t.Errorf("promotions are %+v", all)
	}
}
