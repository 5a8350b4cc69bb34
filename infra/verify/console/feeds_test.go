package console

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// strange is a part of names that would be a script if a page wrote it as it is.
const strange = "<img src=x onerror=hostile=1>{{.}}"

// shelf is a shop with the table of its feed, which tests change.
type shelf struct {
	factory, url string
	table        atomic.Value
	// gate is held by a test for as long as the table shall not be read.
	gate sync.Mutex
}

// fill has the shop sell products at a price, in cents: as many as there are prices. One of 0 has none.
func (h *shelf) fill(prices ...int) {
	var b strings.Builder
	b.WriteString("sku,name,Preis,availability\n")
	for n, price := range prices {
		text := fmt.Sprintf("%d.%02d EUR", price/100, price%100)
		if price == 0 {
			text = "free"
		}
		fmt.Fprintf(&b, "S-%d,Shoe %d %s,%s,in_stock\n", n, n, strange, text)
	}
	h.table.Store(b.String())
}

func (s *system) shelf(t *testing.T) *shelf {
	t.Helper()
	h := &shelf{factory: s.must(t, "POST", "/v1/factories", object{"type": "seller", "name": "متجر الأحذية " + strange,
		"settings": object{"currency": "EUR"}}, 201)["id"].(string)}
	h.fill(1000, 2000, 3000, 4000, 5000, 0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.gate.Lock()
		defer h.gate.Unlock()
		_, _ = io.WriteString(w, h.table.Load().(string))
	}))
	t.Cleanup(server.Close)
	h.url = server.URL + "/shop.csv"
	return h
}

// path is the address of the page of the feed.
func (h *shelf) path() string { return "/settings/feeds/" + h.factory }

// ended returns the page of a feed once its run has ended.
func (h *shelf) ended(b *browser) (p page) {
	b.t.Helper()
	poll.Until(b.t, "the end of the run", func() bool {
		p = b.get(h.path())
		return !strings.Contains(p.body, "data-polled")
	})
	return p
}

// A person sets a feed, reads it, sees what was refused and what has changed, and confirms a removal: without scripts.
func TestAFeedWithoutScripts(t *testing.T) {
	s := start(t)
	h := s.shelf(t)
	b := s.signedIn(t, "owner")
	b.get("/settings/feeds").shows(t, "متجر الأحذية", "not set")
	b.get(h.path()).shows(t, "The shop has no feed yet.")
	form := url.Values{"url": {h.url}, "format": {"csv"}, "mapping": {"price = Preis"}, "schedule": {"manual"},
		"daily_time": {"06:30"}, "on_price_change": {"hold"}, "on_sold_out": {"keep"}, "on_removed": {"hold"},
		"photos": {"none"}, "version": {"0"}}
	for field, value := range map[string]string{"mapping": "price", "url": "", "currency": "Euro"} {
		wrong := url.Values{}
		for name, values := range form {
			wrong[name] = values
		}
		wrong.Set(field, value)
		if p := b.post(h.path(), wrong); p.status != http.StatusUnprocessableEntity ||
			!strings.Contains(p.body, `aria-errormessage="`+field+`-error"`) {
			t.Errorf("%s %q: %d %s", field, value, p.status, p.main())
		}
	}
	b.post(h.path(), form).shows(t, "The feed is set.", "price = Preis", `value="keep" selected`)
	if p := b.post(h.path(), form); p.status != http.StatusPreconditionFailed && p.status != 422 {
		t.Errorf("a form of an earlier version: %d", p.status)
	}
	h.gate.Lock()
	p := b.post(h.path()+"/sync", url.Values{})
	h.gate.Unlock()
	p.shows(t, "The feed is being read.", "Look again")
	p = h.ended(b)
	p.shows(t, "completed", `<dd class="font-medium tabular-nums">6</dd>`, "Refused")
	run := between(p.body, h.path()+"/runs/", `"`)
	b.get(h.path()+"/runs/"+run).shows(t, "Refused rows: 1", "<code class=\"break-all\" dir=\"auto\">Preis</code>", "All as CSV")
	file := b.send(http.MethodGet, h.path()+"/runs/"+run+"/refusals.csv", nil)
	resp, err := http.Get(file.header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.HasPrefix(string(list), "row,member,reason\n7,Preis,") {
		t.Errorf("the file has %s", list)
	}

	post := s.held(t, h, b)
	found := b.get(h.path() + "/products?sku=S-0")
	found.shows(t, "Shoe 0", "€12.50", "in stock")
	found.hides(t, "Shoe 1")
	history := b.get(h.path() + "/products/" + between(found.body, h.path()+"/products/", `"`))
	history.shows(t, "new in the feed", ">price", "€10", "Posts that wait for the product", post)
	b.get("/settings/content-items/"+post).shows(t, "It waits for its product", "What is not so any more: price.")
	b.get("/settings/content-items/"+post+"/again").shows(t, "It costs ", "What is not so any more: price.")
	b.post("/settings/content-items/"+post+"/again", url.Values{}).shows(t, "The post is being made again.")
	poll.Until(t, "the post", func() bool {
		return s.must(t, "GET", "/v1/content-items/"+post, nil, 200)["state"] == "scheduled"
	})
	h.ended(b).hides(t, "Posts that wait for the product")

	h.fill(1250)
	b.post(h.path()+"/sync", url.Values{})
	p = h.ended(b)
	p.shows(t, "Products that are not in the feed any more: 4.", "Archive them")
	ask := b.get(h.path() + "/confirm")
	ask.shows(t, "Products that are archived: 4.")
	held := between(ask.body, `name="run" value="`, `"`)
	b.post(h.path()+"/confirm", url.Values{"run": {held}}).shows(t, "The run goes on, and archives what is gone.")
	h.ended(b).hides(t, "Archive them")
	b.get(h.path()+"/delete").shows(t, "It is not read any more.")
	b.post(h.path()+"/delete", url.Values{}).shows(t, "The feed is deleted.")
	auditor := s.signedIn(t, "auditor")
	auditor.get(h.path()).hides(t, "Sync now", ">Save<")
}

// held has a post wait for its product, whose price has changed since.
func (s *system) held(t *testing.T, h *shelf, b *browser) string {
	t.Helper()
	product := s.first(t, "/v1/products?sku=S-0&factory_id="+h.factory)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel}, 201)["id"].(string)
	post := s.must(t, "POST", "/v1/content-items", object{"factory_id": h.factory, "kind": "post", "product_id": product,
		"prompt": "Show it with its price", "publish_at": s.clock.now().Add(48 * time.Hour),
		"social_account_ids": []string{account}}, 202)["id"].(string)
	state := func() any { return s.must(t, "GET", "/v1/content-items/"+post, nil, 200)["waits_for"] }
	poll.Until(t, "the schedule", func() bool { return state() == "time" })
	h.fill(1250, 2000, 3000, 4000, 5000, 0)
	b.post(h.path()+"/sync", url.Values{})
	h.ended(b)
	poll.Until(t, "the hold", func() bool { return state() == "product" })
	return post
}

// between returns what is between two texts.
func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}
