package area_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
)

const day = 24 * time.Hour

// ending is a model whose provider has named its end.
const ending = "nano-banana-pro"

func endOf(t *testing.T, model string) time.Time {
	t.Helper()
	_, end := catalog.Ending(model)
	if end.IsZero() {
		t.Fatalf("no end of %s is known", model)
	}
	return end
}

// retirements returns the objects of the events that the search for endings has made.
func (w *factoryWorld) retirements() (all []factory.Retirement) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != "event" || row["f_type"] != "model.retiring" {
			continue
		}
		var e struct {
			Data struct{ Object factory.Retirement }
		}
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if row["f_factory"] != e.Data.Object.FactoryID {
			w.T.Errorf("the event is listed for the factory %q: %s", row["f_factory"], row["doc"])
		}
		all = append(all, e.Data.Object)
	}
	return all
}

// look searches for models that end, once a day up to a time.
func (w *factoryWorld) look(until time.Time) {
	w.T.Helper()
	for w.Now().Before(until) {
		w.Clock.Add(day)
		if _, err := factory.WarnRetiring(w.T.Context(), w.DB, w.Now()); err != nil {
			w.T.Fatal(err)
		}
	}
}

func TestAFactoryIsToldOnceSixtyDaysBeforeItsModelEnds(t *testing.T) {
	w := newFactoryWorld(t)
	end := endOf(t, ending)
	f := w.create("models", object{"image": ending, "text": "nova-lite"}, "replace_retired_models", true)
	w.create()
	w.create("models", object{"text": "nova-lite"})
	w.look(end.Add(-69 * day))
	if early := w.retirements(); len(early) != 0 {
		t.Fatalf("told too early: %+v", early)
	}
	w.look(end.Add(-60 * day))
	told := w.retirements()
	if len(told) != 1 || told[0].FactoryID != f.ID || told[0].Kind != "image" || told[0].ID != ending ||
		!told[0].RetiresAt.Equal(end) || *told[0].Successor != "nano-banana-2.1" || !told[0].ReplaceRetiredModels {
		t.Fatalf("told %+v", told)
	}
	if now := w.get(f.ID); now.Version != f.Version {
		t.Errorf("the version went from %d to %d", f.Version, now.Version)
	}
	w.look(end)
	if again := w.retirements(); len(again) != 1 {
		t.Errorf("told %d times", len(again))
	}
}

func TestAFactoryThatNamesAnEndingModelLateIsToldAtOnce(t *testing.T) {
	w := newFactoryWorld(t)
	w.Clock.Add(endOf(t, ending).Add(-20 * day).Sub(w.Now()))
	f := w.create()
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"models": object{"image": ending}}).Into(t, http.StatusOK, new(view))
	if n, err := factory.WarnRetiring(t.Context(), w.DB, w.Now()); err != nil || n != 1 {
		t.Fatalf("%d events, %v", n, err)
	}
	w.Call(http.MethodDelete, "/v1/factories/"+f.ID, nil)
	w.look(w.Now().Add(9 * day))
	if told := w.retirements(); len(told) != 1 {
		t.Errorf("told %+v", told)
	}
}

func TestAResponseTellsTheEndOfTheModelsThatAFactoryNames(t *testing.T) {
	w := newFactoryWorld(t)
	end := endOf(t, ending)
	created := w.Call(http.MethodPost, "/v1/factories", body("models", object{"image": ending}))
	if got := created.Header.Get("Sunset"); got != end.Format(http.TimeFormat) {
		t.Errorf("Sunset is %q", got)
	}
	if got := created.Header.Get("Deprecation"); len(got) < 2 || got[0] != '@' {
		t.Errorf("Deprecation is %q", got)
	}
	if got := created.Header.Get("Link"); got != `</api-docs/guides/credits#models-that-end>; rel="deprecation"; type="text/html"` {
		t.Errorf("Link is %q", got)
	}
	plain := w.Call(http.MethodPost, "/v1/factories", body("models", object{"text": "nova-lite"}))
	if h := plain.Header; h.Get("Link") != "" || h.Get("Sunset") != "" || h.Get("Deprecation") != "" {
		t.Errorf("a model without an end has %v", h)
	}
}

func TestAModelThatHasEndedIsRefusedAndKeepsNobodyFromOtherChanges(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create("models", object{"image": ending})
	w.Clock.Add(endOf(t, ending).Sub(w.Now()))
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"name": "Still here"}).Into(t, http.StatusOK, new(view))
	other := w.create()
	refused := w.Call(http.MethodPatch, "/v1/factories/"+other.ID, object{"models": object{"image": ending}})
	refused.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "/models/image")
}
