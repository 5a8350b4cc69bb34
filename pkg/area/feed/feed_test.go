package feed_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/importertest"
	"github.com/content-automation/api/pkg/area/feed"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

func TestACatalogFollowsItsFeed(t *testing.T) {
	w := newWorld(t)
	f := w.set()
	if f.OnPriceChange != "hold" || f.Schedule != "manual" || f.Photos != "main" || f.State != feed.Idle || f.Version != 1 {
		t.Errorf("set was %+v", f)
	}
	r := w.sync(table(map[string]string{"A": "12.50 EUR", "B": "3 EUR,out_of_stock", "C": "free"}))
	if got := told(r); got != "completed read 3, created 2, changed 0, unchanged 0, archived 0, refused 1" {
		t.Fatal(got)
	}
	if len(r.Refusals) != 1 || r.Refusals[0].Row != 4 || r.Refusals[0].Member != "price" || r.RefusalsURL == nil {
		t.Errorf("refused %+v at %v", r.Refusals, r.RefusalsURL)
	}
	all := w.products()
	if a := all["A"]; a.Price.Amount != 1250 || a.Availability != product.InStock ||
		all["B"].Availability != product.OutOfStock {
		t.Errorf("the catalog has %+v", all)
	}
	r = w.sync(table(map[string]string{"A": "13 EUR", "B": "3 EUR,out_of_stock", "C": "free"}))
	if got := told(r); got != "completed read 3, created 0, changed 1, unchanged 1, archived 0, refused 1" {
		t.Error(got)
	}
	if p := w.products()["A"]; p.Price.Amount != 1300 || len(p.PriceHistory) != 2 {
		t.Errorf("A is %+v", p)
	}
	runs := apitest.All[feed.Run](w.Caller, w.path()+"/runs", 1)
	if len(runs) != 2 || runs[0].ID != r.ID || len(runs[0].Refusals) != 0 {
		t.Errorf("listed are %+v", runs)
	}
	if f = w.get(); f.State != feed.Idle || f.LastRun == nil || f.LastRun.ID != r.ID ||
		f.LastRun.State != feed.Completed {
		t.Errorf("the feed is %+v", f)
	}
	w.Call(http.MethodDelete, w.path(), nil).Into(t, http.StatusOK, &f)
	w.Call(http.MethodGet, w.path(), nil).Refused(t, 404, errs.NotFound, "")
	if len(w.products()) != 2 {
		t.Error("the products have ended with the feed")
	}
}

func TestSalesMakePromotions(t *testing.T) {
	w := newWorld(t)
	w.set()
	promotions := func() []product.Promotion {
		return apitest.All[product.Promotion](w.Caller, "/v1/promotions?factory_id="+w.seller, 100)
	}
	w.sync(table(map[string]string{"A": "10 EUR,,8 EUR", "B": "5 EUR"}))
	all := promotions()
	if len(all) != 1 || all[0].State != product.Running ||
		all[0].Discount != (product.Discount{Kind: "amount", Value: 200}) ||
		all[0].PriorPrices[0].Price.Amount != 1000 {
		t.Fatalf("promotions are %+v", all)
	}
	// Another sale price changes the promotion, and another price, too.
	w.sync(table(map[string]string{"A": "12 EUR,,7 EUR", "B": "5 EUR"}))
	if all = promotions(); len(all) != 1 || all[0].Discount.Value != 500 || all[0].Version != 2 {
		t.Errorf("promotions are %+v", all)
	}
	w.sync(table(map[string]string{"A": "6 EUR", "B": "5 EUR"}))
	if all = promotions(); len(all) != 1 || all[0].State != product.Ended {
		t.Errorf("promotions are %+v", all)
	}
	dated := "sku,name,price,sale_price,sale_price_effective_date\nA,Product A,6 EUR,5 EUR,2026-06-01T00:00Z/2026-06-08T00:00Z\n" +
		"B,Product B,5 EUR,4 EUR,2026-01-01/2026-02-01\n"
	if got := told(w.sync(dated)); got != "completed read 2, created 0, changed 2, unchanged 0, archived 0, refused 0" {
		t.Error(got)
	}
	if all = promotions(); len(all) != 2 || all[0].State != product.Scheduled ||
		all[0].StartsAt.Format(time.DateOnly) != "2026-06-01" || all[0].EndsAt.Format(time.DateOnly) != "2026-06-08" {
		t.Errorf("promotions are %+v", all)
	}
	// What a person has promoted keeps the price above its discount: the row is refused, and says why.
	w.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.seller, "product_ids": []string{w.products()["B"].ID},
		"name": "Mine", "discount": object{"kind": "amount", "value": 300}, "ends_at": "2027-01-01T00:00:00Z"}).
		Into(t, http.StatusCreated, new(any))
	r := w.sync("sku,name,price\nA,Product A,6 EUR\nB,Product B,2 EUR\n")
	if r.Refused != 1 || len(r.Refusals) != 1 || r.Refusals[0].Row != 3 || r.Refusals[0].Member != "price/amount" {
		t.Errorf("%s: %+v", told(r), r.Refusals)
	}
}

