package area_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/rolluptest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/feed"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/product"
	sandboxarea "github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
	wiring "github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// sandboxWorld has all resources of a sandbox.
type sandboxWorld struct {
	*servicetest.World
	engine *generatetest.Engine
}

func newSandboxWorld(t *testing.T) *sandboxWorld {
	t.Helper()
	w := &sandboxWorld{World: servicetest.New(t)}
	signer := apitest.Signer(t, w.Now)
	offer := catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", nil)
	factories := factory.NewService(w.DB, w.Now)
	w.Serve(factories, account.NewService(w.DB, w.Now),
		sandboxarea.NewService(w.DB, w.Now), account.NewEvents(w.DB, signer),
		content.NewService(w.DB, factories, signer, offer, w.Now), studio.NewService(w.DB, signer, nil, offer,
			w.Now),
		mediaarea.NewService(w.DB, signer, nil, w.Now), advice.NewService(w.DB, w.Now),
		planarea.NewService(w.DB, factories, offer, w.Now),
		training.NewService(w.DB, factories, offer, w.Now), product.NewService(w.DB, signer, nil, w.Now),
		product.NewPromotions(w.DB, w.Now),
		feed.NewService(w.DB, signer, safehttp.New(safehttp.Options{}), w.Now))
	sign := item.SignedBy(signer)
	w.engine = generatetest.New(t, w.DB, w.Clock, generatetest.Only{Provider: sandbox.NewAlike(w.Now)},
		map[string]generate.Loader{
			item.ItemKind: item.Loader{Sign: sign}, studio.ItemKind: studio.Loader{Sign: sign},
		})
	w.engine.Add(wiring.Generating)
	diagnoses := &advice.Worker{DB: w.DB, Providers: generatetest.Only{Provider: sandbox.NewAlike(w.Now)}, Offer: offer,
		Now: w.Clock.Now}
	w.engine.Handle(advice.TaskKind, task.Func(diagnoses.Diagnose))
	for _, all := range []map[task.Kind]task.Handler{(&training.Worker{DB: w.DB, Now: w.Clock.Now}).Handlers(),
		(&feed.Worker{DB: w.DB, URLs: noShop{}, Now: w.Clock.Now}).Handlers()} {
		for kind, h := range all {
			w.engine.Handle(kind, h)
		}
	}
	return w
}

// fill makes a factory with items and a generation, some of which still run.
func (w *sandboxWorld) fill(c *apitest.Caller, items int, running bool) {
	w.T.Helper()
	var f struct{ ID string }
	c.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog", "language": "de"}).Into(w.T,
		http.StatusCreated, &f)
	for range items {
		var it item.Item
		c.Call(http.MethodPost, "/v1/content-items", object{"factory_id": f.ID, "kind": "post",
			"prompt": "A shoe"}).Into(w.T, http.StatusAccepted, &it)
	}
	var g studio.Generation
	c.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe"}).Into(w.T, http.StatusAccepted, &g)
	w.engine.Drain()
	if running {
		slow := object{"delay_seconds": 60}
		c.Call(http.MethodPost, "/v1/content-items", object{"factory_id": f.ID, "kind": "post", "prompt": "Slow",
			"sandbox": slow}).Into(w.T, http.StatusAccepted, new(item.Item))
		c.Call(http.MethodPost, "/v1/content-items/batch",
			object{"items": []any{object{"factory_id": f.ID, "kind": "post", "prompt": "Slow", "sandbox": slow}}}).Into(
			w.T, http.StatusAccepted, &[]item.Item{})
		c.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "Slow", "sandbox": slow}).Into(w.T,
			http.StatusAccepted, &g)
		w.engine.Step()
		w.engine.Step()
	}
	w.Clock.Add(time.Second)
}

// topUp gives the account credits for live work.
func (w *sandboxWorld) topUp() {
	w.T.Helper()
	apitest.TopUp(w.T, w.DB, w.Now(), w.Principal.Account, 1000)
}

