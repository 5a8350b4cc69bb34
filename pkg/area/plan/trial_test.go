package plan_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// experiment starts an experiment of the factory; factors are pairs of a name and arms, divided by commas.
func (w *world) experiment(factors ...string) (e experiment.Experiment) {
	w.T.Helper()
	var all []object
	for i := 0; i+1 < len(factors); i += 2 {
		all = append(all, object{"name": factors[i], "arms": strings.Split(factors[i+1], ",")})
	}
	w.Call(http.MethodPost, "/v1/experiments", object{"factory_id": w.factory, "question": "What does better?",
		"factors": all, "metric": object{"name": "likes", "platform": "instagram"},
		"budget": object{"posts": 500, "days": 100}}).Into(w.T, http.StatusCreated, &e)
	w.Call(http.MethodPatch, "/v1/experiments/"+e.ID, object{"state": "running"}).Into(w.T, http.StatusOK, &e)
	// Of the seeds that are drawn, one in some hundreds gives all Saturdays of a plan the same arm.
	w.record(e.ID, func(r *experiment.Record) { r.Seed = "the seed of the tests" })
	return e
}

// record returns the stored record of an experiment, and change changes it.
func (w *world) record(experimentID string, change func(*experiment.Record)) *experiment.Record {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(experimentID))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := experiment.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	if change != nil {
		change(r)
		if it, err = r.Into(it); err != nil {
			w.T.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
	}
	return r
}

// Items of a plan that makes all at once have an arm of each factor, and are made with it. The record of the experiment
// gives the same arms again.
func TestAPlanDrawsArms(t *testing.T) {
	w := newWorld(t)
	e := w.experiment("hook", "claim,question", "format", "post,carousel", "slot", "08:15,19:45")
	p := w.create("days", 30, "posts_per_day", 1, "content_types", []string{"post", "carousel", "short_video"},
		"experiment_id", e.ID)
	if string(p.ExperimentID) != e.ID {
		t.Errorf("%+v", p)
	}
	w.within(48 * time.Hour)
	zone, _ := time.LoadLocation("Europe/Berlin")
	r, given, byDay := w.record(e.ID, nil), map[string]int{}, map[string]int{}
	again := *r
	again.Posts, again.PostCounts, again.Models = 0, nil, nil
	items := w.items(p.ID) // the ids of chunks of one moment have no order
	slices.SortFunc(items, func(a, b item.Item) int { return a.Experiment.Number - b.Experiment.Number })
	for n, one := range items {
		tr := one.Experiment
		if tr == nil || tr.ID != e.ID || tr.Number != n+1 {
			t.Fatalf("item %d has %+v", n, tr)
		}
		at := one.PublishAt.In(zone)
		format := tr.Arm("format")
		if (one.Kind == item.Video) != (format == "") || format != "" && string(one.Kind) != format {
			t.Errorf("the %s has %+v", one.Kind, tr)
		}
		if at.Format("15:04") != tr.Arm("slot") {
			t.Errorf("with %s it is published at %s", tr.Arm("slot"), at)
		}
		for _, a := range tr.Arms {
			given[a.Arm]++
			if a.Propensity < 0.05 {
				t.Errorf("%+v is below the floor", a)
			}
		}
		byDay[tr.Arm("hook")+at.Weekday().String()]++
		drawn := again.Draw(r.Stratum(time.Date(at.Year(), at.Month(), at.Day(), 9, 0, 0, 0, zone)),
			func(f experiment.Factor) bool { return tr.Arm(f.Name) != "" })
		if !reflect.DeepEqual(drawn, tr) {
			t.Errorf("the record gives %+v, and not %+v", drawn, tr)
		}
	}
	for _, arm := range []string{"claim", "question", "08:15", "19:45"} {
		if given[arm] < 10 {
			t.Errorf("%s has %d of 30 items", arm, given[arm])
		}
	}
	for arm, n := range byDay {
		if n == 0 || n > 4 {
			t.Errorf("%s has %d items", arm, n)
		}
	}
	topic := w.get().Calendar[0]
	if hook := items[0].Experiment.Arm("hook"); string(topic.Hook) != "the first line is a "+hook {
		t.Errorf("with %s the calendar has %q", hook, topic.Hook)
	}
	if r.Posts != 30 || r.SpentCredits != 0 {
		t.Errorf("%d posts for %d credits", r.Posts, r.SpentCredits)
	}
}

