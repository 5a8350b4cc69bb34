package plan_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// connect attaches a connected account to the factory.
func (w *world) connect(name string) string {
	w.t.Helper()
	now := w.clock.Now()
	r := &social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
		FactoryIDs: []string{w.factory}}, PlatformID: "sandbox-" + name}
	it, err := r.Item(w.Principal.Owner)
	if err != nil {
		w.t.Fatal(err)
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, platform.Token{}); err != nil {
		w.t.Fatal(err)
	}
	f, err := w.db.Get(w.t.Context(), factoryrecord.Key(w.factory))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := factoryrecord.Attach(&f, r.ID, now); err != nil {
		w.t.Fatal(err)
	}
	tx.Replace(f)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

// states counts the items of a plan by their states.
func (w *world) states(planID string) map[item.State]int {
	w.t.Helper()
	found := map[item.State]int{}
	for _, it := range w.items(planID) {
		found[it.State]++
	}
	return found
}

func (w *world) change(body object) {
	w.t.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, body).Into(w.t, http.StatusOK, new(object))
}

// A factory that publishes automatically from some time on schedules the items that its plan holds, generated or not.
func TestAutoPublishTurnedOnLaterSchedulesThePlan(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	p := w.create("days", 10, "posts_per_day", 6, "content_types", []string{"post"})
	for w.states(p.ID)[item.Generated] < 20 {
		if !w.engine.Step() {
			t.Fatal("nothing is generated")
		}
	}
	if got := w.states(p.ID); got[item.Scheduled] > 0 || got[item.Queued]+got[item.Generating] == 0 &&
		w.get().State == plan.Generating {
		t.Fatalf("before, the items are %v", got)
	}
	all := w.items(p.ID)
	var held item.Item
	for _, it := range all {
		if it.State == item.Generated {
			held = it
		}
	}
	// The caller has taken one out of the plan's times.
	w.Call(http.MethodPost, "/v1/content-items/"+held.ID+"/schedule", object{"publish_at": nil}).Into(t,
		http.StatusOK, &held)
	w.change(object{"auto_publish": true})
	for range 20_000 {
		if w.get().State == plan.Completed || !w.engine.Step() {
			break
		}
	}
	// The last step begins to publish the first one.
	for first := *all[0].PublishAt; w.clock.Now().Before(first.Time) && w.engine.Step(); {
	}
	got := w.states(p.ID)
	if got[item.Generated] != 1 || got[item.Scheduled]+got[item.Publishing] != 59 {
		t.Errorf("the items are %v", got)
	}
	for _, it := range w.items(p.ID) {
		if it.State == item.Scheduled && (len(it.Publications) != 1 || it.PublishAt == nil) {
			t.Fatalf("%+v", it)
		}
	}
}

// Items that a key without content:publish ordered stay generated, and so do those whose time is past.
func TestAutoPublishLeavesWhatItMayNotPublish(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	all := w.Principal.Scopes
	w.Principal.Scopes = []auth.Scope{auth.FactoriesRead, auth.FactoriesWrite, auth.ContentRead, auth.ContentWrite,
		auth.AccountRead}
	ordered := w.create("content_types", []string{"post"})
	w.engine.Drain()
	w.Principal.Scopes = all
	past := w.create("content_types", []string{"post"}, "starts_on", "2026-05-10")
	w.engine.Drain()
	w.clock.Add(time.Date(2026, 5, 10, 14, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
	w.change(object{"auto_publish": true})
	for range 50 {
		if !w.engine.Step() {
			break
		}
	}
	if got := w.states(ordered.ID); got[item.Generated] != 4 {
		t.Errorf("without the scope the items are %v", got)
	}
	// Of four items, that of 09:00 in Berlin is past.
	if got := w.states(past.ID); got[item.Generated] != 1 {
		t.Errorf("the items are %v", got)
	}
}