// counts returns how much there is of each kind.
func (w *sandboxWorld) counts(c *apitest.Caller) (n [4]int) {
	w.T.Helper()
	for i, path := range []string{"/v1/content-items", "/v1/studio/generations", "/v1/events", "/v1/factories"} {
		n[i] = len(apitest.All[object](c, path, 100))
	}
	return n
}

// factories returns the factories of the sandbox that count.
func (w *sandboxWorld) factories() int64 {
	w.T.Helper()
	return apitest.CountQuota(w.T, w.DB, quota.Factories, factoryrecord.Kind, w.Principal.Owner, w.Now())
}

func (w *sandboxWorld) reset() {
	w.T.Helper()
	a := w.Call(http.MethodPost, "/v1/sandbox/reset", nil)
	var r sandboxarea.Reset
	a.Into(w.T, http.StatusAccepted, &r)
	if r.State != "resetting" || !r.RequestedAt.Equal(w.Now()) || a.Header.Get("Location") != "/v1/factories" ||
		a.Header.Get("Retry-After") == "" {
		w.T.Errorf("%+v, %v", r, a.Header)
	}
}

func TestAResetEmptiesTheSandbox(t *testing.T) {
	w := newSandboxWorld(t)
	live := w.Live()
	w.topUp()
	w.fill(live, 1, false)
	stranger := w.Stranger()
	w.fill(stranger, 1, false)
	kept := [][4]int{w.counts(live), w.counts(stranger)}
	files := len(w.engine.Objects.Keys())
	w.fill(w.Caller, 30, true) // more than one step deletes

	w.reset()
	w.Clock.Add(time.Second)
	var later struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Later"}).Into(t,
		http.StatusCreated, &later)
	w.engine.Drain()
	if n := w.counts(w.Caller); n != [4]int{0, 0, 1, 1} {
		t.Errorf("left are %v", n)
	}
	w.Call(http.MethodGet, "/v1/factories/"+later.ID, nil).Into(t, http.StatusOK, &later)
	if n := [][4]int{w.counts(live), w.counts(stranger)}; n[0] != kept[0] || n[1] != kept[1] || n[0][0] == 0 {
		t.Errorf("of others there are %v, before %v", n, kept)
	}
	if n := len(w.engine.Objects.Keys()); n != files {
		t.Errorf("%d files, %d before", n, files)
	}
	// Deleted work that was running does not count as waiting.
	if it, err := w.DB.Get(t.Context(),
		store.IDKey("waiting#"+tenant.Of(w.Principal.Account, tenant.Test).String())); err != nil || it.Count() != 0 {
		t.Errorf("%d pieces of work wait, %v", it.Count(), err)
	}
	if n := w.factories(); n != 1 {
		t.Errorf("%d factories count", n)
	}
	w.fill(w.Caller, 1, false)
	if n := w.counts(w.Caller); n[0] != 1 || n[1] != 1 {
		t.Errorf("afterwards there are %v", n)
	}
}

func TestAResetDeletesAnalytics(t *testing.T) {
	w := newSandboxWorld(t)
	w.topUp()
	sums := func() (n int) {
		for _, row := range storetest.Rows(t, w.DB) {
			if row["kind"] == analytics.Kind {
				n++
			}
		}
		return n
	}
	keeper, records := analytics.New(w.DB), 0
	for _, c := range []*apitest.Caller{w.Live(), w.Caller} {
		w.fill(c, 2, false)
		records = 0
		for _, row := range storetest.Rows(t, w.DB) {
			if row["kind"] != item.ItemKind || row["mode"] != string(c.Principal.Mode) {
				continue
			}
			records++
			image := map[string]events.DynamoDBAttributeValue{}
			for _, name := range []string{"pk", "kind", "acc", "mode", "doc"} {
				image[name] = events.NewStringAttribute(row[name])
			}
			record := events.DynamoDBEventRecord{EventName: "MODIFY",
				Change: events.DynamoDBStreamRecord{NewImage: image, SequenceNumber: row["pk"]}}
			if uncounted := rolluptest.Handle(t.Context(), keeper, record); uncounted != "" {
				t.Fatal(uncounted, "is not counted")
			}
		}
	}
	before := sums()
	w.reset()
	w.engine.Drain()
	// Of the factory two items of sums, and one for each content item.
	if after := sums(); before != 2*(2+records) || after != 2+records {
		t.Errorf("%d items of analytics before the reset, and %d after it", before, after)
	}
}

