package content_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// ending is a model of pictures whose provider has named its end.
const ending = "nano-banana-pro"

// endOf has the time of a model's end come, in a factory that names the model for texts.
func (w *world) endOf(model string, named string, members ...any) {
	w.T.Helper()
	f := object{"type": "blogger", "name": "Blog", "models": object{"image": named}, "quality": "draft"}
	f = with(f, members...)
	w.factory = w.makeFactory(f)
	_, end := catalog.Ending(model)
	w.Clock.Add(end.Sub(w.Now()))
}

func TestASuccessorMakesTheItemsOfAFactoryThatLetsIt(t *testing.T) {
	for named, drawer := range map[string]string{
		ending:       "google/nano-banana-2.1",                     // its successor
		"seedream-4": "fal-ai/bytedance/seedream/v4/text-to-image", // it still runs
	} {
		w := newWorld(t)
		w.live(10_000)
		w.endOf(ending, named, "replace_retired_models", true)
		w.do(w.create().ID)
		drawn := slices.ContainsFunc(w.provider.requests, func(r provider.Request) bool { return r.Model == drawer })
		if !drawn {
			t.Errorf("a factory with %s: %s was not asked", named, drawer)
		}
	}
}

func TestAFactoryWhoseModelHasEndedMakesNothing(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	w.endOf(ending, ending)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body())
	a.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "/model")
	if w.credits() != 10_000 {
		t.Errorf("%d credits are left", w.credits())
	}
}

func TestAnItemWhoseOwnModelHasEndedIsRefused(t *testing.T) {
	w := newWorld(t)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body("model", "nano-banana-2"))
	a.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "/model")
}
