package content_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// ending is a text model whose provider has named its end.
const ending = "llama-3.3-70b"

// endOf has the time of a model's end come, in a factory that names the model for texts.
func (w *world) endOf(model string, named string, members ...any) {
	w.T.Helper()
	f := object{"type": "blogger", "name": "Blog", "models": object{"text": named}, "quality": "draft"}
	f = with(f, members...)
	w.factory = w.makeFactory(f)
	_, end := catalog.Ending(model)
	w.Clock.Add(end.Sub(w.Now()))
}

func TestASuccessorMakesTheItemsOfAFactoryThatLetsIt(t *testing.T) {
	for named, writer := range map[string]string{
		ending:     "openai.gpt-oss-120b-1:0", // its successor
		"nova-pro": "amazon.nova-pro-v1:0",    // it still runs
	} {
		w := newWorld(t)
		w.live(10_000)
		w.endOf(ending, named, "replace_retired_models", true)
		w.do(w.create().ID)
		if asked := w.asked(); len(asked) == 0 || asked[0].Model != writer {
			t.Errorf("a factory with %s: asked %+v, want %s", named, asked, writer)
		}
	}
}

func TestAFactoryWhoseModelHasEndedMakesNothing(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	w.endOf(ending, ending)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body())
	a.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "")
	if w.credits() != 10_000 {
		t.Errorf("%d credits are left", w.credits())
	}
}

func TestAnItemWhoseOwnModelHasEndedIsRefused(t *testing.T) {
	w := newWorld(t)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body("model", "titan-image-2"))
	a.Refused(t, http.StatusUnprocessableEntity, errs.UnsupportedModel, "/model")
}
