package apikey_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
)

// A key that loses rights starts the task that ends what acts on its behalf. One that loses none starts nothing.
func TestAKeyThatLosesRightsIsRechecked(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		body   any
		want   bool
	}{
		"revoked":  {http.MethodDelete, nil, true},
		"narrowed": {http.MethodPatch, object{"scopes": []auth.Scope{auth.ContentRead}}, true},
		"renamed":  {http.MethodPatch, object{"name": "Another"}, false},
		"rotated":  {http.MethodPost, nil, false},
	} {
		w := newWorld(t)
		k := w.create("scopes", []auth.Scope{auth.ContentRead, auth.ContentWrite})
		path := "/v1/api-keys/" + k.ID
		if c.method == http.MethodPost {
			path += "/rotate"
		}
		if a := w.Call(c.method, path, c.body); a.Error != nil {
			t.Fatalf("%s: %s", name, a.Raw)
		}
		if got := strings.Contains(storetest.Snapshot(t, w.DB), "authority.recheck#"+k.ID); got != c.want {
			t.Errorf("%s: a recheck is started: %v", name, got)
		}
	}
}
