package studio_test

import (
	"net/http"
	"testing"
	"time"
)

// The estimate of the studio has a successor, which its answers name.
func TestTheEstimateOfTheStudioNamesItsSuccessor(t *testing.T) {
	w := newWorld(t)
	a := w.Call(http.MethodPost, "/v1/studio/estimates", object{"kind": "image", "input": object{"prompt": "A shoe"}})
	if a.Status != http.StatusOK || a.Header.Get("Link") != `</v1/balance/estimates>; rel="successor-version"` ||
		a.Header.Get("Deprecation") != "@1796083200" {
		t.Errorf("%d %v", a.Status, a.Header)
	}
	ends, err := http.ParseTime(a.Header.Get("Sunset"))
	if err != nil || ends.Sub(time.Unix(1796083200, 0)) < 180*24*time.Hour {
		t.Errorf("it ends %s: %v", a.Header.Get("Sunset"), err)
	}
}
