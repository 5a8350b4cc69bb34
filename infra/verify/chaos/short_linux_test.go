package main

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// everywhere returns a row in which functions are killed once before and once after each step after which another
// instance takes over soon, all in one run.
func everywhere(places []place) row {
	steps := slices.DeleteFunc(slices.Clone(places), func(p place) bool {
		return p.at[0].operation == holding || p.leased // its lease has to end first
	})
	begin := func(_ context.Context, s *scene) error {
		// Much work passes a step soon after a death, so that some steps would not be reached again.
		s.load.while = func() bool { return s.happened() < 2*len(steps) }
		return nil
	}
	return row{name: "Killed at each step", begin: begin, happen: func(ctx context.Context, s *scene) error {
		var faults []*fault
		for i, p := range steps {
			for j, do := range []doing{killBefore, killAfter} {
				do = s.caught(ctx, do)
				if p.held {
					do = s.whileHeld(ctx, do)
				}
				// The kills are spread, because a message that meets too many is moved to the dead-letter queue.
				faults = append(faults, &fault{at: p.at, skip: (i + j) % 5, do: do})
			}
		}
		return s.during(ctx, s.times(len(faults)), faults...)
	}}
}

// TestTheServiceBearsFaults is the command, shortened: it has a few rows, little work, and no bound on the time,
// which depends on the load of the machine.
func TestTheServiceBearsFaults(t *testing.T) {
	dir, err := filepath.Abs("../../../.local/chaos-test")
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
	// A message of a function that dies before it limits the message's invisibility is hidden for up to 12 minutes.
	sz := size{events: 36, jobs: 24, every: 150 * time.Millisecond, within: 14 * time.Minute}
	named := func(all []row, name string) row {
		t.Helper()
		i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
		if i < 0 {
			t.Fatalf("there is no row %q", name)
		}
		return all[i]
	}
	webhooks := []row{everywhere(places), named(webhookRows(sz), "Dispatch and deliver queues wiped, then one sweep")}
	for i := range webhooks {
		webhooks[i].bounds.recovery = time.Hour
	}
	jobs := []row{everywhere(jobPlaces)}
	// Both run at the same time, because a kill on one path hardly delays the other.
	var both sync.WaitGroup
	both.Go(func() {
		for _, r := range w.playWebhooks(t.Context(), webhooks, sz, t.Output()) {
			if err := r.broken(); err != nil {
				t.Error(err)
			}
		}
	})
	both.Go(func() {
		for _, v := range w.playJobs(t.Context(), jobs, sz, t.Output()) {
			if err := v.broken(); err != nil {
				t.Error(err)
			}
		}
	})
	both.Wait()
}
