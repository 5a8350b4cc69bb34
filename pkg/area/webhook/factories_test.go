package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// addFactory writes a factory of the caller's account and mode, and returns its id.
func addFactory(t *testing.T, db *store.DB, c *apitest.Caller, at time.Time, state string) string {
	t.Helper()
	factoryID := id.New(id.Factory, at)
	it, err := store.NewItem(factory.Kind, c.Principal.Owner, factoryID, map[string]string{"id": factoryID})
	if err != nil {
		t.Fatal(err)
	}
	it.Filters = map[string]string{"state": state}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	return factoryID
}

func TestAWebhookOfAFactoryGetsItsEventsOnly(t *testing.T) {
	w := newWorld(t)
	a := addFactory(t, w.DB, w.API, w.Clock.Now(), factory.StateActive)
	b := addFactory(t, w.DB, w.API, w.Clock.Now(), factory.StatePaused)
	subscribe := func(factories ...string) (wh webhook.NewWebhook) {
		w.API.Call(http.MethodPost, "/v1/webhooks",
			map[string]any{"url": hookURL, "event_types": []string{"content.*", "balance.low"},
				"factory_ids": factories}).
			Into(t, http.StatusCreated, &wh)
		if !slices.Equal(wh.FactoryIDs, factories) {
			t.Errorf("factory_ids %v, want %v", wh.FactoryIDs, factories)
		}
		return wh
	}
	all, ofA, ofB, both := subscribe([]string{}...), subscribe(a), subscribe(b), subscribe(a, b)
	plain := create(t, w.API, hookURL, "content.*")
	if plain.FactoryIDs == nil || len(plain.FactoryIDs) != 0 {
		t.Errorf("left out: %v", plain.FactoryIDs)
	}

	inA, inB := w.HappenIn(a, event.ContentGenerated), w.HappenIn(b, event.ContentFailed)
	other := w.HappenIn(a, event.TrainingCompleted) // a type that none of them asks for
	none := w.HappenIn("", event.BalanceLow)
	w.Dispatch()
	for _, c := range []struct {
		wh   webhook.NewWebhook
		want []event.Ref
	}{
		{all, []event.Ref{inA, inB, none}}, {ofA, []event.Ref{inA}}, {ofB, []event.Ref{inB}},
		{both, []event.Ref{inA, inB}}, {plain, []event.Ref{inA, inB}},
	} {
		var got, want []string
		for _, d := range w.Deliveries(c.wh.ID) {
			got = append(got, d.EventID)
		}
		for _, ref := range c.want {
			want = append(want, ref.ID)
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%v got %v, want %v; %s is in no factory, %s of no type", c.wh.FactoryIDs, got, want,
				none.ID, other.ID)
		}
	}
}

// An event that is dispatched late does not go to a webhook that was made after it.
func TestAWebhookGetsNothingFromBefore(t *testing.T) {
	w := newWorld(t)
	before := w.HappenIn("", event.BalanceLow)
	w.Clock.Add(time.Second)
	hook := create(t, w.API, hookURL, "*")
	after := w.HappenIn("", event.BalanceLow)
	w.Dispatch()
	if all := w.Deliveries(hook.ID); len(all) != 1 || all[0].EventID != after.ID {
		t.Errorf("of %s and %s it got %+v", before.ID, after.ID, all)
	}
}

