package main

import (
	"strings"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	at := func(seconds float64) time.Time { return time.Unix(1000, int64(seconds*1e9)) }
	done := []accepted{{"a", at(0)}, {"b", at(1)}, {"c", at(2)}, {"d", at(10)}, {"e", at(1.5)}}
	came := []receipt{
		{event: "1", subject: "a", happened: at(0.4), first: at(0.5), times: 1},
		{event: "2", subject: "b", happened: at(2), first: at(8), times: 3},     // repeated twice
		{event: "3", subject: "d", happened: at(9.7), first: at(9.9), times: 1}, // before the answer
		{event: "4", subject: "d", first: at(15), times: 1},                     // a second event of it
		{event: "5", subject: "x", first: at(3), times: 1},                      // of an item that nobody requested
		{event: "6", subject: "e", happened: at(1.7), first: at(2), times: 1},
	}
	got := count(done, came, at(5))
	want := result{accepted: 5, delivered: 4, lost: 1, repeats: 2, doubled: 1, strangers: 1, recovery: 3 * time.Second,
		p50: 200 * time.Millisecond, p99: 6 * time.Second}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := count(nil, nil, at(0)); got != (result{}) {
		t.Errorf("of nothing it counts %+v", got)
	}
}

func TestPercentile(t *testing.T) {
	var all []time.Duration
	for i := range 200 {
		all = append(all, time.Duration(i+1))
	}
	for p, want := range map[int]time.Duration{0: 1, 50: 100, 99: 198, 100: 200} {
		if got := percentile(all, p); got != want {
			t.Errorf("of 100 %d lie up to %d, want %d", p, got, want)
		}
	}
	if got := percentile(all[:1], 99); got != 1 {
		t.Errorf("of one value the 99th is %d", got)
	}
}

func TestBrokenBounds(t *testing.T) {
	good := result{name: "Row", bounds: bounds{recovery: aim}, accepted: 10, delivered: 10, inFlight: 3, repeats: 3,
		recovery: aim, p99: time.Second}
	if err := good.broken(); err != nil {
		t.Errorf("all is well, but: %v", err)
	}
	for says, change := range map[string]func(*result){
		"nothing was accepted":                   func(r *result) { r.accepted = 0 },
		"1 of 10 accepted events never came":     func(r *result) { r.lost = 1 },
		"of 2 items more than one event came":    func(r *result) { r.doubled = 2 },
		"2 events came of what nobody asked for": func(r *result) { r.strangers = 2 },
		"the service itself misses 4 deliveries": func(r *result) { r.pending = 4 },
		"4 repeats, and 3 events were in flight": func(r *result) { r.repeats = 4 },
		"3 repeats, none should be":              func(r *result) { r.bounds.once = true },
		"the last delivery came 6.1 s after":     func(r *result) { r.recovery += 100 * time.Millisecond },
	} {
		r := good
		change(&r)
		if err := r.broken(); err == nil || !strings.HasPrefix(err.Error(), "Row: ") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}
