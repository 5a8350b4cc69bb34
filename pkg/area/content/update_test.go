package content_test

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

func TestUpdate(t *testing.T) {
	w := newWorld(t)
	it := w.create("metadata", object{"campaign": "spring", "region": "north"})
	tag := w.Call(http.MethodGet, path(it.ID), nil).Header.Get("ETag")
	var got item.Item
	a := w.Call(http.MethodPatch, path(it.ID), object{"title": "Mein Titel", "hashtags": []string{"netze"},
		"metadata": object{"region": nil, "season": "1"}}, "If-Match", tag)
	a.Into(t, http.StatusOK, &got)
	if got.Title != "Mein Titel" || !slices.Equal(got.Hashtags, []string{"netze"}) ||
		!reflect.DeepEqual(map[string]string(got.Metadata), map[string]string{"campaign": "spring", "season": "1"}) ||
		got.Version != 2 || a.Header.Get("ETag") != `"2"` || !got.UpdatedAt.Equal(w.Now()) {
		t.Errorf("%s", a.Raw)
	}
	w.Call(http.MethodPatch, path(it.ID), object{"title": "x"}, "If-Match", tag).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.do(it.ID)
	if got = w.get(it.ID); got.Title != "Mein Titel" || got.Caption == "" ||
		!slices.Equal(got.Hashtags, []string{"netze"}) || got.State != item.Generated {
		t.Errorf("%+v", got)
	}
	// A generated text may be replaced, and a written one taken back: another attempt keeps the one and writes the
	// other.
	kept := got.Caption
	got = item.Item{}
	w.Call(http.MethodPatch, path(it.ID), object{"title": nil, "caption": kept, "hashtags": nil,
		"metadata": nil}).Into(t, http.StatusOK, &got)
	if got.Title != "" || got.Caption == "" || got.Hashtags == nil || len(got.Hashtags) != 0 || got.Metadata == nil ||
		len(got.Metadata) != 0 {
		t.Errorf("%+v", got)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"prompt": "Etwas anderes"}).Into(t,
		http.StatusAccepted, &got)
	w.doAttempt(it.ID, 2)
	if got = w.get(it.ID); got.Title != "Etwas anderes" || got.Caption != kept || len(got.Hashtags) == 0 {
		t.Errorf("%+v", got)
	}
}

// A change sends an event with the item as it is then; a patch that changes nothing, and generation, send none.
func TestOnlyChangesOfCallersAreUpdates(t *testing.T) {
	w := newWorld(t)
	made := w.generated()
	w.happened(made.ID, event.ContentGenerated)
	for range 2 {
		w.Call(http.MethodPatch, path(made.ID), object{"caption": "New", "metadata": object{"a": "b"}}).Into(t,
			http.StatusOK, &made)
	}
	w.happened(made.ID, event.ContentGenerated, event.ContentUpdated)
	w.requireApproval()
	w.attach(w.connect("telegram"))
	// Planned for after its approval, it is not scheduled yet.
	w.schedule(made.ID, w.Now().Add(time.Hour))
	if n := w.events(made.ID); n[event.ContentUpdated] != 2 || n[event.ContentScheduled] != 0 {
		t.Errorf("the events are %v", n)
	}
	w.Call(http.MethodPost, path(made.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &made)
	w.doAttempt(made.ID, 2)
	if n := w.events(made.ID); n[event.ContentUpdated] != 2 || n[event.ContentGenerated] != 2 {
		t.Errorf("the events are %v", n)
	}
}

func TestMetadataDoesNotGrowBeyondItsBound(t *testing.T) {
	w := newWorld(t)
	pairs := object{}
	for i := range 20 {
		pairs[strconv.Itoa(i)] = "v"
	}
	it := w.create("metadata", pairs)
	w.Call(http.MethodPatch, path(it.ID), object{"metadata": object{"more": "v"}}).Refused(t, 422,
		errs.ValidationFailed, "/metadata")
	w.Call(http.MethodPatch, path(it.ID), object{"metadata": object{"more": "v", "0": nil}}).Into(t, http.StatusOK,
		new(item.Item))
	if got := w.get(it.ID).Metadata; len(got) != 20 {
		t.Errorf("%v", got)
	}
}

func TestUpdateIsRefused(t *testing.T) {
	w := newWorld(t)
	itemID := w.in(item.Generated)
	w.Stranger().Call(http.MethodGet, path(itemID), nil).Refused(t, 404, errs.NotFound, "") // its key is kept
	before := storetest.Snapshot(t, w.DB)
	for param, body := range map[string]any{
		"/title":      object{"title": "a\nb"},
		"/hashtags/0": object{"hashtags": []string{"#no"}},
		"/prompt":     object{"prompt": "x"},
		"/state":      object{"state": "published"},
		"/metadata":   object{"metadata": object{"": "x"}},
		"/caption":    object{"caption": strings.Repeat("x", 5001)},
		"/title ":     object{"title": " \u00a0"},
		"/caption ":   object{"caption": "\n"},
	} {
		w.Call(http.MethodPatch, path(itemID), body).Refused(t, 422, errs.ValidationFailed, strings.TrimSpace(param))
	}
	w.Stranger().Call(http.MethodPatch, path(itemID), object{"title": "x"}).Refused(t, 404, errs.NotFound, "")
	w.Live().Call(http.MethodDelete, path(itemID), nil).Refused(t, 404, errs.NotFound, "")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
	for _, state := range states {
		itemID := w.in(state)
		a := w.Call(http.MethodPatch, path(itemID), object{"title": "Später"})
		if state == item.Publishing || state == item.Published {
			a.Refused(t, 409, errs.InvalidState, "")
		} else if a.Status != http.StatusOK || w.get(itemID).Title != "Später" {
			t.Errorf("%s: %s", state, a.Raw)
		}
	}
}

// If a patch comes between any read and write of the worker, or the other way round, neither loses the other's
// changes.
func TestPatchesAndTheWorkerLoseNothingOfEachOther(t *testing.T) {
	patch := object{"title": "Mein Titel", "metadata": object{"campaign": "spring"}}
	check := func(w *world, itemID, what string, n int) {
		t.Helper()
		got := w.get(itemID)
		if got.Title != "Mein Titel" || got.Metadata["campaign"] != "spring" || got.State != item.Generated ||
			got.Caption == "" || len(got.Media) != 2 {
			t.Errorf("%s %d: %+v", what, n, got)
		}
		w.happened(itemID, event.ContentGenerated, event.ContentUpdated)
	}
	for n := 1; ; n++ {
		w := newWorld(t)
		it := w.create()
		trips := 0
		w.Faults.After = func(storetest.Call) error {
			if trips++; trips == n {
				w.Faults.After = nil
				w.Call(http.MethodPatch, path(it.ID), patch).Into(t, http.StatusOK, &item.Item{})
			}
			return nil
		}
		w.do(it.ID)
		if w.Faults.After != nil {
			if n < 10 {
				t.Errorf("the worker makes %d round trips only", trips)
			}
			break
		}
		check(w, it.ID, "patched after round trip", n)
	}
	for n := 1; n <= 2; n++ {
		w := newWorld(t)
		it := w.create()
		trips := 0
		w.Faults.After = func(storetest.Call) error {
			if trips++; trips == n {
				w.Faults.After = nil
				w.do(it.ID)
			}
			return nil
		}
		w.Call(http.MethodPatch, path(it.ID), patch).Into(t, http.StatusOK, &item.Item{})
		check(w, it.ID, "generated after round trip", n)
	}
}
