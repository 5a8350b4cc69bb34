package content_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestReservedCreditsAreShownWhileTheyAreHeld(t *testing.T) {
	w := newWorld(t)
	if it := w.create(); it.ReservedCredits != 0 {
		t.Errorf("a test key reserves %d", it.ReservedCredits)
	}
	w.live(1000)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog"})
	it := w.create()
	if it.ReservedCredits != postPrice || w.get(it.ID).ReservedCredits != postPrice {
		t.Errorf("%+v", it)
	}
	var listed []item.Item
	if w.Call(http.MethodGet, "/v1/content-items", nil).Into(t, http.StatusOK,
		&listed); listed[0].ReservedCredits != postPrice {
		t.Errorf("listed %+v", listed)
	}
	w.do(it.ID)
	if got := w.get(it.ID); got.ReservedCredits != 0 || got.CostCredits != postPrice {
		t.Errorf("generated %+v", got)
	}
	if w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted,
		&it); it.ReservedCredits != postPrice || it.CostCredits != postPrice {
		t.Errorf("regenerated %+v", it)
	}
	if w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it); it.ReservedCredits != 0 ||
		it.CostCredits != postPrice {
		t.Errorf("canceled %+v", it)
	}
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(2, w.body())}).Into(t, http.StatusAccepted, &made)
	if made[0].ReservedCredits != postPrice || made[1].ReservedCredits != postPrice {
		t.Errorf("a batch of %+v", made)
	}
	w.begin(made[0].ID)
	if got := w.get(made[1].ID); got.ReservedCredits != postPrice {
		t.Errorf("begun, %+v", got)
	}
	if w.Call(http.MethodDelete, path(made[0].ID), nil).Into(t, http.StatusOK, &it); it.ReservedCredits != 0 {
		t.Errorf("deleted %+v", it)
	}
}

// sums adds up the entries of each factory; that of the others is "".
func (w *world) sums() map[string]int64 {
	w.T.Helper()
	w.Clock.Add(1)
	sums := map[string]int64{}
	for _, e := range apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries", 100) {
		factory := ""
		if e.FactoryID != nil {
			factory = *e.FactoryID
		}
		sums[factory] += e.Credits
	}
	return sums
}

// An account that works for several clients bills each by the entries.
func TestEntriesNameTheFactoryAndItsMetadata(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	one, two := w.makeFactory(object{"type": "blogger", "name": "One"}),
		w.makeFactory(object{"type": "news", "name": "Two"})
	w.factory = one
	it := w.create("metadata", object{"client": "7"})
	w.Call(http.MethodPatch, path(it.ID), object{"metadata": object{"client": "8"}}).Into(t, http.StatusOK, &it)
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it)
	entries := apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries?subject="+it.ID, 100)
	if len(entries) != 2 {
		t.Fatalf("%+v", entries)
	}
	for _, e := range entries {
		if e.FactoryID == nil || *e.FactoryID != one || !maps.Equal(e.Metadata, resource.Metadata{"client": "7"}) {
			t.Errorf("%+v", e)
		}
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 2)
	var alone, mixed []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": many(2, w.body("metadata", object{"client": "9"}))}).Into(t,
		http.StatusAccepted, &alone)
	if got, want := w.sums(), map[string]int64{"": 1000, one: -3 * postPrice}; !maps.Equal(got, want) {
		t.Errorf("the entries are %v, want %v", got, want)
	}
	w.Clock.Add(1_000_000)
	w.Call(http.MethodPost, batchPath, object{"items": []object{w.body(), w.body("factory_id", two)}}).Into(t,
		http.StatusAccepted, &mixed)
	w.begin(alone[0].ID)
	w.begin(mixed[0].ID)
	if got, want := w.sums(), map[string]int64{"": 1000, one: -4 * postPrice, two: -postPrice}; !maps.Equal(got, want) {
		t.Errorf("the entries are %v, want %v", got, want)
	}
	for _, e := range apitest.All[ledger.Entry](w.Caller, "/v1/balance/entries?subject="+alone[1].ID, 100) {
		if !maps.Equal(e.Metadata, resource.Metadata{"client": "9"}) {
			t.Errorf("of a batch: %+v", e)
		}
	}
}
