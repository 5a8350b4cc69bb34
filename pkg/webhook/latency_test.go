package webhook

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/store"
)

func TestPercentilesAreExactToATenth(t *testing.T) {
	for ms := int64(1); ms <= 20_000; ms++ {
		// What is shown is a whole number: that may take away half of one.
		if got := middle(bucket(ms)); math.Abs(float64(got-ms)) > accuracy*float64(ms)+0.5 {
			t.Fatalf("%d ms is shown as %d", ms, got)
		}
	}
	h := histogram{}
	for ms := int64(1); ms <= 1000; ms++ {
		h[bucket(ms)]++
	}
	near := func(got, want int64) bool { return math.Abs(float64(got-want)) <= accuracy*float64(want)+0.5 }
	if l := h.latency(); l.Count != 1000 || !near(l.P50, 500) || !near(l.P90, 900) || !near(l.P99, 990) {
		t.Errorf("of 1 to 1000: %+v", l)
	}
	one := histogram{bucket(15_000): 1}.latency()
	if one.Count != 1 || one.P50 != one.P99 || !near(one.P50, 15_000) {
		t.Errorf("of one: %+v", one)
	}
	// One slow answer of a hundred is beyond the 99th, two are not.
	if l := (histogram{0: 99, bucket(5000): 1}).latency(); l.P99 != 1 {
		t.Errorf("one of a hundred: %+v", l)
	}
	if l := (histogram{0: 98, bucket(5000): 2}).latency(); l.P90 != 1 || !near(l.P99, 5000) {
		t.Errorf("two of a hundred: %+v", l)
	}
	if l := (histogram{}).latency(); l != nil {
		t.Errorf("of nothing: %+v", l)
	}
}

func TestLatenciesOfTheRunningHourAndTheOneBefore(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 59, 0, 0, time.UTC)
	count := func(l latencies, now time.Time) int64 {
		r := record{Latencies: l}
		if shown := r.view(now).LatencyMS; shown != nil {
			return shown.Count
		}
		return 0
	}
	first := latencies{}.with(histogram{3: 2}, at)
	both := first.with(histogram{3: 1, 5: 1}, at.Add(2*time.Minute))
	late := both.with(histogram{5: 1}, at) // by a function whose clock is behind
	for _, c := range []struct {
		name string
		l    latencies
		now  time.Time
		want int64
	}{
		{"none", latencies{}, at, 0}, {"in its hour", first, at, 2}, {"in the next", first, at.Add(time.Hour), 2},
		{"in the one after", first, at.Add(61 * time.Minute), 0}, {"both", both, at.Add(2 * time.Minute), 4},
		{"the later ones", both, at.Add(time.Hour + 2*time.Minute), 2}, {"late", late, at.Add(2 * time.Minute), 5},
	} {
		if got := count(c.l, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if first.Current[3] != 2 {
		t.Errorf("what was read has changed: %v", first)
	}
}

func TestTalliesAreTakenOnceAndForgottenInTime(t *testing.T) {
	var s tallies
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	status, key := 500, store.Key{PK: "a", SK: "b"}
	answered := Attempt{Status: &status, LatencyMS: 1}
	total := func(t tally) (n int64) {
		for _, count := range t.answers {
			n += count
		}
		return n
	}
	s.add(key, Attempt{LatencyMS: 15_000}, now) // was not answered
	s.add(key, answered, now)
	s.add(key, answered, now.Add(59*time.Minute))
	s.add(store.Key{PK: "a", SK: "c"}, answered, now)
	taken := s.take(key)
	if total(taken) != 2 || total(s.take(key)) != 0 {
		t.Errorf("taken %v", taken)
	}
	s.add(key, answered, now.Add(59*time.Minute))
	s.put(key, taken, now.Add(59*time.Minute)) // it could not be written
	if got := total(s.take(key)); got != 3 {
		t.Errorf("put back: %d", got)
	}
	s.put(key, taken, now.Add(time.Hour))
	if got := total(s.take(key)); got != 0 {
		t.Errorf("put back too late: %d", got)
	}
	s.add(key, answered, now)
	s.add(key, answered, now.Add(time.Hour))
	if got := total(s.take(key)); got != 1 {
		t.Errorf("after an hour: %d", got)
	}
	for i := range maxTallied + 10 {
		s.add(store.Key{PK: "a", SK: time.Duration(i).String()}, answered, now)
	}
	if len(s.of) > maxTallied {
		t.Errorf("%d webhooks are counted", len(s.of))
	}
}

func TestAWebhookShowsHowFastItsReceiverAnswers(t *testing.T) {
	w := newWorld(t)
	r := w.receive(func(n int, rw http.ResponseWriter) {
		w.clock.Add(time.Duration(n) * 100 * time.Millisecond)
		if n == 3 {
			rw.WriteHeader(http.StatusTeapot)
		}
	}, "*")
	if got := w.webhook(r.hook.ID).LatencyMS; got != nil {
		t.Errorf("before the first answer: %+v", got)
	}
	near := func(got, want int64) bool { return math.Abs(float64(got-want)) <= accuracy*float64(want)+0.5 }
	w.happen(event.ContentGenerated) // 100 ms: the first success is written
	w.run()
	if got := w.webhook(r.hook.ID).LatencyMS; got == nil || got.Count != 1 || !near(got.P50, 100) {
		t.Errorf("after one answer: %+v", got)
	}
	writes := func() int64 {
		it, err := w.db.Get(t.Context(), w.owner().webhookKey(r.hook.ID))
		if err != nil {
			t.Fatal(err)
		}
		return it.Version
	}
	before := writes()
	w.happen(event.ContentGenerated) // 200 ms: a success in the same minute is not
	w.run(w.clock.Now().Add(time.Second))
	if got := w.webhook(r.hook.ID).LatencyMS; got.Count != 1 || writes() != before {
		t.Errorf("within the minute: %+v, %d writes", got, writes()-before)
	}
	w.happen(event.ContentGenerated) // 300 ms and a failure, then 400 ms
	w.run()
	got := w.webhook(r.hook.ID).LatencyMS
	if got == nil || got.Count != 4 || !near(got.P50, 200) || !near(got.P90, 400) || !near(got.P99, 400) {
		t.Errorf("after four answers: %+v", got)
	}
	var all []Webhook
	w.api.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || all[0].LatencyMS == nil || *all[0].LatencyMS != *got {
		t.Errorf("listed %+v", all)
	}
	// Another description keeps the figures, another address forgets them.
	var changed Webhook
	path := "/v1/webhooks/" + r.hook.ID
	w.api.Call(http.MethodPatch, path, map[string]any{"description": "x"}).Into(t, http.StatusOK, &changed)
	if changed.LatencyMS == nil || changed.LatencyMS.Count != 4 {
		t.Errorf("another description: %+v", changed.LatencyMS)
	}
	changed = Webhook{}
	w.api.Call(http.MethodPatch, path, map[string]any{"url": hookURL}).Into(t, http.StatusOK, &changed)
	if changed.LatencyMS != nil {
		t.Errorf("another address: %+v", changed.LatencyMS)
	}
}

func TestLatenciesSurviveAChangeThatComesBetween(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	r.plan = func(int, http.ResponseWriter) {
		// After the webhook was read for the attempt, and before its health is noted.
		w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"description": "x"})
	}
	w.happen(event.ContentGenerated)
	w.run()
	hook := w.webhook(r.hook.ID)
	if hook.LatencyMS == nil || hook.LatencyMS.Count != 1 || hook.Description != "x" {
		t.Errorf("webhook %+v", hook)
	}
}
