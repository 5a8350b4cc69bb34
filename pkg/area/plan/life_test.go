package plan_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

func (w *world) at() string { return "/v1/factories/" + w.factory }

func (w *world) setState(state string) {
	w.T.Helper()
	var f factory.Factory
	if w.Call(http.MethodPatch, w.at(), object{"state": state}).Into(w.T, http.StatusOK, &f); f.State != state {
		w.T.Fatalf("%+v", f)
	}
	w.Clock.Add(time.Second)
}

// createItem makes a post of the factory.
func (w *world) createItem(members ...any) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/content-items",
		with(object{"factory_id": w.factory, "kind": "post", "prompt": "Laufen im Regen"}, members...)).Into(w.T,
		http.StatusAccepted, &it)
	w.Clock.Add(time.Second)
	return it
}

func (w *world) item(itemID string) (it item.Item) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/content-items/"+itemID, nil).Into(w.T, http.StatusOK, &it)
	return it
}

// steps takes some steps, of which each may wait.
func (w *world) steps(n int) {
	for range n {
		w.engine.Step()
	}
}

func TestAPausedFactoryMakesNothingNew(t *testing.T) {
	w := newWorld(t)
	w.setState(factory.StatePaused)
	for path, body := range map[string]object{
		w.path():                  body(),
		"/v1/content-items":       {"factory_id": w.factory, "kind": "post", "prompt": "Laufen"},
		"/v1/content-items/batch": {"items": []object{{"factory_id": w.factory, "kind": "post", "prompt": "Laufen"}}},
	} {
		a := w.Call(http.MethodPost, path, body)
		if a.Status != http.StatusConflict || a.Error.Code != string(errs.InvalidState) {
			t.Errorf("%s: %s", path, a.Raw)
		}
		a.Context(t, `{"state":"paused","allowed":["update"]}`)
	}
}

func TestQueuedWorkOfAPausedFactoryWaits(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	running := w.createItem()
	for w.item(running.ID).State == item.Queued {
		w.engine.Step()
	}
	first, second := w.createItem(), w.createItem()
	p := w.create("content_types", []string{"post"})
	w.setState(factory.StatePaused)
	began := w.Now()
	w.steps(200)
	if got := w.item(running.ID); got.State != item.Generated {
		t.Errorf("what was being generated is %s", got.State)
	}
	for _, it := range []item.Item{first, second} {
		if got := w.item(it.ID); got.State != item.Queued {
			t.Errorf("what was queued is %s", got.State)
		}
	}
	if got := w.get(); got.State != plan.Queued || len(w.items(p.ID)) > 0 || len(w.writer.asked) > 0 {
		t.Errorf("the plan is %+v", got)
	}
	// Far longer than work may take otherwise.
	for w.Now().Sub(began) < 3*time.Hour {
		w.steps(100)
	}
	w.setState(factory.StateActive)
	resumed := w.Now()
	if w.until(plan.Planning); w.Now().Sub(resumed) > 10*time.Second {
		t.Errorf("the plan went on after %v", w.Now().Sub(resumed))
	}
	w.engine.Drain()
	for _, it := range []item.Item{first, second} {
		got := w.item(it.ID)
		if got.State != item.Generated || got.GeneratedAt.Sub(resumed) > time.Minute {
			t.Errorf("resumed, %s is %s, at %v", it.ID, got.State, got.GeneratedAt)
		}
	}
	if got := w.get(); got.State != plan.Completed || got.Items.Generated != 4 {
		t.Errorf("resumed, the plan is %+v", got)
	}
	w.settled()
}

// Resuming a factory wakes the timers of publications that were due meanwhile.
func TestResumingWakesWhatIsHeld(t *testing.T) {
	w := newWorld(t)
	w.engine.Handle(publication.Timer, (&publication.Worker{DB: w.DB, Now: w.Clock.Now}).Handlers()[publication.Timer])
	w.setState(factory.StatePaused)
	now := w.Now()
	tx := &store.Tx{}
	ids := map[time.Duration]string{}
	for _, in := range []time.Duration{-time.Hour, time.Hour} {
		at := resource.Instant(now.Add(in))
		r := &item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, nil),
			FactoryID: w.factory, Kind: item.Post, State: item.Scheduled, Outlook: item.Outlook{PublishAt: &at}},
			Outlets: item.Outlets{Round: 1}}
		ids[in] = r.Item.ID
		it, err := r.Entry(w.Principal.Owner)
		if err != nil {
			t.Fatal(err)
		}
		tx.Create(it, nil)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.setState(factory.StateActive)
	w.steps(20)
	woken := map[string]bool{}
	for _, row := range storetest.Rows(t, w.DB) {
		for _, itemID := range ids {
			woken[itemID] = woken[itemID] || strings.Contains(row["pk"], "wake#"+task.ID(publication.Timer, itemID, 1))
		}
	}
	if !woken[ids[-time.Hour]] || woken[ids[time.Hour]] {
		t.Errorf("woken are %v of %v", woken, ids)
	}
}

