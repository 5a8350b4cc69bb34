package content_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const experiments = "/v1/experiments"

// world is a table with a caller of the operations, and the worker of experiments.
type experimentWorld struct {
	*servicetest.World
	kernel *task.Kernel
}

func experimentNewWorld(t *testing.T) *experimentWorld {
	t.Helper()
	w := &experimentWorld{World: servicetest.New(t)}
	factories := factory.NewService(w.DB, w.Now)
	items := content.NewService(w.DB, factories, nil, catalog.NewOffer("bedrock,fal", "eu-central-1", nil), w.Now)
	w.Serve(factories, items, experiment.NewService(w.DB, factories, w.Now), advice.NewService(w.DB, w.Now))
	w.kernel = w.Kernel(map[task.Kind]task.Handler{experiment.LookKind: task.Func(experiment.Worker{DB: w.DB,
		Now: w.Now, Apply: advice.ExperimentApplier{DB: w.DB, Now: w.Now}.Apply}.Look)})
	w.Kept()
	return w
}

func (w *experimentWorld) factory() (f factory.Factory) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/factories", object{"type": "brand", "name": "Acme", "tone": "warm",
		"settings": object{"brand_name": "Acme"}, "schedule": object{"timezone": "Europe/Berlin",
			"times": []string{"09:00", "12:00"}}}).Into(w.T, http.StatusCreated, &f)
	return f
}

func body(factoryID string, members ...any) object {
	b := object{"factory_id": factoryID, "question": "Do questions bring more likes?",
		"factors": []object{{"name": "hook", "arms": []string{"claim", "question"}}},
		"metric":  object{"name": "likes", "platform": "instagram"}, "budget": object{"posts": 120, "days": 60}}
	return servicetest.Body(b, members...)
}

// started makes an experiment that runs.
func (w *experimentWorld) started(factoryID string, members ...any) (e experiment.Experiment) {
	w.T.Helper()
	w.Call(http.MethodPost, experiments, body(factoryID, members...)).Into(w.T, http.StatusCreated, &e)
	if e.State != experiment.Draft || e.StartedAt != nil || len(e.Results) != 2*len(e.Factors) {
		w.T.Errorf("%+v", e)
	}
	w.Call(http.MethodPatch, experiments+"/"+e.ID, object{"state": "running"}).Into(w.T, http.StatusOK, &e)
	return e
}

func (w *experimentWorld) get(experimentID string) (d experiment.Details) {
	w.T.Helper()
	w.Call(http.MethodGet, experiments+"/"+experimentID, nil).Into(w.T, http.StatusOK, &d)
	return d
}

// items makes items of an experiment.
func (w *experimentWorld) items(e experiment.Experiment, n int, members ...any) (all []item.Item) {
	w.T.Helper()
	for n > 0 {
		var bodies []object
		for range min(n, 50) {
			b := object{"factory_id": e.FactoryID, "kind": "post", "prompt": "New nets", "experiment_id": e.ID}
			bodies = append(bodies, servicetest.Body(b, members...))
		}
		n -= len(bodies)
		var made []item.Item
		w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": bodies}).Into(w.T, http.StatusAccepted, &made)
		all = append(all, made...)
		w.Clock.Add(time.Second)
	}
	return all
}

