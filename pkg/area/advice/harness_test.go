package advice_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

type object = map[string]any

// world is a table with a caller of the operations, and the worker behind them.
type world struct {
	*servicetest.World
	model   *model
	worker  *advice.Worker
	kernel  *task.Kernel
	queue   []message
	relayed map[string]bool
}

type message struct {
	task.Message
	queued string // the queue's id of it
	at     time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.New(t), relayed: map[string]bool{}}
	w.model = &model{Provider: sandbox.New(w.Now)}
	w.Serve(factory.NewService(w.DB, w.Now), advice.NewService(w.DB, w.Now), account.NewEvents(w.DB, nil))
	w.worker = &advice.Worker{DB: w.DB, Providers: w.model, Offer: catalog.NewOffer("bedrock", "eu-central-1", nil),
		Now: w.Clock.Now}
	w.kernel = w.Kernel(map[task.Kind]task.Handler{advice.TaskKind: task.Func(w.worker.Diagnose)})
	return w
}

// model is the text model. It answers as the sandbox does, unless there are answers or an
// error to give first.
type model struct {
	provider.Provider
	asked   []provider.Request
	answers []string
	err     error
	// before is called before it answers.
	before func()
}

func (m *model) For(string, tenant.Mode) (provider.Provider, error) { return m, nil }

func (m *model) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	m.asked = append(m.asked, req)
	if m.before != nil {
		m.before()
	}
	switch {
	case m.err != nil:
		return provider.Submission{}, m.err
	case len(m.answers) > 0:
		answer := m.answers[0]
		m.answers = m.answers[1:]
		return provider.Submission{Result: &provider.Result{Object: json.RawMessage(answer)}}, nil
	}
	return m.Provider.Submit(ctx, req)
}

// factory makes a factory; members are pairs that change the body.
func (w *world) factory(c *apitest.Caller, members ...any) (f factory.Factory) {
	w.T.Helper()
	b := object{"type": "brand", "name": "Acme", "settings": object{"brand_name": "Acme"}}
	c.Call(http.MethodPost, "/v1/factories", servicetest.Body(b, members...)).Into(w.T, http.StatusCreated, &f)
	return f
}

// items gives a factory items that were made in the last days, one each day.
func (w *world) items(o tenant.Owner, factoryID string, n int, change func(i int, r *item.Record)) {
	w.T.Helper()
	w.itemsEvery(24*time.Hour, o, factoryID, n, change)
}

// itemsEvery gives a factory items with some time between two of them.
func (w *world) itemsEvery(between time.Duration, o tenant.Owner, factoryID string, n int,
	change func(i int, r *item.Record)) {
	w.T.Helper()
	tx := &store.Tx{}
	commit := func() {
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
		tx = &store.Tx{}
	}
	for i := range n {
		at := w.Now().Add(-time.Duration(i)*between - time.Hour)
		made := resource.Instant(at)
		r := &item.Record{Item: item.Item{
			Resource: resource.New(id.New(id.ContentItem, at), at, nil), FactoryID: factoryID, Kind: item.Post,
			State: item.Generated, Texts: item.Texts{Caption: "A shoe"}, GeneratedAt: &made,
		}}
		if change != nil {
			change(i, r)
		}
		if err := r.Create(tx, o); err != nil {
			w.T.Fatal(err)
		}
		if tx.Len() > 90 {
			commit()
		}
	}
	commit()
}

// start starts a diagnosis.
func (w *world) start(c *apitest.Caller, factoryID string, body any) (d advice.Diagnosis) {
	w.T.Helper()
	c.Call(http.MethodPost, "/v1/factories/"+factoryID+"/diagnose", body).Into(w.T, http.StatusAccepted, &d)
	return d
}

func (w *world) get(c *apitest.Caller, factoryID string) (d advice.Diagnosis) {
	w.T.Helper()
	c.Call(http.MethodGet, "/v1/factories/"+factoryID+"/diagnosis", nil).Into(w.T, http.StatusOK, &d)
	return d
}

// diagnosed makes a diagnosis to its end.
func (w *world) diagnosed(c *apitest.Caller, factoryID string, body any) advice.Diagnosis {
	w.T.Helper()
	w.start(c, factoryID, body)
	w.drain()
	return w.get(c, factoryID)
}

func (w *world) proposals(c *apitest.Caller, factoryID, query string) []advice.Proposal {
	w.T.Helper()
	return apitest.All[advice.Proposal](c, "/v1/factories/"+factoryID+"/proposals"+query, 2)
}

// told returns the types of the events about objects, oldest first.
func (w *world) told(c *apitest.Caller, ids ...string) (types []string) {
	w.T.Helper()
	for _, e := range apitest.All[event.Event](c, "/v1/events?order=asc", 100) {
		var about struct{ ID string }
		if err := json.Unmarshal(e.Data.Object, &about); err != nil {
			w.T.Fatal(err)
		}
		if slices.Contains(ids, about.ID) {
			types = append(types, string(e.Type))
		}
	}
	return types
}

// next takes the message that is seen first, and lets the time come.
func (w *world) next() (message, bool) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != task.ItemKind || w.relayed[row["pk"]] {
			continue
		}
		w.relayed[row["pk"]] = true
		var m task.Message
		if err := json.Unmarshal([]byte(row["doc"]), &m); err != nil {
			w.T.Fatal(err)
		}
		w.queue = append(w.queue, message{m, rand.Text(), w.Now()})
	}
	if len(w.queue) == 0 {
		return message{}, false
	}
	slices.SortStableFunc(w.queue, func(a, b message) int { return a.at.Compare(b.at) })
	m := w.queue[0]
	w.queue = w.queue[1:]
	if wait := m.at.Sub(w.Now()); wait > 0 {
		w.Clock.Add(wait)
	}
	return m, true
}

// do has the kernel do a message. One that fails comes again.
func (w *world) do(m message) {
	next, err := w.kernel.Do(w.T.Context(), m.Message, m.queued)
	switch {
	case err != nil:
		w.queue = append(w.queue, message{m.Message, m.queued, w.Now().Add(time.Second)})
	case next != nil:
		w.queue = append(w.queue, message{next.Message, rand.Text(), w.Now().Add(next.Delay)})
	}
}

// drain does all messages until there are none.
func (w *world) drain() {
	w.T.Helper()
	for range 200 {
		m, ok := w.next()
		if !ok {
			return
		}
		w.do(m)
	}
	w.T.Fatal("the work has no end")
}
