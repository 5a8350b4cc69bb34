package area_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/area/studio"
)

func TestAcceptedGenerationsSayWhereAndWhenToLook(t *testing.T) {
	w := newStudioWorld(t)
	w.TopUp(1000)
	for path, seconds := range map[string]string{"videos": "91", "images": "11", "music": "41", "voices": "7",
		"avatars": "121"} {
		live := w.Live()
		a := live.Call(http.MethodPost, "/v1/studio/"+path, bodies[path].body)
		var made, shown studio.Generation
		a.Into(t, http.StatusAccepted, &made)
		live.Call(http.MethodGet, a.Header.Get("Location"), nil).Into(t, http.StatusOK, &shown)
		var estimate studio.Estimate
		live.Call(http.MethodPost, "/v1/studio/estimates",
			object{"kind": made.Kind, "input": bodies[path].body}).Into(t, http.StatusOK, &estimate)
		if made.ReservedCredits != estimate.Credits || shown.ReservedCredits != estimate.Credits ||
			estimate.Credits <= 0 {
			t.Errorf("%s: estimated %+v, reserved %+v", path, estimate, made)
		}
		live.Call(http.MethodDelete, a.Header.Get("Location"), nil).Into(t, http.StatusOK, &made)
		if made.State != studio.Canceled || made.ReservedCredits != 0 {
			t.Errorf("%s: canceled %+v", path, made)
		}
		if shown.ID != made.ID || a.Header.Get("Retry-After") != seconds {
			t.Errorf("%s: %+v, Retry-After %q", path, shown, a.Header.Get("Retry-After"))
		}
	}
	a := w.Call(http.MethodPost, "/v1/studio/images",
		object{"prompt": "A shoe", "sandbox": object{"delay_seconds": 60}})
	if a.Header.Get("Retry-After") != "62" {
		t.Errorf("a rehearsal answers %v", a.Header)
	}
}
