package webhook

import (
	"math"
	"testing"
	"time"
)

func TestPercentilesAreExactToATenth(t *testing.T) {
	for ms := int64(1); ms <= 20_000; ms++ {
		// The shown value is a whole number, so it may differ by half of one.
		if got := middle(Bucket(ms)); math.Abs(float64(got-ms)) > accuracy*float64(ms)+0.5 {
			t.Fatalf("%d ms is shown as %d", ms, got)
		}
	}
	h := Sketch{}
	for ms := int64(1); ms <= 1000; ms++ {
		h[Bucket(ms)]++
	}
	near := func(got, want int64) bool { return math.Abs(float64(got-want)) <= accuracy*float64(want)+0.5 }
	if l := h.percentiles(); l.Count != 1000 || !near(l.P50, 500) || !near(l.P90, 900) || !near(l.P99, 990) {
		t.Errorf("of 1 to 1000: %+v", l)
	}
	one := Sketch{Bucket(15_000): 1}.percentiles()
	if one.Count != 1 || one.P50 != one.P99 || !near(one.P50, 15_000) {
		t.Errorf("of one: %+v", one)
	}
	// One slow answer of a hundred is beyond the 99th, two are not.
	if l := (Sketch{0: 99, Bucket(5000): 1}).percentiles(); l.P99 != 1 {
		t.Errorf("one of a hundred: %+v", l)
	}
	if l := (Sketch{0: 98, Bucket(5000): 2}).percentiles(); l.P90 != 1 || !near(l.P99, 5000) {
		t.Errorf("two of a hundred: %+v", l)
	}
	if l := (Sketch{}).percentiles(); l != nil {
		t.Errorf("of nothing: %+v", l)
	}
}

func TestLatenciesOfTheRunningHourAndTheOneBefore(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 59, 0, 0, time.UTC)
	count := func(l Latencies, now time.Time) int64 {
		r := WebhookRecord{Latencies: l}
		if shown := r.View(now).LatencyMS; shown != nil {
			return shown.Count
		}
		return 0
	}
	first := Latencies{}.With(Sketch{3: 2}, at)
	both := first.With(Sketch{3: 1, 5: 1}, at.Add(2*time.Minute))
	late := both.With(Sketch{5: 1}, at) // by a function whose clock is behind
	for _, c := range []struct {
		name string
		l    Latencies
		now  time.Time
		want int64
	}{
		{"none", Latencies{}, at, 0}, {"in its hour", first, at, 2}, {"in the next", first, at.Add(time.Hour), 2},
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