// A step that ends in the middle continues with the remaining resources.
func TestAResetSurvivesFaults(t *testing.T) {
	w := newSandboxWorld(t)
	w.fill(w.Caller, 8, false)
	w.reset()
	w.engine.Step() // there is no plan
	w.engine.Step() // and no automation
	w.engine.Step() // nor an experiment
	w.Faults.Before("TransactWriteItems", func() {
		// The third deletion fails for good, and the answer to a later one is lost.
		w.Faults.Before("TransactWriteItems",
			func() { w.Faults.Reject("TransactWriteItems", "InternalServerError", storetest.Attempts) })
	})
	w.engine.Step()
	if n := w.counts(w.Caller); n[0] == 0 || n[0] == 8 {
		t.Errorf("the step has left %v", n)
	}
	w.Faults.Lose("TransactWriteItems", 1)
	w.engine.Drain()
	if n := w.counts(w.Caller); n != [4]int{} || len(w.engine.Objects.Keys()) != 0 {
		t.Errorf("left are %v and %v", n, w.engine.Objects.Keys())
	}
	if n := w.factories(); n != 0 {
		t.Errorf("%d factories count", n)
	}
}

// Of media that are still awaited no place is lost among the pending ones.
func TestAResetDeletesMedia(t *testing.T) {
	w := newSandboxWorld(t)
	body := object{"mime_type": "image/png", "bytes": 3, "sha256": strings.Repeat("0", 64)}
	for _, c := range []*apitest.Caller{w.Caller, w.Live()} {
		c.Call(http.MethodPost, "/v1/media", body).Into(t, http.StatusCreated, new(object))
	}
	w.Clock.Add(time.Second)
	// The engine has no handler that awaits media: the steps are taken here.
	h, step := &sandboxarea.Resetter{Deleter: erasure.Deleter{DB: w.DB, Now: w.Clock.Now}}, &task.Step{}
	step.Owner = tenant.Of(w.Principal.Account, tenant.Test)
	payload, done := any(object{"before": w.Now()}), false
	for range 80 {
		var err error
		if step.Payload, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
		o, err := task.Func(h.Reset).Step(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		if payload, done = o.Payload, o.Done; done {
			break
		}
		w.Clock.Add(o.Wait)
	}
	if !done {
		t.Error("it does not end")
	}
	if n, live := len(apitest.All[object](w.Caller, "/v1/media", 100)),
		len(apitest.All[object](w.Live(), "/v1/media", 100)); n != 0 || live != 1 {
		t.Errorf("%d media are left, and %d of live keys", n, live)
	}
	if it, err := w.DB.Get(t.Context(),
		store.IDKey("media-pending#"+tenant.Of(w.Principal.Account, tenant.Test).String())); err != nil ||
		it.Count() != 0 {
		t.Errorf("%d media count as pending, %v", it.Count(), err)
	}
}

// Of a diagnosis that runs nothing comes afterwards.
func TestAResetDeletesDiagnosesAndProposals(t *testing.T) {
	w := newSandboxWorld(t)
	for _, c := range []*apitest.Caller{w.Caller, w.Live()} {
		for _, body := range []object{{}, {"metadata": object{"slow": "yes"}}} {
			var f struct{ ID string }
			c.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}).Into(t,
				http.StatusCreated, &f)
			if c == w.Caller && len(body) > 0 {
				w.engine.Drain()
				body["sandbox"] = object{"delay_seconds": 60}
			}
			c.Call(http.MethodPost, "/v1/factories/"+f.ID+"/diagnose", body).Into(t, http.StatusAccepted, &f)
		}
	}
	count := func() map[string]int {
		n := map[string]int{}
		for _, row := range storetest.Rows(t, w.DB) {
			if kind := row["kind"]; kind == advice.DiagnosisItemKind || kind == advice.ProposalItemKind {
				n[kind+" "+row["mode"]]++
			}
		}
		return n
	}
	if n := count(); n["diagnosis test"] != 2 || n["diagnosis live"] != 2 || n["proposal test"] == 0 {
		t.Fatalf("there are %v", n)
	}
	w.reset()
	w.engine.Drain()
	if n := count(); n["diagnosis test"] != 0 || n["proposal test"] != 0 || n["diagnosis live"] != 2 ||
		n["proposal live"] == 0 {
		t.Errorf("left are %v", n)
	}
}