func TestFactoriesOfAWebhookCanBeChangedAndRemoved(t *testing.T) {
	db, clock, c := webhooktest.On(t)
	a := addFactory(t, db, c, clock.Now(), factory.StateActive)
	w := create(t, c, hookURL, "*")
	path := "/v1/webhooks/" + w.ID
	change := func(patch string) webhook.Webhook {
		t.Helper()
		var got, stored webhook.Webhook
		c.Call(http.MethodPatch, path, patch).Into(t, http.StatusOK, &got)
		c.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &stored)
		if got.FactoryIDs == nil || !slices.Equal(got.FactoryIDs, stored.FactoryIDs) {
			t.Errorf("answered %v, stored %v", got.FactoryIDs, stored.FactoryIDs)
		}
		return stored
	}
	named := fmt.Sprintf(`{"factory_ids":[%q]}`, a)
	for _, step := range []struct {
		patch string
		want  []string
	}{
		{named, []string{a}}, {`{"description":"x"}`, []string{a}}, {`{"factory_ids":null}`, nil}, {named, []string{a}},
		{`{"factory_ids":[]}`, nil},
	} {
		if got := change(step.patch); !slices.Equal(got.FactoryIDs, step.want) {
			t.Errorf("after %s: %v", step.patch, got.FactoryIDs)
		}
	}
}

func TestFactoriesThatAreNotThereAreRefused(t *testing.T) {
	db, clock, c := webhooktest.On(t)
	good := addFactory(t, db, c, clock.Now(), factory.StateActive)
	w := create(t, c, hookURL, "*")
	many := make([]string, 50+1)
	for i := range many {
		many[i] = id.New(id.Factory, clock.Now())
	}
	for _, bad := range []struct {
		name  string
		ids   any
		param string
	}{
		{"no id", []string{"x"}, "/factory_ids/0"},
		{"another kind's id", []string{good, id.New(id.ContentItem, clock.Now())}, "/factory_ids/1"},
		{"unknown", []string{good, id.New(id.Factory, clock.Now())}, "/factory_ids/1"},
		{"deleted", []string{addFactory(t, db, c, clock.Now(), factory.StateDeleted)}, "/factory_ids/0"},
		{"the other mode's", []string{addFactory(t, db, c.Live(), clock.Now(), factory.StateActive)}, "/factory_ids/0"},
		{"another account's", []string{good, addFactory(t, db, c.Stranger(), clock.Now(), factory.StateActive)},
			"/factory_ids/1"},
		{"twice", []string{good, good}, "/factory_ids"},
		{"too many", many, "/factory_ids"},
		{"no list", good, "/factory_ids"},
		{"a number", []any{1}, "/factory_ids/0"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			c.Call(http.MethodPost, "/v1/webhooks", map[string]any{"url": hookURL, "event_types": []string{"*"},
				"factory_ids": bad.ids}).Unusable(t, bad.param)
			c.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"factory_ids": bad.ids}).
				Unusable(t, bad.param)
		})
	}
	// Whose webhook it is comes first.
	c.Stranger().Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"factory_ids": []string{good}}).Refused(t,
		404, "not_found", "")
	var all []webhook.Webhook
	c.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || all[0].Version != 1 || len(all[0].FactoryIDs) != 0 {
		t.Errorf("left over: %+v", all)
	}
}

func TestNamingFactoriesTakesOneRead(t *testing.T) {
	w := newWorld(t)
	a := addFactory(t, w.DB, w.API, w.Clock.Now(), factory.StateActive)
	b := addFactory(t, w.DB, w.API, w.Clock.Now(), factory.StateActive)
	wh := create(t, w.API, hookURL, "*")
	for _, call := range []struct {
		method, path string
		body         map[string]any
		status       int
		want         string
	}{
		{http.MethodPost, "/v1/webhooks", map[string]any{"url": hookURL, "event_types": []string{"*"},
			"factory_ids": []string{a, b}}, http.StatusCreated, "BatchGetItem TransactWriteItems"},
		{http.MethodPatch, "/v1/webhooks/" + wh.ID, map[string]any{"factory_ids": []string{a, b}}, http.StatusOK,
			"BatchGetItem PutItem"},
	} {
		w.Faults.Reset()
		if got := w.API.Call(call.method, call.path, call.body); got.Status != call.status {
			t.Errorf("%s: answered %s", call.method, got.Raw)
		}
		if made := w.Faults.Operations(); made != call.want {
			t.Errorf("%s: the table was called for %s, want %s", call.method, made, call.want)
		}
	}
}
