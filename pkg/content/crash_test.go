package content_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/content-automation/api/pkg/content"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/store/storetest"
)

// A worker may die after each of its steps: a round trip to the table, a call of
// the provider, a file that is stored. Whenever that is, the next delivery of the
// job goes on from there, and what has happened did so once.
func TestAWorkerDiesAfterEachStep(t *testing.T) {
	for name, c := range map[string]struct {
		members []any
		files   int
		want    []event.Type
	}{
		"a music clip":     {[]any{"kind", "music_clip"}, 2, []event.Type{event.ContentGenerated}},
		"a carousel":       {[]any{"kind", "carousel", "slides", []object{{}, {}}}, 2, []event.Type{event.ContentGenerated}},
		"a rehearsed post": {[]any{"sandbox", object{"outcome": "published"}}, 1, []event.Type{event.ContentGenerated, event.ContentPublished}},
		"a failure":        {[]any{"sandbox", object{"outcome": "failed"}}, 0, []event.Type{event.ContentFailed}},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 100
			for death := int64(1); ; death++ {
				if death > most {
					t.Fatalf("%d steps are no end", most)
				}
				w := newWorld(t)
				it := w.create(c.members...)
				if !w.dies(it.ID, death) {
					if death < 3 { // it is read and written at least
						t.Errorf("there are %d steps only", death-1)
					}
					return
				}
				if again := w.deliver(t.Context(), it.ID, 2); again {
					t.Fatalf("death after step %d: the message is to come a third time", death)
				}
				w.happened(it.ID, c.want...)
				got := w.get(it.ID)
				if len(got.Media) != c.files || len(w.objects.files) != c.files {
					t.Errorf("death after step %d: %d files of %d objects: %+v", death, len(got.Media), len(w.objects.files), slices.Collect(maps.Keys(w.objects.files)))
				}
				// The provider was never asked for the same thing by two names.
				tokens := map[string]string{}
				for _, req := range w.provider.requests {
					what := fmt.Sprint(req.Kind)
					if tokens[what] != "" && tokens[what] != req.ClientToken {
						t.Errorf("death after step %d: %s was asked for as %s and %s", death, what, tokens[what], req.ClientToken)
					}
					tokens[what] = req.ClientToken
				}
			}
		})
	}
}

// dies has the worker die after the given number of steps; false where it has
// done its work before.
func (w *world) dies(itemID string, steps int64) bool {
	w.t.Helper()
	w.job(itemID) // read before, so that it is no step
	ctx, die := context.WithCancel(w.t.Context())
	defer die()
	var step atomic.Int64
	after := func(string) error {
		if step.Add(1) < steps {
			return nil
		}
		die()
		return errInjected
	}
	j := w.job(itemID)
	w.provider.after, w.objects.after = after, after
	w.faults.After = func(c storetest.Call) error { return after(c.Operation) }
	_, err := w.worker.Do(ctx, j)
	w.provider.after, w.objects.after, w.faults.After = nil, nil, nil
	if err == nil && step.Load() >= steps {
		w.t.Errorf("the worker does not notice that it died after step %d", steps)
	}
	return step.Load() >= steps
}

func TestMoves(t *testing.T) {
	// Each delivery finds an item in some state; only the first two are to be worked on.
	for _, state := range []content.State{
		content.Generated, content.Scheduled, content.Publishing, content.Published, content.Failed, content.Canceled,
	} {
		w := newWorld(t)
		it := w.create()
		w.set(it.ID, func(v *content.Item) { v.State = state })
		w.do(it.ID)
		if got := w.get(it.ID); got.State != state || got.Version != 1 {
			t.Errorf("%s became %+v", state, got)
		}
		w.happened(it.ID)
	}
}
