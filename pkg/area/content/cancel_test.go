package content_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/media"
)

// halfway makes a live video whose pictures are not made yet, when its script and voice are.
func (w *world) halfway() item.Item {
	w.T.Helper()
	it := w.create("kind", "video", "visuals", "stills", "duration_seconds", 10)
	w.provider.running = provider.KindImage
	if wait := w.do(it.ID); wait == 0 {
		w.T.Fatal("it has ended")
	}
	w.provider.running = "none"
	return w.get(it.ID)
}

func TestTheCostOfACancelIsShown(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	queued := w.create()
	if queued.CancelCost == nil || *queued.CancelCost != 0 {
		t.Errorf("queued: %+v", queued)
	}
	w.Call(http.MethodDelete, path(queued.ID), nil).Into(t, http.StatusOK, &item.Item{})
	it := w.halfway()
	if it.CancelCost == nil || *it.CancelCost < 2 || *it.CancelCost >= it.ReservedCredits {
		t.Fatalf("%+v", it)
	}
	foreseen := *it.CancelCost
	w.Faults.Reset()
	listed := apitest.All[item.Item](w.Caller, "/v1/content-items", 10)
	if ops := w.Faults.Operations(); len(listed) != 1 || *listed[0].CancelCost != foreseen ||
		ops != "Query BatchGetItem" {
		t.Errorf("listed as %+v by %s", listed, ops)
	}
	var changed, canceled item.Item
	w.Call(http.MethodPatch, path(it.ID), object{"caption": "Mine"}).Into(t, http.StatusOK, &changed)
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &canceled)
	if *changed.CancelCost != foreseen || canceled.CostCredits != foreseen || canceled.CancelCost != nil ||
		w.credits() != 1000-foreseen {
		t.Errorf("it would have cost %d: %+v", foreseen, canceled)
	}
}

// What was charged is delivered.
func TestCompletedPartsOfACanceledItemAreShown(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	it := w.halfway()
	var got item.Item
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &got)
	w.do(it.ID) // the cleaning
	if again := w.get(it.ID); len(again.Media) != 1 || again.Media[0].ID != got.Media[0].ID {
		t.Errorf("it shows %+v, and then %+v", got.Media, again.Media)
	}
	if len(got.Media) != 1 || got.Media[0].Role != media.Narration || got.Media[0].URL == "" || got.Script == "" ||
		got.Title == "" || len(w.objects.Keys()) != 1 {
		t.Errorf("%+v", got)
	}
	// They stay until another attempt succeeds.
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &got)
	if len(got.Media) != 1 {
		t.Errorf("%+v", got.Media)
	}
	w.doAttempt(it.ID, 2)
	for _, f := range w.get(it.ID).Media {
		if f.ID == got.Media[0].ID {
			t.Errorf("it still shows %+v", f)
		}
	}
	// After a success, they follow its media.
	finished := len(w.get(it.ID).Media)
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &got)
	w.provider.running = provider.KindImage
	w.doAttempt(it.ID, 3)
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &got)
	if len(got.Media) != finished+1 || got.Media[0].Role != media.Final || got.Media[finished].Role != media.Narration {
		t.Errorf("%+v", got.Media)
	}
	// The files go with the item.
	w.Call(http.MethodDelete, path(it.ID), nil).Into(t, http.StatusOK, &got)
	w.clearFiles(it.ID)
	if len(got.Media) != 0 || len(w.objects.Keys()) != 0 {
		t.Errorf("%+v, and %v are stored", got.Media, w.objects.Keys())
	}
}
