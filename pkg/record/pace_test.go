package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
)

var now = time.Date(2026, 5, 1, 12, 0, 3, 0, time.UTC)

func paceOpen(t *testing.T, s pace.Settings) *store.DB {
	db := storetest.Open(t, func() time.Time { return now })
	if _, err := pace.Change(t.Context(), db, func(is *pace.Settings) { *is = s }); err != nil {
		t.Fatal(err)
	}
	return db
}

func state(t *testing.T, db *store.DB) pace.State {
	s, err := pace.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCallsBeyondALimitGetALaterTime(t *testing.T) {
	for _, perMinute := range []int{7, 60, 480} {
		db := paceOpen(t, pace.Settings{PerMinute: map[string]int{"m-1.5": perMinute}})
		stale := state(t, db) // as another function has read it
		var times []time.Time
		for n := range 3 * perMinute {
			s := stale
			if n%2 == 0 {
				s = state(t, db)
			}
			at, err := s.Take(t.Context(), db, "m-1.5", now, float64(n%10)/10)
			if err != nil || at.Before(now) {
				t.Fatal(at, err)
			}
			times = append(times, at)
		}
		slices.SortFunc(times, time.Time.Compare)
		most := 0
		for i, from := range times {
			n := 0
			for _, at := range times[i:] {
				if at.Sub(from) < time.Minute {
					n++
				}
			}
			most = max(most, n)
		}
		// A low limit has windows of a minute, of which a minute may meet two.
		bound := perMinute * 12 / 10
		if perMinute < 30 {
			bound = 2 * perMinute
		}
		if last := times[len(times)-1].Sub(now); most > bound || last > 3*time.Minute+time.Minute {
			t.Errorf("limit %d: %d calls in one minute, the last after %v", perMinute, most, last)
		}
		if d := state(t, db).Delay("p", "m-1.5", 1, now); d < 2*time.Minute || d > 4*time.Minute {
			t.Errorf("limit %d: the next call waits for %v", perMinute, d)
		}
		if d := state(t, db).Delay("p", "other", 1, now); d != 0 {
			t.Errorf("a model without a limit waits for %v", d)
		}
	}
}

func TestTheLimitOfAModelIsBeforeThatOfItsProvider(t *testing.T) {
	s := state(t, paceOpen(t, pace.Settings{PerMinute: map[string]int{"p": 10, "m": 20}, Off: []string{"q", "n"}}))
	if got := []string{s.Limited("p", "m"), s.Limited("p", "n"), s.Limited("q", "n")}; !slices.Equal(got,
		[]string{"m", "p", ""}) {
		t.Errorf("the limits are of %v", got)
	}
	if !s.IsOff("q", "m") || !s.IsOff("p", "n") || s.IsOff("p", "m") {
		t.Error("the wrong models are off")
	}
}

func TestAChangeKeepsTheOtherSettings(t *testing.T) {
	db := paceOpen(t, pace.Settings{PerMinute: map[string]int{"p": 10}})
	got, err := pace.Change(t.Context(), db, func(s *pace.Settings) { s.Off = append(s.Off, "q") })
	if err != nil || got.PerMinute["p"] != 10 || !state(t, db).IsOff("q", "") {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = pace.Change(t.Context(), db, func(s *pace.Settings) { s.PerMinute["p"] = 0 }); err != nil ||
		len(got.PerMinute) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
