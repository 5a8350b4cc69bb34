package content_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/store"
)

// history returns the history of an item, and its sum.
func (w *world) history(key string) (all []item.Past, sum item.Past) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(key))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := item.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, p := range r.History {
		sum.Made += p.Made
		sum.Failed += p.Failed
		sum.Published += p.Published
		sum.Credits += p.Credits
	}
	return r.History, sum
}

func TestAnItemKeepsWhatItsAttemptsHaveComeTo(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog"})
	it := w.generated()
	if all, _ := w.history(it.ID); len(all) != 1 ||
		all[0] != (item.Past{At: *it.GeneratedAt, Made: 1, Credits: postPrice}) {
		t.Errorf("%+v", all)
	}
	w.Clock.Add(48 * time.Hour)
	w.provider.running = provider.KindImage
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 2) // its texts are written
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it)
	if all, sum := w.history(it.ID); len(all) != 2 || !all[1].At.Equal(w.Now()) || all[1].Made != 0 ||
		all[1].Credits == 0 || sum.Credits != it.CostCredits {
		t.Errorf("%+v of %d credits", all, it.CostCredits)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it)
	if all, _ := w.history(it.ID); len(all) != 2 {
		t.Errorf("a cancellation that was free is in %+v", all)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.doAttempt(it.ID, 4)
	w.Call(http.MethodDelete, path(it.ID), nil).Into(t, http.StatusOK, &it)
	if all, sum := w.history("end#" + it.ID); len(all) != 3 || sum.Credits != it.CostCredits {
		t.Errorf("deleted, it leaves %+v of %d credits", all, it.CostCredits)
	}
	w.provider.running = "none"
	free := w.generated()
	w.Call(http.MethodDelete, path(free.ID), nil).Into(t, http.StatusOK, &free)
	if _, err := w.DB.Get(t.Context(), store.IDKey("end#"+free.ID)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a deletion that was free leaves %v", err)
	}
}

func TestRehearsalsAreInTheHistory(t *testing.T) {
	w := newWorld(t)
	for outcome, want := range map[string]item.Past{"generated": {Made: 1}, "failed": {Failed: 1},
		"published": {Made: 1, Published: 1}} {
		it := w.generated("sandbox", object{"outcome": outcome})
		if all, sum := w.history(it.ID); len(all) != 1 || sum != want || !all[0].At.Equal(it.UpdatedAt.Time) {
			t.Errorf("%s: %+v", outcome, all)
		}
	}
}

// However often an item is regenerated, its history stays short, and adds up.
func TestALongHistoryIsPutTogether(t *testing.T) {
	w := newWorld(t)
	it := w.generated()
	for attempt := 2; attempt <= 40; attempt++ {
		w.Clock.Add(time.Hour)
		w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
		w.doAttempt(it.ID, attempt)
	}
	if all, sum := w.history(it.ID); len(all) != 16 || sum.Made != 40 || all[0].Made != 25 ||
		!all[15].At.Equal(w.Now()) {
		t.Errorf("%+v", all)
	}
}
