//go:build console

package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

// A person sets a feed and watches its run, finds out why rows were refused and what a row was, makes a post again, and
// confirms a removal.
func TestAFeedInChromium(t *testing.T) {
	s := start(t)
	h := s.shelf(t)
	prices := make([]int, 160)
	for n := range prices {
		prices[n] = 1000 * (n % 4) // each fourth has none
	}
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			prices[1] += 250
		} else {
			prices = prices[:60]
		}
		h.fill(prices...)
	}))
	defer shop.Close()
	h.fill(prices...)
	b := s.signedIn(t, "owner")
	s.must(t, "PUT", "/v1/factories/"+h.factory+"/feed", object{"source": object{"url": h.url}, "format": "csv",
		"mapping": object{"price": "Preis"}}, 200)
	b.post(h.path()+"/sync", nil)
	p := h.ended(b)
	run := between(p.body, h.path()+"/runs/", `"`)
	product := s.first(t, "/v1/products?sku=S-1&factory_id="+h.factory)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel}, 201)["id"].(string)
	second := s.must(t, "POST", "/v1/factories", object{"type": "seller", "name": strings.Repeat("Z", 60),
		"settings": object{"currency": "EUR"}}, 201)["id"].(string)
	s.inChromium(t, "feeds.mjs", []string{"/settings/feeds", h.path(), h.path() + "/runs/" + run, h.path() + "/products",
		h.path() + "/products/" + product, "/settings/feeds/" + second}, map[string]any{"shop": shop.URL, "feed": h.path(),
		"second": "/settings/feeds/" + second, "url": h.url, "product": product, "factory": h.factory,
		"account": account, "key": s.Live})
}
