//go:build !deployed

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
)

// follow sets the feed of a factory.
func (r *simulation) follow(url string) {
	r.t.Helper()
	into[object](r.call(http.MethodPut, r.feed(), object{"source": object{"url": url}, "format": "google_xml"}),
		http.StatusOK)
}

func (r *simulation) feed() string { return "/v1/factories/" + r.factory + "/feed" }

// sync reads the feed, and returns the run once it has ended.
func (r *simulation) sync(body any) (run feedRun) {
	r.t.Helper()
	run = into[feedRun](r.call(http.MethodPost, r.feed()+"/sync", body), http.StatusAccepted)
	poll.Until(r.t, "the end of the run", func() bool {
		run = into[feedRun](r.call(http.MethodGet, r.feed()+"/runs/"+run.ID, nil), http.StatusOK)
		return run.State != "queued" && run.State != "running"
	})
	return run
}

// googleFeed writes products by their prices in cents; one of 0 has a price that is none.
func googleFeed(prices []int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>`)
	for i, price := range prices {
		text := fmt.Sprintf("%d.%02d EUR", price/100, price%100)
		if price == 0 {
			text = "free"
		}
		fmt.Fprintf(&b, "<item><g:id>S-%d</g:id><g:title>Shoe %d</g:title><g:price>%s</g:price>"+
			"<g:availability>in_stock</g:availability></item>", i, i, text)
	}
	b.WriteString("</channel></rss>")
	return b.String()
}

// TestAShopOfItsOwn reads the shop that each sandbox has. Its prices follow the clock of the sandbox.
func TestAShopOfItsOwn(t *testing.T) {
	t.Parallel()
	r := newSimulation(t)
	r.follow("https://shop.example.com/sandbox.xml")
	if run := r.sync(nil); run.Created != 200 || run.State != "completed" {
		t.Fatal(run.counts())
	}
	if run := r.sync(nil); run.Unchanged != 200 {
		t.Error(run.counts())
	}
	r.advance(aDay)
	if run := r.sync(nil); run.Changed < 20 || run.Changed > 60 || run.Changed+run.Unchanged != 200 {
		t.Error(run.counts())
	}
	if n := r.count("/v1/events?limit=100&type=feed.completed"); n != 3 {
		t.Errorf("%d events", n)
	}
	live := call(t, r.live.Secret, http.MethodPut, "/v1/factories/"+r.shop(t, r.live.Secret)+"/feed", object{
		"source": object{"url": "https://shop.example.com/sandbox.xml"}, "format": "google_xml"})
	if err := live.refused(http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
}

// TestPostsFollowAShop has a post follow the price of its product in the feed of a shop: it is held, made again, and
// published with the price that the shop has.
func TestPostsFollowAShop(t *testing.T) {
	t.Parallel()
	r := newSimulation(t)
	var now atomic.Value
	prices := []int{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 0}
	now.Store(googleFeed(prices))
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, now.Load().(string))
	}))
	defer shop.Close()
	r.follow(shop.URL + "/google.xml")
	run := r.sync(nil)
	if got := run.counts(); got != "completed: read 10, created 9, changed 0, unchanged 0, archived 0, refused 1" {
		t.Fatal(got)
	}
	if len(run.Refusals) != 1 || run.Refusals[0].Row != 10 || run.RefusalsURL == nil {
		t.Fatalf("the refusals are %+v", run)
	}
	resp, err := http.Get(*run.RefusalsURL)
	if err != nil {
		t.Fatal(err)
	}
	list, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.HasPrefix(string(list), "row,member,reason\n10,price,") {
		t.Errorf("the file of refusals is %s, %v", list, err)
	}

	of := into[[]soldProduct](r.call(http.MethodGet, "/v1/products?sku=S-0&factory_id="+r.factory, nil), http.StatusOK)
	type post struct {
		ID, State, Caption string
		WaitsFor           string `json:"waits_for"`
		Outdated           []string
	}
	item := into[post](r.call(http.MethodPost, "/v1/content-items", object{"factory_id": r.factory, "kind": "post",
		"product_id": of[0].ID, "prompt": "Show it with its price",
		"publish_at": time.Now().Add(aDay).UTC().Format(time.RFC3339)}), http.StatusAccepted)
	at := "/v1/content-items/" + item.ID
	look := func(what string, is func() bool) {
		t.Helper()
		poll.Until(t, what, func() bool {
			item = into[post](r.call(http.MethodGet, at, nil), http.StatusOK)
			return is()
		})
	}
	look("the schedule", func() bool { return item.State == "scheduled" })

	prices[0] = 1250
	now.Store(googleFeed(prices))
	if run := r.sync(nil); run.Changed != 1 || run.Unchanged != 8 {
		t.Error(run.counts())
	}
	look("the hold", func() bool { return item.WaitsFor == "product" })
	if item.State != "generated" || !slices.Equal(item.Outdated, []string{"price"}) {
		t.Errorf("the item is %+v", item)
	}
	if n := r.count("/v1/events?type=content.unscheduled&object_id=" + item.ID); n != 1 {
		t.Errorf("%d events of the hold", n)
	}
	into[object](r.call(http.MethodPost, at+"/regenerate", nil), http.StatusAccepted)
	look("the post", func() bool { return item.State == "scheduled" })
	if item.WaitsFor != "time" || len(item.Outdated) > 0 || !strings.Contains(item.Caption, "12.50") {
		t.Errorf("made again it is %+v", item)
	}
	r.advance(2 * aDay)
	look("the publication", func() bool { return item.State == "published" })
	now.Store(googleFeed(prices[:3]))
	held := r.sync(nil)
	if held.State != "held" || held.HeldReason != "mass_removal" || held.Archived != 0 {
		t.Error(held.counts())
	}
	if run := r.sync(object{"confirm_run_id": held.ID}); run.State != "completed" || run.Archived != 6 {
		t.Error(run.counts())
	}
}

// A deleted factory and a reset of the sandbox take feeds and their runs along.
func TestAFeedGoesWithItsFactory(t *testing.T) {
	t.Parallel()
	r, db := newSimulation(t), store.Open(running.AWS(), running.Table)
	for what, remove := range map[string]func(){
		"factory": func() { into[object](r.call(http.MethodDelete, "/v1/factories/"+r.factory, nil), http.StatusOK) },
		"reset":   func() { r.call(http.MethodPost, "/v1/sandbox/reset", nil) },
	} {
		r.factory = r.shop(t, r.key)
		r.follow("https://shop.example.com/sandbox.xml")
		run := r.sync(nil)
		remove()
		poll.Until(t, "the end of what the "+what+" had", func() bool {
			found, err := db.GetAll(t.Context(), shelf.Key(r.factory), store.IDKey(run.ID))
			return err == nil && found[0].Kind == "" && found[1].Kind == ""
		})
	}
}