func TestAPlanThatIsPausedWhilePlanningGoesOn(t *testing.T) {
	w := newWorld(t)
	p := w.create("days", 20, "content_types", []string{"post"})
	for len(w.items(p.ID)) == 0 {
		w.engine.Step()
	}
	w.setState(factory.StatePaused)
	w.steps(300)
	if made := w.items(p.ID); len(made) != 25 {
		t.Errorf("%d items", len(made))
	}
	w.setState(factory.StateActive)
	w.engine.Drain()
	if got := w.get(); got.State != plan.Completed || got.Items.Generated != 40 {
		t.Errorf("%+v", got)
	}
}

func TestDeletingAFactoryEndsItsWork(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	other := w.createItem()
	w.engine.Drain()
	w.factory = w.makeFactory()
	before := w.balance()
	generated := w.createItem()
	w.engine.Drain()
	spent := before - w.balance()
	var queued []item.Item
	for range 3 {
		queued = append(queued, w.createItem())
	}
	p := w.create("days", 20, "content_types", []string{"post"})
	for len(w.items(p.ID)) == 0 {
		w.engine.Step()
	}
	all := w.items(p.ID)

	var f factory.Factory
	w.Call(http.MethodDelete, w.at(), nil, "If-Match", `"7"`).Refused(t, http.StatusPreconditionFailed,
		errs.VersionMismatch, "If-Match")
	w.Faults.Reset()
	w.Call(http.MethodDelete, w.at(), nil).Into(t, http.StatusOK, &f)
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" || f.State != factory.StateDeleted ||
		f.ID != w.factory {
		t.Errorf("it took %s: %+v", ops, f)
	}
	for method, path := range map[string]string{http.MethodGet: w.at(), http.MethodDelete: w.at(),
		http.MethodPatch: w.at(), http.MethodPost: w.path()} {
		var sent any
		switch method {
		case http.MethodPatch:
			sent = object{"name": "Neu"}
		case http.MethodPost:
			sent = body()
		}
		w.Call(method, path, sent).Refused(t, http.StatusNotFound, errs.NotFound, "")
	}
	w.Call(http.MethodGet, w.path(), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post",
		"prompt": "Laufen"}).Refused(t, http.StatusNotFound, errs.NotFound, "/factory_id")
	var listed []factory.Factory
	if w.Call(http.MethodGet, "/v1/factories", nil).Into(t, http.StatusOK, &listed); len(listed) != 1 ||
		listed[0].ID != other.FactoryID {
		t.Errorf("listed %+v", listed)
	}

	w.engine.Drain()
	for _, it := range append(queued, all...) {
		if got := w.item(it.ID); got.State != item.Canceled && got.State != item.Generated || got.ReservedCredits != 0 {
			t.Errorf("%s is %s", got.ID, got.State)
		} else if got.State == item.Canceled && w.events(it.ID)[event.ContentCanceled] != 1 {
			t.Errorf("%s: %v", it.ID, w.events(it.ID))
		}
		spent += w.item(it.ID).CostCredits
	}
	if got := w.item(generated.ID); got.State != item.Generated {
		t.Errorf("what was generated is %s", got.State)
	}
	if got := w.item(queued[2].ID); got.State != item.Canceled {
		t.Errorf("what was queued is %s", got.State)
	}
	if len(w.items(p.ID)) != len(all) || before-w.balance() != spent {
		t.Errorf("%d items, %d credits spent, %d missing", len(w.items(p.ID)), spent, before-w.balance())
	}
	w.settled()
}

// A call that has read the factory just before it was deleted may commit after that.
func TestAnItemThatRacesTheDeletionIsCanceled(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	before := w.balance()
	w.Faults.Before("TransactWriteItems", func() {
		w.Faults.Reset()
		w.Call(http.MethodDelete, w.at(), nil)
		w.engine.Drain() // and the task finds nothing
	})
	it := w.createItem()
	w.engine.Drain()
	if got := w.item(it.ID); got.State != item.Canceled || w.balance() != before ||
		w.events(it.ID)[event.ContentCanceled] != 1 {
		t.Errorf("%+v, %d of %d credits", got, w.balance(), before)
	}
	w.settled()
}

// A plan that races the deletion is refused: both write the book of the factory.
func TestAPlanThatRacesTheDeletionIsRefused(t *testing.T) {
	w := newWorld(t)
	w.Faults.Before("TransactWriteItems", func() {
		w.Faults.Reset()
		w.Call(http.MethodDelete, w.at(), nil)
	})
	w.Call(http.MethodPost, w.path(), body()).Refused(t, http.StatusNotFound, errs.NotFound, "")
}
