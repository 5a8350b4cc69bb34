package metered

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/breadth"
)

// TestTheLargestPlan checks that the number of round trips of the largest plan, of which make test makes a third, is
// bounded by its chunks, not by its items. The flag -v prints the figures.
func TestTheLargestPlan(t *testing.T) {
	days := breadth.Of(30, 90)
	items := 10 * days
	w := filled(t)
	factory, err := w.make(t.Context(), "createFactory")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	used := func(what string, work func() error) Reading {
		t.Helper()
		w.Meter.Weigh = true
		defer func() { w.Meter.Weigh = false }()
		before, err := w.Meter.Read()
		if err == nil {
			err = work()
		}
		after, failed := w.Meter.Read()
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		r := after.Minus(before)
		t.Logf("%s: %d round trips, %.0f read units, %.0f write units, %v", what, r.Trips, r.Reads, r.Writes,
			time.Since(began).Round(100*time.Millisecond))
		return r
	}
	var p plan.Plan
	used("createContentPlan", func() error {
		a, err := w.Call(t.Context(), Request{Operation: "createContentPlan", ID: factory,
			Body: Object{"days": days, "posts_per_day": 10}})
		return errors.Join(err, json.Unmarshal(a.Data, &p))
	})
	made, err := w.State.Get(t.Context(), store.IDKey(factory))
	if err != nil {
		t.Fatal(err)
	}
	kernel := w.Kernel(w.Workers)
	m, steps := task.Message{ID: task.ID(plan.Task, p.ID, 1), Step: 1}, 0
	all := used(fmt.Sprintf("planning %d items", items), func() error {
		for {
			next, err := kernel.Do(t.Context(), m, "")
			if err != nil || next == nil {
				return err
			}
			if next.Delay > 0 {
				// All waiting items are generated, so that there is room for more.
				waiting, err := w.State.Get(t.Context(), generate.WaitingKey(made.Owner))
				if err == nil && waiting.Count() == 0 {
					return nil // it waits for the last of its items
				}
				w.Clock = w.Clock.Add(next.Delay)
				tx := &store.Tx{}
				tx.Count(waiting.Key, -waiting.Count(), waiting.Count(), errors.New("they are gone"))
				if err := errors.Join(err, w.State.Commit(t.Context(), tx)); err != nil {
					return err
				}
			}
			m = next.Message
			steps++
		}
	})
	a, err := w.Call(t.Context(), Request{Operation: "getContentPlan", ID: factory})
	if err := errors.Join(err, json.Unmarshal(a.Data, &p)); err != nil {
		t.Fatal(err)
	}
	if p.State != plan.Generating || p.Items.Total != int64(items) || p.Items.Failed != 0 {
		t.Errorf("%+v", p)
	}
	// Each step reads the task, the items that it depends on and the topics, takes the lease and commits. A chunk of
	// 25 topics takes two; with hundreds of topics of one brief, a third of the chunks have some that repeat
	// others, and ask again. The posts of the channel are read once.
	if chunks := items / 25; steps > 2*chunks+2+chunks/3 || all.Trips > 6*steps {
		t.Errorf("%d steps took %d round trips", steps, all.Trips)
	}
}