func TestWhatIsGoneIsArchivedUnlessItIsAFifth(t *testing.T) {
	w := newWorld(t)
	w.set()
	rows := products(10, "3 EUR")
	w.sync(table(rows))
	delete(rows, "P0")
	if got := told(w.sync(table(rows))); got != "completed read 9, created 0, changed 0, unchanged 9, archived 1, refused 0" {
		t.Fatal(got)
	}
	if p := w.products()["P0"]; p.State != product.Archived {
		t.Errorf("P0 is %s", p.State)
	}
	delete(rows, "P1")
	delete(rows, "P2")
	rows["P3"] = "4 EUR"
	before := w.writes("product")
	held := w.sync(table(rows))
	if held.State != feed.Held || held.HeldReason != feed.MassRemoval || held.Gone != 2 || w.writes("product") != before {
		t.Fatalf("%s, %d gone, %d writes", told(held), held.Gone, w.writes("product")-before)
	}
	if f := w.get(); f.State != feed.Waiting || f.LastRun.State != feed.Held {
		t.Errorf("the feed is %+v", f)
	}
	w.Call(http.MethodPost, w.path()+"/sync", object{"confirm_run_id": "run_01h455vb4pex5vsknk084sn02q"}).Refused(t, 409,
		errs.InvalidState, "/confirm_run_id")
	// The run that is confirmed reads what it was confirmed for, whatever the shop has by then.
	r := w.sync("sku,name,price\n", "confirm_run_id", held.ID)
	if got := told(r); r.ID != held.ID || got != "completed read 7, created 0, changed 1, unchanged 6, archived 2, refused 0" {
		t.Errorf("%s of %s", got, r.ID)
	}
	if all := w.products(); all["P1"].State != product.Archived || all["P3"].Price.Amount != 400 {
		t.Errorf("the catalog has %+v", all)
	}
	// What comes back is active again, and a refused row is not gone.
	rows["P1"], rows["P3"] = "3 EUR", "free"
	if got := told(w.sync(table(rows))); got != "completed read 8, created 0, changed 1, unchanged 6, archived 0, refused 1" {
		t.Error(got)
	}
	if all := w.products(); all["P1"].State != product.Active || all["P3"].State != product.Active {
		t.Errorf("the catalog has %+v", all)
	}
}

