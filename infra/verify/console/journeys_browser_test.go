//go:build console

package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// persons are those who use the account area, with what a designer counted in November 2026 before it was built anew,
// and the clicks and keys that it may take at most now.
var persons = []struct {
	name, aim, before string
	most              int
}{
	{"First admin", "from the sign-in to a verified webhook", "14 clicks, 15 s of the pages", 70},
	{"Developer", "what a receiver answered, and the events again", "6 clicks", 5},
	{"Agency", "62 posts approved", "124 clicks, 110 s of the pages", 10},
	{"Client", "16 posts on a phone, 6 with a note", "24 taps", 23},
	{"Auditor", "refused calls as a file", "3 clicks", 3},
	{"Owner", "a client erased, and taken back", "not counted", 6},
	{"Keyboard", "a client by name", "30 tabs, no search", 8},
}

// TestSevenPersonsInChromium walks the journeys of all persons, and writes what they take into build/journeys.md.
func TestSevenPersonsInChromium(t *testing.T) {
	s := start(t)
	names := []string{"Harbour Coffee", "مطعم الياسمين", "Nordlicht Bäckerei", "Tea House", "Clínica Sonrisa",
		"Atelier", "Peak Cycles", "Marble"}
	clients := append(s.waiting(t, names[:6], 8), s.waiting(t, names[6:], 7)...)
	to := newReceiver(t)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": to.URL + "/hook", "event_types": []string{"content.*"}},
		201)["id"].(string)
	other := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Harbour", "settings": object{
		"brand_name": "Harbour"}}, 201)["id"].(string)
	var posts []string
	for n := range 16 {
		posts = append(posts, s.own(t, other, fmt.Sprint("Coffee of the day ", n)))
	}
	link := s.must(t, "POST", "/v1/review-links", object{"content_item_ids": posts, "may": "decide",
		"name": "Posts of December"}, 201)["url"]
	s.call(t, s.Live, "GET", "/v1/factories/fac_00000000000000000000000000", nil)
	poll.Until(t, "a delivery has failed", func() bool {
		requests, _ := to.arrived()
		return len(requests) > 0
	})
	serve := func(act func()) string {
		h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { act() }))
		t.Cleanup(h.Close)
		return h.URL
	}
	walks := s.inChromium(t, "walks.mjs", nil, map[string]any{"walk": "walkOfSeven", "first": "Today",
		"link": link, "posts": posts,
		"hook": "/settings/webhooks/" + hook, "client": "/settings/profiles/" + clients[7], "name": names[7],
		"advance": serve(func() { s.clock.advance(time.Minute) }),
		"repair":  serve(func() { to.broken.Store(false) })}).Walks

	var table strings.Builder
	table.WriteString("| Person | Does | Before | Now |\n|---|---|---|---|\n")
	for _, p := range persons {
		w := walks[p.name]
		fmt.Fprintf(&table, "| %s | %s | %s | %d clicks, %d keys: %.0f s of the person, %.1f s of the pages |\n",
			p.name, p.aim, p.before, w.Clicks, w.Keys, w.Person, w.Pages)
		if n := w.Clicks + w.Keys; n == 0 || n > p.most {
			t.Errorf("%s: %d clicks and keys, more than %d", p.name, n, p.most)
		}
	}
	t.Log("\n" + table.String())
	file := filepath.Join("..", "..", "..", "build", "journeys.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
