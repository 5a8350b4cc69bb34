package main

import (
	"strings"
	"testing"
	"time"
)

func sample() report {
	return report{
		size: size{events: 200, jobs: 24, every: 100 * time.Millisecond, kills: 3},
		webhooks: []result{{
			name: "Killed", bounds: bounds{recovery: aim}, accepted: 200, delivered: 200, hits: 3,
			inFlight: 12, repeats: 2,
			recovery: 4040 * time.Millisecond, p50: 300 * time.Millisecond, p99: 4900 * time.Millisecond,
		}},
		jobs: []verdict{{name: "Wiped", accepted: 24, generated: 23, failed: 1, hits: 1, charged: 488, bought: 41,
			last: 5 * time.Second}, {name: "Twice", accepted: 24, generated: 24}},
	}
}

func TestAReportShowsWhatCame(t *testing.T) {
	r := sample()
	text := r.markdown()
	for _, want := range []string{
		"200 events a row, one every 100ms; kills come 3 times.",
		"| Killed | 3 | 200 | 200 | 0 | 12 | 2 | 4.0 | 300 | 4900 | yes |\n",
		"48 pieces of work were accepted, 24 a row",
		"| Wiped | 1 | 24 | 23 | 1 | 0 | 0 | 0 | 488 | yes | 41 | 5.0 | yes |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if err := r.broken(); err != nil {
		t.Errorf("all is well, but: %v", err)
	}
}

func TestAReportWithABrokenBoundFails(t *testing.T) {
	r := sample()
	r.webhooks[0].lost, r.jobs[1].money = 1, []string{"one credit is missing"}
	err := r.broken()
	if err == nil || err.Error() != "Killed: 1 of 200 accepted events never came\nTwice: one credit is missing" {
		t.Errorf("got %v", err)
	}
	if text := r.markdown(); strings.Count(text, "**no**") != 3 { // the two rows, and the sums that do not add up
		t.Errorf("it reads\n%s", text)
	}
}
