package area_test

import (
	"net/http"
	"testing"
	"time"
)

// The estimate of the studio has a successor, which its answers name.
func TestTheEstimateOfTheStudioNamesItsSuccessor(t *testing.T) {
	w := newStudioWorld(t)
	a := w.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": "image", "input": object{"prompt": "A shoe"}})
	if a.Status != http.StatusOK || a.Header.Get("Link") != `</v1/balance/estimates>; rel="successor-version"` ||
		a.Header.Get("Deprecation") != "@1796083200" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	// A refusal says so, too, and so does its repeat.
	for _, body := range []object{{"kind": "image", "input": object{}}, {"kind": "image"}, {"kind": "none"}} {
		refused := w.Call(http.MethodPost, "/v1/studio/estimates", body)
		if h := refused.Header; refused.Status < 400 || h.Get("Link") != a.Header.Get("Link") ||
			h.Get("Deprecation") != a.Header.Get("Deprecation") || h.Get("Sunset") != a.Header.Get("Sunset") {
			t.Errorf("%v is refused with %d %v", body, refused.Status, h)
		}
	}
	ends, err := http.ParseTime(a.Header.Get("Sunset"))
	if err != nil || ends.Sub(time.Unix(1796083200, 0)) < 180*24*time.Hour {
		t.Errorf("it ends %s: %v", a.Header.Get("Sunset"), err)
	}
}
