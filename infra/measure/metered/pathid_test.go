package metered

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/service/api"
)

// TestMalformedIDsAreNotFound calls each operation with malformed ids, which cannot form a key of the table, in
// each place of its path.
func TestMalformedIDsAreNotFound(t *testing.T) {
	w := filled(t)
	odd := map[string]string{
		"too long": "fac_" + strings.Repeat("x", 2096), "another kind": id.New(id.AuditEntry, w.Now()),
		"a separator": "fac%2301h455vb4pex5vsknk084sn02q", "no UTF-8": "%ff",
	}
	places := 0
	for _, route := range api.Routes() {
		n := strings.Count(route.Path, "{")
		if n == 0 {
			continue
		}
		r, err := w.Prepare(t.Context(), route.OperationID)
		if err != nil {
			t.Fatal(err)
		}
		for place := range n {
			places++
			for name, value := range odd {
				spoilt := r
				*[]*string{&spoilt.ID, &spoilt.Part}[place] = value
				a, err := w.Send(t.Context(), spoilt)
				if err != nil {
					t.Fatal(err)
				}
				if a.Status != 404 || !strings.Contains(a.Body, `"code":"`+string(errs.NotFound)+`"`) {
					t.Errorf("%s, parameter %d, %s: %d %s", route.OperationID, place, name, a.Status, a.Body)
				}
			}
		}
	}
	if places < 50 {
		t.Errorf("only %d paths have ids", places)
	}
}
