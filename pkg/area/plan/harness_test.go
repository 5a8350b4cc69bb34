package plan_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/generatetest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/experiment"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	planarea "github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// with returns a body with members changed.
var with = servicetest.Body

// world has the operations of content plans, called by a test key, and their worker with its dependencies.
type world struct {
	*servicetest.World
	engine *generatetest.Engine
	writer *writer
	// factory is a factory of the caller.
	factory string
}

// writer is the sandbox as the provider of everything, with other topics where they are set.
type writer struct {
	provider.Provider
	asked []question
	// topics answers a question, and fails it with an error; nil: as the sandbox does.
	topics func(q question) ([]string, error)
}

// question is the request to the text model.
type question struct {
	Channel, Brief string
	Slots          []struct {
		Slot   int
		Type   string `json:"content_type"`
		Day    string
		Wanted string `json:"instead_because"`
	}
	Avoid, Dates, Offers, Learned []string
	Platforms                     []struct{ Name string }
	Best                          []struct{ Title string } `json:"best_posts"`
	Worst                         []struct{ Title string } `json:"worst_posts"`
	Dropped                       []struct{ Topic, Reason string }
	// System is the other prompt.
	System string `json:"-"`
}

func (w *writer) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if req.Form == nil {
		return w.Provider.Submit(ctx, req)
	}
	q := question{System: req.Form.System}
	if err := json.Unmarshal([]byte(req.Prompt), &q); err != nil {
		return provider.Submission{}, err
	}
	w.asked = append(w.asked, q)
	if w.topics == nil {
		return w.Provider.Submit(ctx, req)
	}
	topics, err := w.topics(q)
	if err != nil {
		return provider.Submission{}, err
	}
	answer := []object{}
	for i, t := range topics {
		answer = append(answer, object{"slot": q.Slots[i].Slot, "topic": t})
	}
	b, err := json.Marshal(object{"topics": answer})
	return provider.Submission{Result: &provider.Result{Object: b}}, err
}

// For implements generate.Providers.
func (w *writer) For(string, tenant.Mode) (provider.Provider, error) { return w, nil }

// unmeasured ends tasks at once, such as the daily measuring of accounts, whose credentials these tests lack.
type unmeasured struct{}

func (unmeasured) Step(context.Context, *task.Step) (task.Outcome, error) {
	return task.Outcome{Done: true}, nil
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.New(t)}
	signer := apitest.Signer(t, w.Now)
	offer := catalog.NewOffer("bedrock,fal,elevenlabs,polly", "us-west-2", nil)
	factories := factory.NewService(w.DB, w.Now)
	items := content.NewService(w.DB, factories, signer, offer, w.Now)
	w.Serve(factories, planarea.NewService(w.DB, factories, offer, w.Now), items, experiment.NewService(w.DB,
		factories, w.Now), account.NewService(w.DB, w.Now),
		account.NewEvents(w.DB, signer), quote.NewService(w.DB, w.Now),
		publishing.NewService(w.DB, items, factories, signer, &apitest.Log{}, w.Now, rand.Reader))
	w.Kept()
	w.writer = &writer{Provider: sandbox.NewAlike(w.Now)}
	w.run(item.Loader{Sign: item.SignedBy(signer), Repeats: true})
	w.factory = w.makeFactory("schedule", object{"timezone": "Europe/Berlin", "times": []string{"18:30", "09:00"}})
	return w
}

// run makes the worker, with a loader of items.
func (w *world) run(items item.Loader) {
	w.engine = generatetest.New(w.T, w.DB, w.Clock, w.writer, map[string]generate.Loader{item.ItemKind: items})
	w.engine.Add(func(of *generate.Worker) map[task.Kind]task.Handler {
		return planarea.Handlers(of, publication.FactoryCleaner{DB: w.DB, Now: w.Clock.Now}.Clean,
			social.FactoryCleaner{DB: w.DB, Now: w.Clock.Now}.Clean,
			experiment.Cleaner{DB: w.DB, Now: w.Clock.Now}.Clean)
	})
	publisher := &publication.Worker{DB: w.DB, Platforms: social.NewPlatforms(social.PlatformsConfig{Now: w.Clock.Now}),
		Now: w.Clock.Now}
	for kind, h := range publisher.Handlers() {
		w.engine.Handle(kind, h)
	}
	w.engine.Handle(social.Measure, unmeasured{})
	w.engine.Handle(experiment.LookKind, unmeasured{}) // tests make decided experiments themselves
	w.engine.Handle(httpapi.ClaimKind, unmeasured{})   // no call of these tests dies in between
}

// live makes the caller one with a live key, credits and a factory.
func (w *world) live(credits int64) {
	w.T.Helper()
	w.Caller = w.Live()
	w.TopUp(credits)
	w.factory = w.makeFactory()
}

// makeFactory makes a blogger; members are pairs that change the body.
func (w *world) makeFactory(members ...any) string {
	w.T.Helper()
	var f struct{ ID string }
	w.Call(http.MethodPost, "/v1/factories", with(object{"type": "blogger", "name": "Laufblog", "language": "de",
		"quality": "draft"},
		members...)).Into(w.T, http.StatusCreated, &f)
	w.Clock.Add(time.Second)
	return f.ID
}

// body plans two days with two posts each; members are pairs that change it.
func body(members ...any) object {
	return with(object{"days": 2, "posts_per_day": 2, "content_types": []string{"post", "carousel"}}, members...)
}

func (w *world) path() string { return planarea.Path(w.factory) }

// create plans through the API.
func (w *world) create(members ...any) (p planarea.Plan) {
	w.T.Helper()
	w.Call(http.MethodPost, w.path(), body(members...)).Into(w.T, http.StatusAccepted, &p)
	w.Clock.Add(time.Second)
	return p
}

func (w *world) get() (p planarea.Plan) {
	w.T.Helper()
	w.Call(http.MethodGet, w.path(), nil).Into(w.T, http.StatusOK, &p)
	return p
}

// until takes steps until the plan is in a state.
func (w *world) until(state planarea.State) planarea.Plan {
	w.T.Helper()
	for range 500 {
		if p := w.get(); p.State == state {
			return p
		}
		if !w.engine.Step() {
			break
		}
	}
	w.T.Fatalf("the plan never is %s: %+v", state, w.get())
	return planarea.Plan{}
}

// items returns the items of a plan, in its order.
func (w *world) items(planID string) []item.Item {
	w.T.Helper()
	return apitest.All[item.Item](w.Caller, "/v1/content-items?order=asc&content_plan_id="+planID, 100)
}

// events counts the events of a plan or item by their type.
func (w *world) events(objectID string) map[event.Type]int {
	w.T.Helper()
	types := map[event.Type]int{}
	for _, e := range apitest.All[event.Event](w.Caller, "/v1/events?object_id="+objectID, 100) {
		types[e.Type]++
	}
	return types
}

// balance returns the credits that can be spent.
func (w *world) balance() int64 {
	w.T.Helper()
	return apitest.Balance(w.T, w.DB, w.Principal.Account)
}

// settled checks that the entries add up to the balance, and that nothing is held.
func (w *world) settled() {
	w.T.Helper()
	w.Clock.Add(time.Second)
	var sum int64
	for _, e := range apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries", 100) {
		sum += e.Credits
		if e.State != nil && *e.State == "held" {
			w.T.Errorf("%d credits of %s are still held", -e.Credits, e.Subject)
		}
	}
	if sum != w.balance() {
		w.T.Errorf("the entries add up to %d, and the balance is %d", sum, w.balance())
	}
}