// A run that is held ends when a newer one begins, by call or by the schedule, or when its feed is deleted. A feed that
// is whole again goes on by itself.
func TestARunTakesThePlaceOfOneThatIsHeld(t *testing.T) {
	for _, by := range []string{"call", "schedule", "deletion"} {
		w := newWorld(t)
		w.set("schedule", "hourly")
		whole, cut := table(map[string]string{"A": "3 EUR", "B": "3 EUR"}), table(map[string]string{"A": "3 EUR"})
		w.sync(whole)
		held := w.sync(cut)
		if held.State != feed.Held {
			t.Fatal(told(held))
		}
		switch by {
		case "call":
			w.sync(whole)
		case "schedule":
			w.shop.feed = whole
			w.DoAfter(w.task(feed.TimerKind), time.Hour)
			w.DoAfter(store.IDKey(task.ID(feed.RunKind, w.get().LastRun.ID, 1)), 0)
		case "deletion":
			w.Call(http.MethodDelete, w.path(), nil).Into(t, http.StatusOK, new(any))
		}
		r := w.run(held.ID)
		if r.State != feed.Canceled || r.HeldReason != feed.MassRemoval || r.EndedAt == nil || r.Gone != 1 {
			t.Errorf("%s: the held run is %+v", by, r)
		}
		if all := apitest.All[feed.Run](w.Caller, w.path()+"/runs?state=held", 10); len(all) != 0 {
			t.Errorf("%s: held are %+v", by, all)
		}
		if by == "deletion" {
			continue
		}
		if f := w.get(); f.State != feed.Idle || f.LastRun.State != feed.Completed || f.LastRun.ID == held.ID {
			t.Errorf("%s: the feed is %s, its last run %+v", by, f.State, f.LastRun)
		}
		e := w.Call(http.MethodPost, w.path()+"/sync", object{"confirm_run_id": held.ID})
		e.Refused(t, 409, errs.InvalidState, "/confirm_run_id")
		if !strings.Contains(e.Error.Message, w.get().LastRun.ID+", and is completed") {
			t.Errorf("%s: %s", by, e.Error.Message)
		}
	}
}

// A feed of a schedule that stays cut is reported once, and again only after a run has completed. A run that is called
// for is always reported.
func TestAFeedThatStaysCutIsReportedOnce(t *testing.T) {
	w := newWorld(t)
	w.set("schedule", "hourly")
	whole, cut := table(map[string]string{"A": "3 EUR", "B": "3 EUR"}), table(map[string]string{"A": "3 EUR"})
	w.sync(whole)
	scheduled := func() {
		w.DoAfter(w.task(feed.TimerKind), time.Hour)
		w.DoAfter(store.IDKey(task.ID(feed.RunKind, w.get().LastRun.ID, 1)), 0)
	}
	reports := func() int { return len(apitest.All[object](w.Caller, "/v1/events?type=feed.held", 100)) }
	for n, c := range []struct {
		feed    string
		status  int
		called  bool
		state   feed.RunState
		reports int
	}{
		{cut, 200, false, feed.Held, 1}, {cut, 200, false, feed.Held, 1}, {cut, 500, false, feed.Failed, 1},
		{cut, 200, false, feed.Held, 1}, {cut, 200, true, feed.Held, 2}, {cut, 200, false, feed.Held, 2},
		{whole, 200, false, feed.Completed, 2}, {cut, 200, false, feed.Held, 3}, {cut, 200, false, feed.Held, 3},
	} {
		w.shop.feed, w.shop.status = c.feed, c.status
		if c.called {
			w.sync(c.feed)
		} else {
			scheduled()
		}
		if r := w.get().LastRun; r.State != c.state || reports() != c.reports {
			t.Errorf("run %d is %s, and %d are reported; want %s, %d", n, r.State, reports(), c.state, c.reports)
		}
	}
	w.set("schedule", "hourly")
	if scheduled(); reports() != 4 {
		t.Errorf("%d are reported after the feed was set again, want 4", reports())
	}
}

// A broken feed changes nothing, and never empties a shelf.
func TestRunsThatFail(t *testing.T) {
	w := newWorld(t)
	w.set()
	w.sync(table(map[string]string{"A": "3 EUR", "B": "3 EUR"}))
	before := w.writes("product")
	for name, c := range map[string]struct {
		feed         string
		status       int
		code, reason string
	}{
		"empty":     {"", 200, "unreadable", "empty"},
		"a page":    {"<html>We are closed</html>", 200, "unreadable", "has no column"},
		"truncated": {"sku,name,price\nA,Product A,9 EUR\nB,\"Prod", 200, "unreadable", "has no end"},
		"missing":   {"not found", 404, "not_fetched", "status 404"},
		"failing":   {"oops", 503, "not_fetched", "status 503"},
	} {
		w.shop.status = c.status
		r := w.sync(c.feed)
		if r.State != feed.Failed || r.Failure == nil || r.Failure.Code != c.code ||
			!strings.Contains(r.Failure.Message, c.reason) ||
			w.writes("product") != before || w.get().State != feed.Failing {
			t.Errorf("%s: %s", name, told(r))
		}
	}
	w.shop.status = 200
	if got := told(w.sync(table(map[string]string{"A": "4 EUR", "B": "3 EUR"}))); !strings.HasPrefix(got, "completed") {
		t.Error(got)
	}
	// A key that was revoked changes nothing any more.
	w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
	r := w.sync(table(map[string]string{"A": "5 EUR", "B": "3 EUR"}))
	if r.State != feed.Failed || r.Failure.Code != "authority_ended" {
		t.Error(told(r))
	}
}