// A plan goes with all that belongs to it, also while it is being made.
func TestAResetDeletesPlans(t *testing.T) {
	for _, steps := range []int{0, 2, 5, 40} {
		w := newSandboxWorld(t)
		var f struct{ ID string }
		w.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}).Into(t,
			http.StatusCreated, &f)
		before := w.kinds()
		w.Call(http.MethodPost, "/v1/factories/"+f.ID+"/content-plan",
			object{"days": 3, "posts_per_day": 10, "content_types": []string{"post"}}).Into(t,
			http.StatusAccepted, new(object))
		for range steps {
			w.engine.Step()
		}
		w.Clock.Add(time.Second)
		w.reset()
		w.engine.Drain()
		if n := w.counts(w.Caller); n != [4]int{} {
			t.Errorf("after %d steps there are %v", steps, n)
		}
		for kind, n := range w.kinds() {
			// Tasks, messages and answers expire, as do the counts of a plan; the count of waiting work stays.
			if n > before[kind] && !slices.Contains([]string{"task", "outbox", "idempotency", factoryrecord.CountsKind, ""}, kind) {
				t.Errorf("after %d steps there are %d of the kind %q", steps, n, kind)
			}
		}
	}
}

// kinds returns how many items of each kind there are.
func (w *sandboxWorld) kinds() map[string]int {
	kinds := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		kinds[row["kind"]]++
	}
	return kinds
}

func TestTwoResetsAtOnce(t *testing.T) {
	w := newSandboxWorld(t)
	w.fill(w.Caller, 3, true)
	w.reset()
	w.Clock.Add(time.Millisecond)
	w.reset()
	w.engine.Drain()
	if n := w.counts(w.Caller); n != [4]int{} {
		t.Errorf("left are %v", n)
	}
}

func TestALiveKeyResetsNothing(t *testing.T) {
	w := newSandboxWorld(t)
	w.fill(w.Caller, 1, false)
	before := w.counts(w.Caller)
	w.Live().Call(http.MethodPost, "/v1/sandbox/reset", nil).Refused(t, 422, errs.ValidationFailed, "")
	w.engine.Drain()
	if n := w.counts(w.Caller); n != before {
		t.Errorf("left are %v of %v", n, before)
	}
}

func TestTrainingsAndTheirModelsAreDeleted(t *testing.T) {
	w := newSandboxWorld(t)
	w.fill(w.Caller, 50, false)
	factory := apitest.All[struct{ ID string }](w.Caller, "/v1/factories", 100)[0].ID
	start := func(delay int) {
		w.Call(http.MethodPost, "/v1/factories/"+factory+"/training",
			object{"sandbox": object{"delay_seconds": delay}}).Into(t, http.StatusAccepted, new(object))
	}
	start(0)
	w.engine.Drain()
	start(60) // still runs when the sandbox is emptied
	w.Clock.Add(time.Second)
	kept := func() (all []string) {
		for _, row := range storetest.Rows(t, w.DB) {
			if row["kind"] == training.ItemKind || row["kind"] == catalog.TrainedKind {
				all = append(all, row["kind"])
			}
		}
		return all
	}
	if before := kept(); len(before) != 2 {
		t.Fatalf("there are %v", before)
	}
	w.reset()
	w.engine.Drain()
	if left := kept(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	for _, e := range apitest.All[object](w.Caller, "/v1/events", 100) {
		t.Errorf("the training went on: %v", e["type"])
	}
}
