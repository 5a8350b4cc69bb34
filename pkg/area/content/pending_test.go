package content_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
)

// follow checks the headers of an answer with status 202, and returns the answer at
// its Location.
func follow(t *testing.T, w *world, a apitest.Answer, seconds string) apitest.Answer {
	t.Helper()
	if a.Status != http.StatusAccepted || a.Header.Get("Retry-After") != seconds {
		t.Errorf("answered %d with Retry-After %q, want %s", a.Status, a.Header.Get("Retry-After"), seconds)
	}
	return w.Call(http.MethodGet, a.Header.Get("Location"), nil)
}

func TestAcceptedWorkSaysWhereAndWhenToLook(t *testing.T) {
	w := newWorld(t)
	var it item.Item
	create := func() apitest.Answer {
		return w.Call(http.MethodPost, "/v1/content-items", w.body("sandbox", object{"delay_seconds": 30}),
			"Idempotency-Key", "one")
	}
	first := create()
	if again := create(); again.Header.Get("Location") != first.Header.Get("Location") ||
		again.Header.Get("Retry-After") != "36" {
		t.Errorf("repeated with %v", again.Header)
	}
	follow(t, w, first, "36").Into(t, http.StatusOK, &it)
	w.Clock.Add(1_000_000)
	var made, listed []item.Item
	a := w.Call(http.MethodPost, batchPath,
		object{"items": []object{w.body(), w.body("sandbox", object{"delay_seconds": 7})}})
	a.Into(t, http.StatusAccepted, &made)
	w.Clock.Add(1_000_000)
	other := w.create()
	follow(t, w, a, "13").Into(t, http.StatusOK, &listed)
	if len(listed) != 2 || listed[0].ID != made[1].ID || listed[1].ID != made[0].ID {
		t.Errorf("created %v, and listed %v", made, listed)
	}
	if a := w.Call(http.MethodPost, path(other.ID, "cancel"), nil); a.Header.Get("Location") != "" ||
		a.Header.Get("Retry-After") != "" {
		t.Errorf("what is not pending is answered with %v", a.Header)
	}
	follow(t, w, w.Call(http.MethodPost, path(other.ID, "regenerate"), nil), "6").Into(t, http.StatusOK, &it)
	if it.ID != other.ID || it.Attempt != 2 {
		t.Errorf("%+v", it)
	}
	w.live(1000)
	// A text of 5 s and a picture of 10 s; a script, a voice of 6 s and four clips of 90 s; and
	// a minute of composing.
	follow(t, w, w.Call(http.MethodPost, "/v1/content-items",
		w.body("factory_id", w.makeFactory(object{"type": "blogger", "name": "Blog"}))), "75").Into(t,
		http.StatusOK, &it)
	follow(t, w, w.Call(http.MethodPost, "/v1/content-items", w.body("factory_id", it.FactoryID, "kind", "video")),
		"431").Into(t, http.StatusOK, &it)
}
