package generate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/task"
)

// again accepts a composition of earlier results. Parts without one are made.
func (w *world) again(c *twoFiles, reuse ...*generate.PartResult) {
	w.t.Helper()
	w.worker.Composer = c
	o := work("thing_1")
	for i := range o.Parts {
		if o.Parts[i].Reuse = reuse[i]; reuse[i] != nil {
			o.Parts[i].Credits = 0
		}
	}
	o.Parts = append(o.Parts, generate.Part{Kind: provider.KindCompose, Provider: generate.Composed})
	o.KeepsParts = true
	w.acceptWork(o)
}

var (
	earlierText    = &generate.PartResult{Text: &provider.Text{Title: "Earlier"}}
	earlierPicture = &generate.PartResult{Files: []media.File{{ID: "thing_1_0_1", Key: "earlier"}}}
)

// queues takes all steps, and returns their queues.
func (w *world) queues() (all []topology.Queue) {
	w.t.Helper()
	for range 30 {
		w.relay()
		j, ok := w.pop()
		if !ok {
			return all
		}
		all = append(all, j.Queue)
		if err := w.do(w.t.Context(), j); err != nil {
			w.t.Fatal(err)
		}
	}
	return all
}

func TestWorkOfReusedPartsOnlyComposes(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	w.again(c, earlierText, earlierPicture)
	if queues := w.queues(); queues[0] != topology.GenerateText || queues[1] != topology.Compose {
		t.Errorf("the steps went through the queues %v", queues)
	}
	v := w.ended("thing_1", "generated")
	if len(w.fake.submissions) != 0 || c.runs != 1 || v.Cost != 0 || len(v.Made) != 3 ||
		v.Made[0].Text.Title != "Earlier" || v.Made[1].Files[0].Key != "earlier" || v.Made[2].Files[0].ID != "thing_1_1_2" {
		t.Errorf("%v were submitted: %+v", w.fake.submissions, v)
	}
	w.settled(0)
}

func TestOnlyPartsThatAreNotReusedAreMadeAndCharged(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	w.again(c, nil, earlierPicture)
	w.queues()
	v := w.ended("thing_1", "generated")
	if len(w.fake.submissions) != 1 || v.Made[1].Files[0].Key != "earlier" || v.Made[0].Text.Title == "Earlier" {
		t.Errorf("%v were submitted: %+v", w.fake.submissions, v)
	}
	w.settled(v.Cost)
	if price := work("thing_1").Parts[0].Credits; v.Cost != price {
		t.Errorf("it has cost %d, not %d", v.Cost, price)
	}
}

// Completed parts that the resource shows stay stored after the work was canceled, or has failed because of the
// caller's input.
func TestCompletedPartsAreKept(t *testing.T) {
	for state, during := range map[string]error{
		"canceled": nil,
		"failed":   &provider.Error{Kind: provider.BadInput, Code: "input_silent", Part: "/music"},
	} {
		w, c := newWorld(t), &twoFiles{}
		w.again(c, nil, nil)
		for len(w.objects.saved) == 0 {
			w.relay()
			j, _ := w.pop()
			if err := w.do(t.Context(), j); err != nil && !errors.Is(err, task.ErrMoved) {
				t.Fatal(err)
			}
		}
		if during == nil {
			before, it := w.read("thing_1")
			read, err := w.db.Get(t.Context(), generate.TaskKey("thing_1", 1))
			if err != nil {
				t.Fatal(err)
			}
			foreseen, err := generate.CancelCost(&before.Ticket, read)
			if w.cancel("thing_1"); err != nil || it.Kind == "" {
				t.Fatal(err)
			}
			if v, _ := w.read("thing_1"); v.Cost != foreseen || v.Cost == 0 {
				t.Errorf("it has cost %d, and would have cost %d", v.Cost, foreseen)
			}
		}
		c.during = func(context.Context, int, func(int)) error { return during }
		w.drain()
		v := w.ended("thing_1", state)
		made := v.Made
		if state == "failed" {
			made = v.Failure.Results
		}
		if len(made) != 3 || made[0].Text == nil || len(made[1].Files) != 1 || len(made[2].Files) > 0 ||
			len(w.objects.saved) != 1 {
			t.Errorf("%s: it keeps %+v, and %v are stored", state, made, w.objects.saved)
		}
	}
}
