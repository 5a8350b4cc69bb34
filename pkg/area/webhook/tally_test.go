package webhook

import (
	"testing"
	"time"
)

func TestTalliesAreTakenOnceAndForgottenInTime(t *testing.T) {
	var s tally
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	status, ref := 500, Ref{ID: "b"}
	answered := Attempt{Status: &status, LatencyMS: 1}
	total := func(a answers) (n int64) {
		for _, count := range a.sketch {
			n += count
		}
		return n
	}
	s.add(ref, Attempt{LatencyMS: 15_000}, now) // was not answered
	s.add(ref, answered, now)
	s.add(ref, answered, now.Add(59*time.Minute))
	s.add(Ref{ID: "c"}, answered, now)
	taken := s.take(ref)
	if total(taken) != 2 || total(s.take(ref)) != 0 {
		t.Errorf("taken %v", taken)
	}
	s.add(ref, answered, now.Add(59*time.Minute))
	s.put(ref, taken, now.Add(59*time.Minute)) // it could not be written
	if got := total(s.take(ref)); got != 3 {
		t.Errorf("put back: %d", got)
	}
	s.put(ref, taken, now.Add(time.Hour))
	if got := total(s.take(ref)); got != 0 {
		t.Errorf("put back too late: %d", got)
	}
	s.add(ref, answered, now)
	s.add(ref, answered, now.Add(time.Hour))
	if got := total(s.take(ref)); got != 1 {
		t.Errorf("after an hour: %d", got)
	}
	for i := range maxTallied + 10 {
		s.add(Ref{ID: time.Duration(i).String()}, answered, now)
	}
	if len(s.of) > maxTallied {
		t.Errorf("%d webhooks are counted", len(s.of))
	}
}