// posted gives an item a post with a number of likes for a thousand impressions.
func (w *experimentWorld) posted(itemID string, likes int64) {
	w.T.Helper()
	it, r, _, err := item.Lookup(w.T.Context(), w.DB, w.Principal.Owner, itemID)
	if err != nil || r == nil {
		w.T.Fatal(err)
	}
	at, shown := resource.Instant(w.Now()), int64(1000)
	r.Item.Publications = []item.Publication{{Resource: resource.New("pub_"+itemID[4:], at.Time, nil),
		ContentItemID: itemID,
		Platform:      "instagram", State: item.PublicationPublished, PublishedAt: &at,
		Metrics: &item.Metrics{Counts: item.Counts{Likes: &likes, Impressions: &shown}, ReadAt: at}}}
	r.Item.State = item.Published
	tx := &store.Tx{}
	if err := item.Replace(tx, it, r); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// decide makes posts of which those with a question get more likes.
func (w *experimentWorld) decide(e experiment.Experiment) {
	w.T.Helper()
	for n, one := range w.items(e, 100) {
		likes := int64(10 + n%7)
		if one.Experiment.Arm("hook") == "question" {
			likes += 30
		}
		w.posted(one.ID, likes)
	}
}

// look takes the step of the task of an experiment.
func (w *experimentWorld) look(experimentID string) {
	w.T.Helper()
	w.Clock.Add(6 * time.Hour)
	it, err := w.DB.Get(w.T.Context(), store.IDKey(task.ID(experiment.LookKind, experimentID, 1)))
	if err != nil {
		w.T.Fatal(err)
	}
	var is task.Task
	if err := it.Decode(&is); err != nil {
		w.T.Fatal(err)
	}
	if _, err := w.kernel.Do(w.T.Context(), is.Message, ""); err != nil {
		w.T.Fatal(err)
	}
}

func TestBadExperimentsAreRefused(t *testing.T) {
	w := experimentNewWorld(t)
	f := w.factory()
	factor := func(name string, arms ...string) []object {
		return []object{{"name": name, "arms": arms}}
	}
	for name, c := range map[string]struct {
		member string
		value  any
		param  string
	}{
		"a factory that is none": {"factory_id", "fac_01h455vb4pex5vsknk084sn02q", "/factory_id"},
		"a hook that is none":    {"factors", factor("hook", "claim", "joke"), "/factors/0/arms/1"},
		"a length in words":      {"factors", factor("length", "20", "long"), "/factors/0/arms/1"},
		"a length that is none":  {"factors", factor("length", "5", "20"), "/factors/0/arms/0"},
		"a time that is none":    {"factors", factor("slot", "9:00", "25:00"), "/factors/0/arms/1"},
		"an empty pillar":        {"factors", factor("pillar", " ", "Care"), "/factors/0/arms/0"},
		"one arm":                {"factors", factor("hook", "claim"), "/factors/0/arms"},
		"a factor that is none":  {"factors", factor("weather", "sun", "rain"), "/factors/0/name"},
		"a factor twice": {"factors", append(factor("hook", "claim", "scene"),
			factor("hook", "claim", "number")...), "/factors/1/name"},
		"no platform":       {"metric", object{"name": "likes", "platform": "myspace"}, "/metric/platform"},
		"a figure it lacks": {"metric", object{"name": "likes", "platform": "rutube"}, "/metric/name"},
		"an age between": {"metric", object{"name": "likes", "platform": "instagram", "after_hours": 48},
			"/metric/after_hours"},
		"few posts":      {"budget", object{"posts": 5, "days": 10}, "/budget/posts"},
		"a level of one": {"stopping", object{"alpha": 1}, "/stopping/alpha"},
	} {
		a := w.Call(http.MethodPost, experiments, body(f.ID, c.member, c.value))
		if a.Error == nil || a.Error.Param != c.param {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	if all := apitest.All[experiment.Experiment](w.Caller, experiments, 10); len(all) > 0 {
		t.Errorf("there are %d", len(all))
	}
}

func TestAnExperimentIsFixedOnceItRuns(t *testing.T) {
	w := experimentNewWorld(t)
	e := w.started(w.factory().ID)
	if e.State != experiment.Running || e.StartedAt == nil || e.Version != 2 || e.NeededPosts != 3440 {
		t.Errorf("%+v", e)
	}
	path := experiments + "/" + e.ID
	w.Call(http.MethodPatch, path, object{"question": "Another?"}).Refused(t, http.StatusUnprocessableEntity,
		errs.ValidationFailed, "/question")
	w.Call(http.MethodPatch, path, object{"state": "stopped"}, "If-Match", `"1"`).Refused(t,
		http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	var stopped experiment.Experiment
	w.Call(http.MethodPatch, path, object{"state": "stopped", "metadata": object{"a": "b"}}).Into(t, http.StatusOK,
		&stopped)
	if stopped.State != experiment.Stopped || stopped.EndedAt == nil || stopped.Metadata["a"] != "b" ||
		stopped.Version != 3 {
		t.Errorf("%+v", stopped)
	}
	var bare map[string]any
	if w.Call(http.MethodPatch, path, object{"metadata": nil}).Into(t, http.StatusOK, &bare); bare["metadata"] == nil {
		t.Errorf("without metadata it is %v", bare)
	}
	w.Call(http.MethodPatch, path, object{"state": "running"}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodPost, path+"/apply", object{}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	if made := w.items(e, 1); made[0].Experiment != nil {
		t.Errorf("an item of a stopped experiment has %+v", made[0].Experiment)
	}
	w.Stranger().Call(http.MethodGet, path, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Without(auth.FactoriesWrite).Call(http.MethodPatch, path, object{"state": "stopped"}).Refused(t,
		http.StatusForbidden, errs.InsufficientScope, "")
	query := experiments + "?state=stopped&factory_id=" + e.FactoryID
	if all := apitest.All[experiment.Experiment](w.Caller, query, 1); len(all) != 1 {
		t.Errorf("the list has %d", len(all))
	}
}

func TestItemsGetTheirArms(t *testing.T) {
	w := experimentNewWorld(t)
	f := w.factory()
	e := w.started(f.ID, "factors", []object{{"name": "hook", "arms": []string{"claim", "question"}},
		{"name": "length", "arms": []string{"15", "30"}}, {"name": "slot", "arms": []string{"10:15", "19:30"}}})
	given := map[string]int{}
	for n, one := range w.items(e, 20, "kind", "video") {
		tr := one.Experiment
		if tr == nil || tr.ID != e.ID || tr.Number != n+1 || len(tr.Arms) != 2 || len(tr.Arms[0].All) != 2 {
			t.Fatalf("item %d has %+v", n, tr)
		}
		if got := fmt.Sprint(*one.DurationSeconds); got != tr.Arm("length") {
			t.Errorf("with the arm %s it has %s seconds", tr.Arm("length"), got)
		}
		for _, a := range tr.Arms {
			given[a.Arm]++
		}
	}
	for _, arm := range []string{"claim", "question", "15", "30"} {
		if given[arm] < 7 {
			t.Errorf("%s has %d of 20 items", arm, given[arm])
		}
	}
	post := w.items(e, 1)[0]
	if len(post.Experiment.Arms) != 1 || post.Experiment.Arm("hook") == "" {
		t.Errorf("a post that is not planned has %+v", post.Experiment)
	}
	own := w.items(e, 1, "kind", "video", "duration_seconds", 20, "caption", "My own words")[0]
	if own.Experiment != nil || *own.DurationSeconds != 20 {
		t.Errorf("an item with values of its own has %+v", own.Experiment)
	}
	if now := w.get(e.ID); now.Posts != 21 || now.SpentCredits != 0 {
		t.Errorf("%d posts, %d credits", now.Posts, now.SpentCredits)
	}
	other := w.factory()
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": other.ID, "kind": "post", "prompt": "A",
		"experiment_id": e.ID}).Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/experiment_id")
}

// An item that was deleted, canceled or never published counts as the lowest figure of its arm; one that failed by
// itself does not count. A figure that was known when its item was deleted stays.
func TestRejectedItemsCountAsTheLowest(t *testing.T) {
	w := experimentNewWorld(t)
	e := w.started(w.factory().ID)
	all := w.items(e, 6)
	for n := range 3 {
		w.posted(all[n].ID, int64(10+n))
	}
	for n, reason := range []provider.FailureCode{provider.FailedClaim, provider.FailedTimeout} {
		it, r, _, err := item.Lookup(t.Context(), w.DB, w.Principal.Owner, all[3+n].ID)
		if err != nil {
			t.Fatal(err)
		}
		r.Item.State, r.Item.Failure = item.Failed, &item.Failure{Stage: "generate", Code: reason}
		tx := &store.Tx{}
		if err := item.Replace(tx, it, r); err != nil {
			t.Fatal(err)
		}
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{0, 5} { // a post with a figure, and an item that waits
		if a := w.Call(http.MethodDelete, "/v1/content-items/"+all[n].ID, nil); a.Status != http.StatusOK {
			t.Fatalf("%d: %s", a.Status, a.Raw)
		}
	}
	w.Clock.Add(15 * 24 * time.Hour)
	var got []string
	for _, row := range apitest.All[experiment.Row](w.Caller, experiments+"/"+e.ID+"/posts", 10) {
		if (row.Value != nil) != (row.State == "completed") {
			t.Errorf("%+v", row)
		}
		got = append(got, row.State)
	}
	if want := []string{"completed", "completed", "completed", "rejected", "failed", "rejected"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	n, rejected := 0, 0
	for _, res := range w.get(e.ID).Results {
		n, rejected = n+res.N, rejected+res.Rejected
	}
	if n != 3 || rejected != 2 {
		t.Errorf("%d figures, %d rejected", n, rejected)
	}
}

// A budget of credits ends the draws of live work.
func TestCreditsOfAnExperimentAreCounted(t *testing.T) {
	w := experimentNewWorld(t)
	w.Caller = w.Live()
	apitest.TopUp(t, w.DB, w.Now(), w.Principal.Account, 100_000)
	e := w.started(w.factory().ID, "budget", object{"posts": 20, "days": 10, "credits": 12})
	made := w.items(e, 6)
	d := w.get(e.ID)
	with := int64(0)
	for _, one := range made {
		if one.Experiment != nil {
			with += one.ReservedCredits
		}
	}
	if d.SpentCredits != with || with < 12 || made[5].Experiment != nil || made[0].Experiment == nil {
		t.Errorf("%d credits are counted, of items with arms %d", d.SpentCredits, with)
	}
}

func TestADecidedExperimentMakesAProposal(t *testing.T) {
	w := experimentNewWorld(t)
	e := w.started(w.factory().ID)
	w.decide(e)
	d := w.get(e.ID)
	if d.State != experiment.Decided || len(d.Winners) != 1 || d.Winners[0].Arm != "question" || len(d.History) == 0 {
		t.Fatalf("%+v", d)
	}
	w.look(e.ID)
	if all := apitest.All[experiment.Experiment](w.Caller, experiments+"?state=decided", 1); len(all) != 1 ||
		all[0].EndedAt == nil {
		t.Errorf("after the look the list has %+v", all)
	}
	var p advice.Proposal
	w.Call(http.MethodPost, experiments+"/"+e.ID+"/apply", object{}).Into(t, http.StatusCreated, &p)
	if p.State != advice.Open || p.Source != advice.FromExperiment || p.Patch["tone"] != "warm; begins with a question" ||
		!strings.Contains(p.Rationale, "question: a post does better than one of claim with the probability ") {
		t.Errorf("%+v", p)
	}
	w.Call(http.MethodPost, experiments+"/"+e.ID+"/apply", object{}).Refused(t, http.StatusConflict, errs.InvalidState,
		"")
	if got := w.get(e.ID); got.ProposalID == nil || *got.ProposalID != p.ID {
		t.Errorf("%+v", got)
	}
	w.Call(http.MethodPost, "/v1/factories/"+e.FactoryID+"/proposals/"+p.ID+"/apply", nil).Into(t, http.StatusOK, &p)
	var f factory.Factory
	w.Call(http.MethodGet, "/v1/factories/"+e.FactoryID, nil).Into(t, http.StatusOK, &f)
	if f.Tone != "warm; begins with a question" {
		t.Errorf("the tone is %q", f.Tone)
	}
}

func TestAResultIsAppliedAtOnce(t *testing.T) {
	w := experimentNewWorld(t)
	e := w.started(w.factory().ID)
	w.decide(e)
	var p advice.Proposal
	w.Call(http.MethodPost, experiments+"/"+e.ID+"/apply", object{"apply": true}).Into(t, http.StatusCreated, &p)
	if p.State != advice.Applied || *p.AppliedVersion != 2 {
		t.Errorf("%+v", p)
	}
}

// The result is applied by itself only as long as who has created the experiment may do so.
func TestAutoApply(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		w := experimentNewWorld(t)
		e := w.started(w.factory().ID, "auto_apply", true)
		w.decide(e)
		if revoked {
			w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
		}
		w.look(e.ID)
		if revoked {
			w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Active })
		}
		var f factory.Factory
		w.Call(http.MethodGet, "/v1/factories/"+e.FactoryID, nil).Into(t, http.StatusOK, &f)
		d := w.get(e.ID)
		if applied := f.Tone != "warm"; applied == revoked || d.State != experiment.Decided ||
			(d.ProposalID != nil) == revoked {
			t.Errorf("revoked %t: the tone is %q, and the experiment %+v", revoked, f.Tone, d)
		}
	}
}

// A time of day that is drawn stays on the day of its item.
func TestATimeOfDayStaysOnItsDay(t *testing.T) {
	for zoneName, c := range map[string][3]string{
		"America/Havana":   {"2026-03-08T18:00:00Z", "00:15", "2026-03-08T05:15:00Z"},
		"Europe/Berlin":    {"2026-03-29T18:00:00Z", "02:30", "2026-03-29T01:30:00Z"},
		"America/New_York": {"2026-11-01T18:00:00Z", "01:30", "2026-11-01T05:30:00Z"},
	} {
		zone, err := time.LoadLocation(zoneName)
		if err != nil {
			t.Fatal(err)
		}
		day, _ := time.Parse(time.RFC3339, c[0])
		if got := experiment.At(day, c[1], zone).UTC().Format(time.RFC3339); got != c[2] {
			t.Errorf("%s %s is %s, want %s", zoneName, c[1], got, c[2])
		}
	}
}