func TestAFeedThatHasNotChangedIsNotRead(t *testing.T) {
	w := newWorld(t)
	w.set()
	w.shop.header = map[string]string{"ETag": `"1"`, "Last-Modified": "Mon, 01 Jun 2026 00:00:00 GMT"}
	text := table(map[string]string{"A": "3 EUR"})
	w.sync(text)
	before := w.writes("product")
	r := w.sync(text)
	if !r.NotModified || r.State != feed.Completed || w.writes("product") != before {
		t.Errorf("%s, not modified %v", told(r), r.NotModified)
	}
	if h := w.shop.asked[1]; h.Get("If-None-Match") != `"1"` || h.Get("If-Modified-Since") == "" {
		t.Errorf("asked was %v", h)
	}
	// Another way to read it reads it again.
	w.set("currency", "USD")
	if r = w.sync(text); r.NotModified || r.Unchanged != 1 {
		t.Error(told(r))
	}
}

func TestFeedsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	body := func(members ...any) object {
		b := object{"source": object{"url": public}, "format": "csv"}
		for i := 0; i+1 < len(members); i += 2 {
			b[members[i].(string)] = members[i+1]
		}
		return b
	}
	for _, c := range []struct {
		body  object
		param string
	}{
		{body("source", object{}), "/source"},
		{body("source", object{"url": public, "media_id": "med_01h455vb4pex5vsknk084sn02q"}), "/source"},
		{body("source", object{"url": "https://10.0.0.1/feed"}), "/source/url"},
		{body("source", object{"url": "https://169.254.169.254/latest/meta-data"}), "/source/url"},
		{body("source", object{"url": "http://93.184.215.14/feed"}), "/source/url"},
		{body("format", "xls"), "/format"},
		{body("format", "shopify_csv"), "/currency"},
		{body("format", "yml", "mapping", object{"sku": "id"}), "/mapping"},
		{body("mapping", object{"colour": "Farbe"}), "/mapping"},
		{body("currency", "XXX"), "/currency"},
		{body("schedule", "daily"), "/daily_time"},
		{body("schedule", "hourly", "daily_time", "06:30"), "/daily_time"},
		{body("schedule", "daily", "daily_time", "25:00"), "/daily_time"},
		{body("photos", "some"), "/photos"},
		{body("on_removed", "delete"), "/on_removed"},
	} {
		w.Call(http.MethodPut, w.path(), c.body).Refused(t, 422, errs.ValidationFailed, c.param)
	}
	w.Call(http.MethodPut, w.path(), body("source", object{"media_id": "med_01h455vb4pex5vsknk084sn02q"})).Unusable(t,
		"/source/media_id")
	var brand struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": "brand", "name": "B", "settings": object{"brand_name": "B"}}).
		Into(t, http.StatusCreated, &brand)
	of := "/v1/factories/" + brand.ID + "/feed"
	for _, a := range []apitest.Answer{w.Call(http.MethodPut, of, body()), w.Call(http.MethodGet, of, nil),
		w.Call(http.MethodDelete, of, nil), w.Call(http.MethodPost, of+"/sync", nil)} {
		a.Refused(t, 422, errs.WrongFactoryType, "factory_id")
	}
	w.Stranger().Call(http.MethodPut, w.path(), body()).Refused(t, 404, errs.NotFound, "")
	w.Only(auth.ProductsRead).Call(http.MethodPut, w.path(), body()).Refused(t, 403, errs.InsufficientScope, "")
	w.Call(http.MethodPost, w.path()+"/sync", nil).Refused(t, 404, errs.NotFound, "")
	w.set()
	w.Call(http.MethodPut, w.path(), body(), "If-Match", `"7"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
	w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, new(any))
	w.Call(http.MethodPost, w.path()+"/sync", nil).Refused(t, 409, errs.InvalidState, "")
	w.Call(http.MethodDelete, w.path(), nil).Refused(t, 409, errs.InvalidState, "")
	w.Stranger().Call(http.MethodGet, w.path()+"/runs", nil).Refused(t, 404, errs.NotFound, "")
}

func TestAFeedIsReadByItsSchedule(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.seller, object{"schedule": object{"timezone": "Europe/Berlin",
		"times": []string{"09:00"}}}).Into(t, http.StatusOK, new(any))
	w.shop.feed = table(map[string]string{"A": "3 EUR"})
	f := w.set("schedule", "daily", "daily_time", "06:30")
	if f.NextRunAt == nil || f.NextRunAt.Format(time.RFC3339) != "2026-05-02T04:30:00Z" {
		t.Fatalf("next is %v", f.NextRunAt)
	}
	timer := w.task(feed.TimerKind)
	w.DoAfter(timer, 16*time.Hour)
	if f = w.get(); f.State != feed.Idle {
		t.Errorf("it began early: %+v", f)
	}
	w.DoAfter(timer, 31*time.Minute)
	if f = w.get(); f.State != feed.Syncing || f.NextRunAt.Format(time.RFC3339) != "2026-05-03T04:30:00Z" {
		t.Fatalf("it is %+v", f)
	}
	w.DoAfter(store.IDKey(task.ID(feed.RunKind, f.LastRun.ID, 1)), 0)
	if got := told(w.run(f.LastRun.ID)); got != "completed read 1, created 1, changed 0, unchanged 0, archived 0, refused 0" {
		t.Error(got)
	}
	if f = w.set("schedule", "hourly"); f.NextRunAt.Sub(w.Now()) > time.Hour {
		t.Errorf("next is %v", f.NextRunAt)
	}
	w.DoAfter(timer, 48*time.Hour) // the timer of the earlier schedule
	if f = w.get(); f.State != feed.Idle {
		t.Errorf("a timer of another schedule began %+v", f.LastRun)
	}
}

// Before a day that begins at 01:00, a daily feed of its first hour is not read again at once, and again.
func TestADailyFeedBeforeADayWithoutMidnight(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.seller, object{"schedule": object{"timezone": "America/Santiago",
		"times": []string{"09:00"}}}).Into(t, http.StatusOK, new(any))
	w.Clock.Add(time.Date(2026, 9, 5, 4, 10, 0, 0, time.UTC).Sub(w.Now())) // 00:10
	f := w.set("schedule", "daily", "daily_time", "00:05")
	if f.NextRunAt.Format(time.RFC3339) != "2026-09-06T04:05:00Z" {
		t.Errorf("next is %v", f.NextRunAt)
	}
}

// upload brings in a feed as a media.
func (w *world) upload(text string) (m mediaarea.Media) {
	w.T.Helper()
	sent := []byte(text)
	w.Call(http.MethodPost, "/v1/media", importertest.Declare("text/csv", sent)).Into(w.T, http.StatusCreated, &m)
	w.Notify(w.bucket.Upload(w.T, m.Upload.URL, sent))
	w.Call(http.MethodGet, "/v1/media/"+m.ID, nil).Into(w.T, http.StatusOK, &m)
	return m
}

func TestAFeedInAMedia(t *testing.T) {
	w := newWorld(t)
	m := w.upload(table(map[string]string{"A": "3 EUR"}))
	if m.State != mediaarea.Ready || m.Type != "data" || m.MIMEType != "text/csv" {
		t.Fatalf("the media is %+v", m)
	}
	w.Call(http.MethodPut, w.path(), object{"source": object{"media_id": m.ID}, "format": "csv", "schedule": "hourly"}).
		Refused(t, 422, errs.ValidationFailed, "/schedule")
	w.set("source", object{"media_id": m.ID})
	if got := told(w.sync("")); got != "completed read 1, created 1, changed 0, unchanged 0, archived 0, refused 0" {
		t.Error(got)
	}
	// The same file, and the same content in another one, are compared again, and change nothing.
	before := w.writes("product")
	for range 2 {
		if got := told(w.sync("")); got != "completed read 1, created 0, changed 0, unchanged 1, archived 0, refused 0" ||
			w.writes("product") != before {
			t.Errorf("%s, %d writes", got, w.writes("product")-before)
		}
		w.set("source", object{"media_id": w.upload(table(map[string]string{"A": "3 EUR"})).ID})
	}
}

func TestPhotosOfAFeed(t *testing.T) {
	w := newWorld(t)
	w.set()
	w.sync(table(map[string]string{"A": "3 EUR,,,https://93.184.215.14/a.png", "B": "3 EUR"}))
	w.shop.feed = "no picture"
	w.DoAfter(w.task(feed.PhotosKind), 2*time.Second)
	a := w.products()["A"]
	if len(a.Photos) != 1 || *a.Photos[0].SourceURL != "https://93.184.215.14/a.png" {
		t.Fatalf("A has %+v", a.Photos)
	}
	w.DoAfter(store.IDKey(task.ID(mediaarea.Photo, a.Photos[0].ID, 1)), 0)
	// Another photo takes its place, and none removes it.
	w.sync(table(map[string]string{"A": "3 EUR,,,https://93.184.215.14/b.png", "B": "3 EUR"}))
	w.DoAfter(w.task(feed.PhotosKind), 2*time.Second)
	if a = w.products()["A"]; len(a.Photos) != 1 || *a.Photos[0].SourceURL != "https://93.184.215.14/b.png" {
		t.Errorf("A has %+v", a.Photos)
	}
	w.set("photos", "none")
	w.DoAfter(store.IDKey(task.ID(mediaarea.Photo, a.Photos[0].ID, 1)), 0)
	w.sync(table(map[string]string{"A": "3 EUR,,,https://93.184.215.14/b.png", "B": "3 EUR"}))
	if a = w.products()["A"]; len(a.Photos) != 0 {
		t.Errorf("A has %+v", a.Photos)
	}
}

func TestFormulasInRefusals(t *testing.T) {
	w := newWorld(t)
	w.set()
	r := w.sync("sku,name,price,=1+1\nA,Tea,free,x\nB,Tea,1 EUR,x\n")
	if r.Refused != 1 {
		t.Fatal(told(r))
	}
	for key, content := range w.bucket.Objects {
		if strings.HasSuffix(key, "refusals.csv") && strings.HasPrefix(string(content), "row,member,reason\n2,price,") {
			return
		}
	}
	t.Errorf("the objects are %v", w.bucket.Objects)
}

// A run that dies at any write goes on behind it: the catalog and the counts are as if nothing had happened.
func TestARunThatDiesGoesOn(t *testing.T) {
	first, second := map[string]string{}, map[string]string{}
	for i := range 120 {
		first[fmt.Sprintf("P%d", i)] = "3 EUR"
		second[fmt.Sprintf("P%d", i)] = fmt.Sprintf("%d EUR", 3+i%2)
	}
	for i := range 20 {
		delete(second, fmt.Sprintf("P%d", i*3))
		second[fmt.Sprintf("Q%03d", i)] = "5 EUR,,4 EUR"
	}
	want := ""
	for n := 0; n < 30; n++ {
		w := newWorld(t)
		w.set()
		w.worker.StepRows = 30
		w.sync(table(first))
		w.shop.feed = table(second)
		var r feed.Run
		w.Call(http.MethodPost, w.path()+"/sync", nil).Into(t, http.StatusAccepted, &r)
		key := store.IDKey(task.ID(feed.RunKind, r.ID, 1))
		died := n > 0 && w.crash(key, n)
		w.DoAfter(key, 0)
		r = w.run(r.ID)
		got := told(r)
		for sku, p := range w.products() {
			got += fmt.Sprintf("; %s %s %s", sku, p.Price, p.State)
		}
		got = sorted(got)
		if n == 0 {
			if want = got; r.State != feed.Completed || r.Created != 20 || r.Archived != 20 {
				t.Fatal(told(r))
			}
			continue
		}
		if got != want {
			t.Fatalf("died at write %d (%v): %s", n, died, told(r))
		}
		if !died {
			return
		}
	}
}

func sorted(text string) string {
	parts := strings.Split(text, "; ")
	for i := range parts {
		for j := i + 1; j < len(parts); j++ {
			if parts[j] < parts[i] {
				parts[i], parts[j] = parts[j], parts[i]
			}
		}
	}
	return strings.Join(parts, "; ")
}

// generator makes feeds with a seed, and keeps the truth.
type generator struct {
	rand   *rand.Rand
	prices []int
}

func (g *generator) feed() string {
	var b strings.Builder
	b.WriteString("sku,name,description,price,color,photo\n")
	long := strings.Repeat("A description of some length. ", 20)
	for i, p := range g.prices {
		fmt.Fprintf(&b, "S-%06d,Product %d,%s,%d.%02d EUR,red,https://93.184.215.14/%d.jpg\n", i, i, long, p/100, p%100, i)
	}
	return b.String()
}

// change changes a share of the prices.
func (g *generator) change(share float64) (changed int) {
	for i := range g.prices {
		if g.rand.Float64() < share {
			g.prices[i] += 1 + g.rand.IntN(500)
			changed++
		}
	}
	return changed
}

// heapOf returns by how many megabytes what is in use grows at most while a function runs.
func heapOf(run func()) uint64 {
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	most := before
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				most = max(most, used())
			}
		}
	}()
	run()
	close(done)
	<-sampled
	return (most - before) >> 20
}

// A second run with 1 % changed writes at most 1.1 % of the rows, of whatever kind of item, and takes less than 100 MB
// of memory, which has the double of the table in it.
func TestARunWritesWhatHasChanged(t *testing.T) {
	rows := 4000
	if breadth() {
		rows = 50_000
	}
	w := newWorld(t)
	w.set()
	g := &generator{rand: rand.New(rand.NewPCG(1, 2)), prices: make([]int, rows)}
	for i := range g.prices {
		g.prices[i] = 100 + g.rand.IntN(10_000)
	}
	began := time.Now()
	if r := w.sync(g.feed()); r.Created != rows {
		t.Fatal(told(r))
	}
	t.Logf("%d rows in %v", rows, time.Since(began))
	changed := g.change(0.01)
	all := func() int { return w.writes("product", "sku", "promotion", "task", "feed", "feed_run", "event") }
	before, began := all(), time.Now()
	text := g.feed()
	var r feed.Run
	heap := heapOf(func() { r = w.sync(text) })
	if got := told(r); r.Changed != changed || r.Unchanged != rows-changed {
		t.Errorf("%s, want %d changed", got, changed)
	}
	written := all() - before
	t.Logf("%d of %d rows changed: %d items written in %v with %d MB", changed, rows, written, time.Since(began), heap)
	if heap >= 100 && !breadth() { // of 50,000 rows 250 MB were measured, with all products in the table
		t.Errorf("a run takes %d MB", heap)
	}
	if bound := changed + changed/10 + 30; written > bound {
		t.Errorf("%d items were written for %d changed rows", written, changed)
	}
	for i, p := range w.products() {
		var n int
		_, _ = fmt.Sscanf(i, "S-%06d", &n)
		if p.Price.Amount != int64(g.prices[n]) {
			t.Fatalf("%s costs %s, not %d", i, p.Price, g.prices[n])
		}
		if !breadth() {
			break
		}
	}
}

// Each sandbox has a shop whose prices follow its clock.
func TestTheShopOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	w.set("source", object{"url": feed.SandboxShop}, "format", "google_xml")
	if got := told(w.sync("")); got != "completed read 200, created 200, changed 0, unchanged 0, archived 0, refused 0" {
		t.Fatal(got)
	}
	if r := w.sync(""); r.Unchanged != 200 {
		t.Errorf("on the same day: %s", told(r))
	}
	changed := 0
	for range 5 {
		w.Clock.Add(24 * time.Hour)
		r := w.sync("")
		if r.State != feed.Completed || r.Changed < 20 || r.Changed > 60 {
			t.Errorf("on the next day: %s", told(r))
		}
		changed += r.Changed
	}
	if changed < 150 || len(w.shop.asked) != 0 {
		t.Errorf("%d changes, %d requests", changed, len(w.shop.asked))
	}
	// With a live key it is an address as any other.
	w.Live().Call(http.MethodPut, w.path(), object{"source": object{"url": feed.SandboxShop}, "format": "csv"}).
		Refused(t, 404, errs.NotFound, "")
}
