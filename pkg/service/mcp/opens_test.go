package mcp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/tenant"
)

// Agents call no operation that gives keys rights. With a live key they are asked before each that opens something,
// also if it only reads.
func TestWhatOpensIsForPeopleOrAsked(t *testing.T) {
	var all []operation
	if err := json.Unmarshal(operationsJSON, &all); err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.Scope != "person" && slices.Contains(o.Opens, "right") != forPeople[o.ID] {
			t.Errorf("%s opens %v, and is for people: %v", o.ID, o.Opens, forPeople[o.ID])
		}
		if free[o.ID] && len(o.Opens) > 0 {
			t.Errorf("%s is free, and opens %v", o.ID, o.Opens)
		}
	}
	called := ""
	f := fake(func(r *http.Request, _ string) (int, string) {
		called = r.URL.Path
		return 200, ok(`{"id":"xpt_1"}`)
	})
	arguments := object{"operation_id": "getExport", "path": object{"export_id": "xpt_1"}}
	text, _ := use(t, f, newKey(t, tenant.Live), "call_operation", arguments)
	if confirmationIn(text) == "" || !strings.Contains(text, "What it opens: copy.") || strings.Contains(called, "export") {
		t.Errorf("the links of an export are shown: %q, %s", called, text)
	}
}