// The reservation is that of the dearest arms, and what an item does not need is released. Its credits count in the
// experiment.
func TestAPlanPaysForItsArms(t *testing.T) {
	w := newWorld(t)
	w.live(1_000_000)
	e := w.experiment("length", "15,60", "format", "post,short_video")
	plain := w.estimate(object{"days": 6, "posts_per_day": 2, "content_types": []string{"post", "short_video"}})
	p := w.create("days", 6, "posts_per_day", 2, "content_types", []string{"post", "short_video"},
		"experiment_id", e.ID)
	if p.ReservedCredits != p.CostEstimate || p.CostEstimate%12 != 0 {
		t.Errorf("%d of %d are reserved", p.ReservedCredits, p.CostEstimate)
	}
	if p.CostEstimate <= plain {
		t.Errorf("with the dearest arms it costs %d, without an experiment %d", p.CostEstimate, plain)
	}
	done := w.until(plan.Completed)
	spent := int64(0)
	for _, one := range w.items(p.ID) {
		spent += one.CostCredits
		if arm := one.Experiment.Arm("length"); arm != "" {
			t.Errorf("a slot whose format is drawn has the length %s", arm)
		}
	}
	if r := w.record(e.ID, nil); r.Posts != 12 || r.SpentCredits != spent || done.CostCredits != spent {
		t.Errorf("the experiment has %d posts for %d credits, the plan cost %d, its items %d", r.Posts, r.SpentCredits,
			done.CostCredits, spent)
	}
	w.within(48 * time.Hour)
	w.settled()
}

// estimate makes a plan of later months, and returns its price.
func (w *world) estimate(body object) int64 {
	w.T.Helper()
	var p plan.Plan
	before := w.balance()
	later := w.Now().AddDate(0, 3, 0).Format(time.DateOnly)
	w.Call(http.MethodPost, w.path(), with(body, "starts_on", later)).Into(w.T, http.StatusAccepted, &p)
	if w.balance() != before-p.CostEstimate {
		w.T.Errorf("%d is reserved of %d", before-w.balance(), p.CostEstimate)
	}
	return p.CostEstimate
}

// A plan that writes its items later draws when it writes them. Its calendar stays as it was shown.
func TestAPlanDrawsWhenItWrites(t *testing.T) {
	w := newWorld(t)
	e := w.experiment("hook", "claim,question", "length", "15,30", "slot", "08:15,19:45")
	p := w.propose("experiment_id", e.ID, "write_ahead_hours", 2000, "content_types", []string{"short_video"})
	before := w.get().Calendar
	if r := w.record(e.ID, nil); r.Posts != 0 {
		t.Errorf("%d items have arms before they are written", r.Posts)
	}
	w.approveTopics()
	w.until(plan.Completed)
	items := w.items(p.ID)
	for n, one := range items {
		tr := one.Experiment
		if tr == nil || len(tr.Arms) != 2 || fmt.Sprint(*one.DurationSeconds) != tr.Arm("length") ||
			!one.PublishAt.Equal(before[n].PublishAt.Time) {
			t.Errorf("item %d of %s for %d seconds has %+v", n, one.PublishAt, *one.DurationSeconds, tr)
		}
	}
	if r := w.record(e.ID, nil); r.Posts != 10 || len(items) != 10 {
		t.Errorf("%d of %d items have arms", r.Posts, len(items))
	}
}

// A plan says what it has from decided experiments, and takes what is no setting of the factory.
func TestAPlanSaysWhatItHasLearned(t *testing.T) {
	w := newWorld(t)
	decide := func(e experiment.Experiment, arm string) {
		w.record(e.ID, func(r *experiment.Record) {
			at := resource.Instant(w.Now())
			r.State, r.EndedAt = experiment.Decided, &at
			r.Winners = []experiment.Winner{{Factor: e.Factors[0].Name, Arm: arm}}
		})
	}
	times, length, format := w.experiment("slot", "09:00,18:30"), w.experiment("length", "15,30"),
		w.experiment("format", "post,carousel")
	w.Call(http.MethodPost, w.path(), body("from_experiment_ids", []string{length.ID})).Refused(t, 422,
		errs.ValidationFailed, "/from_experiment_ids/0")
	decide(times, "18:30")
	decide(length, "15")
	decide(format, "carousel")
	for param, members := range map[string][]any{
		"/from_experiment_ids/1": {"from_experiment_ids", []string{length.ID, times.ID}},
		"/from_experiment_ids/0": {"from_experiment_ids", []string{"exp_01h455vb4pex5vsknk084sn02q"}},
		"/experiment_id":         {"experiment_id", "exp_01h455vb4pex5vsknk084sn02q"},
	} {
		w.Call(http.MethodPost, w.path(), body(members...)).Unusable(t, param)
	}
	p := w.create("content_types", []string{"post", "carousel", "short_video"}, "from_experiment_ids",
		[]string{length.ID, format.ID})
	want := []plan.Learned{{ExperimentID: length.ID, Factor: "length", Arm: "15", By: "plan"},
		{ExperimentID: format.ID, Factor: "format", Arm: "carousel", By: "plan"},
		{ExperimentID: times.ID, Factor: "slot", Arm: "18:30", By: "factory"}}
	if !reflect.DeepEqual(p.Learned, want[:2]) || fmt.Sprint(p.ContentTypes) != "[carousel short_video]" {
		t.Errorf("%+v of %v", p.Learned, p.ContentTypes)
	}
	w.until(plan.Completed)
	videos := 0
	for _, one := range w.items(p.ID) {
		if one.Experiment != nil || one.Kind == item.Video && *one.DurationSeconds != 15 {
			t.Errorf("%+v", one)
		}
		if one.Kind == item.Video {
			videos++
		}
	}
	if got := w.get(); videos != 2 || !reflect.DeepEqual(got.Learned, want) {
		t.Errorf("%d videos, %+v", videos, got.Learned)
	}
}
