package main

import (
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestTheServiceBearsFaults is `make chaos`, shortened: a few rows, few events, and
// no bound on the time, which depends on what else the machine does.
func TestTheServiceBearsFaults(t *testing.T) {
	dir, err := filepath.Abs("../../.local/chaos-test")
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(t.Context(), dir, func(what string) { t.Log(what) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	sz := size{events: 40, every: 100 * time.Millisecond, within: 2 * time.Minute, kills: 1, outage: 2 * time.Second}
	rows := webhookRows(sz)
	for i := range rows {
		rows[i].bounds.recovery = sz.within
	}
	short := regexp.MustCompile(`^(Killed (before|after) relay|Dispatch and deliver queues wiped|Each message and event comes twice)`)
	results := w.playWebhooks(t.Context(), wanted(rows, short), sz, t.Output())
	for _, r := range results {
		if err := r.broken(); err != nil {
			t.Error(err)
		}
	}
	if len(results) != 4 {
		t.Errorf("%d rows were run", len(results))
	}
}
