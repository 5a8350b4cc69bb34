//go:build !deployed

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// An agent has a catalog follow a shop, sees why rows are refused, and archives what is gone only if it is told to.
func TestAnAgentSyncsAFeed(t *testing.T) {
	t.Parallel()
	r := newSimulation(t)
	var now atomic.Value
	now.Store(googleFeed([]int{1000, 2000, 3000, 0}))
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, now.Load().(string))
	}))
	defer shop.Close()
	a := newAgent(t, r.key)
	var run feedRun
	set := object{"factory_id": r.factory, "source_url": shop.URL + "/google.xml", "format": "google_xml"}
	a.use("sync_feed", set, &run)
	if got := run.counts(); got != "completed: read 4, created 3, changed 0, unchanged 0, archived 0, refused 1" ||
		len(run.Refusals) != 1 || run.Refusals[0].Row != 4 {
		t.Errorf("%s, %+v", got, run.Refusals)
	}
	if text := a.use("sync_feed", set, nil); !strings.Contains(text, "This was done before") {
		t.Errorf("again: %s", text)
	}
	now.Store(googleFeed([]int{1500}))
	at := object{"factory_id": r.factory}
	if text := a.use("sync_feed", at, &run); run.State != "held" || !strings.Contains(text, "2 of the products are not in") {
		t.Errorf("%s: %s", text, run.counts())
	}
	at["confirm_run_id"] = run.ID
	a.use("sync_feed", at, &run)
	if got := run.counts(); got != "completed: read 1, created 0, changed 1, unchanged 0, archived 2, refused 0" {
		t.Error(got)
	}
	// Prices without a currency are in that of the shop.
	now.Store("Handle,Title,Variant Price\nS-0,Shoe,16\n")
	set = object{"factory_id": r.factory, "source_url": shop.URL + "/export.csv", "format": "shopify_csv"}
	a.use("sync_feed", set, &run)
	if got := run.counts(); got != "completed: read 1, created 0, changed 1, unchanged 0, archived 0, refused 0" {
		t.Error(got)
	}
	if r := a.try("sync_feed", object{"factory_id": r.factory, "format": "csv"}); !r.error ||
		!strings.Contains(r.data, "Send both or neither") {
		t.Errorf("without a source: %+v", r)
	}
	live := newAgent(t, r.live.Secret)
	if text := live.use("sync_feed", object{"factory_id": r.shop(t, r.live.Secret)}, nil); !strings.Contains(text,
		"Nothing was done yet") {
		t.Errorf("with a live key: %s", text)
	}
}
