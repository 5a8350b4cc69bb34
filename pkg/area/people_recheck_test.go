package area_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
)

// A person who loses a role starts the tasks, one for each mode, that end what acts on their behalf.
func TestAPersonWhoLosesARoleIsRechecked(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		body   any
		want   int
	}{
		"removed":   {http.MethodDelete, nil, 2},
		"demoted":   {http.MethodPatch, object{"role": "auditor"}, 2},
		"as before": {http.MethodPatch, object{"metadata": object{"a": "b"}}, 0},
	} {
		w := newPeopleWorld(t)
		dev := w.join("dev@example.com", auth.Developer)
		if a := w.Call(c.method, "/v1/people/"+dev.ID, c.body); a.Error != nil {
			t.Fatalf("%s: %s", name, a.Raw)
		}
		got := 0
		for _, row := range storetest.Rows(t, w.DB) {
			if strings.HasPrefix(row["pk"], "task#authority.recheck#"+dev.ID) {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d rechecks are started", name, got)
		}
	}
}
