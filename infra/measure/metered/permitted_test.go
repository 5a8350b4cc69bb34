package metered

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/permit"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/api"
)

// The example of each operation is carried out with the permissions of its function.
func TestEveryOperationIsPermitted(t *testing.T) {
	w := filled(t)
	for _, route := range api.Routes() {
		e := w.Examples()[route.OperationID]
		r, err := w.Prepare(t.Context(), route.OperationID)
		var made Answer
		if err == nil {
			made, err = w.Call(t.Context(), r)
		}
		if err == nil && e.Undo != "" {
			err = w.undo(t.Context(), e, r.ID, made.Data)
		}
		if err != nil {
			t.Errorf("%s: %v", route.OperationID, err)
		}
	}
}

func TestACallWithoutPermissionFails(t *testing.T) {
	w := filled(t)
	for table, use := range map[permit.Table]topology.Use{permit.State: topology.Update, permit.Audit: topology.Put} {
		f := w.functions["factory"]
		without := func(all []topology.Use) []topology.Use {
			return slices.DeleteFunc(slices.Clone(all), func(u topology.Use) bool { return u == use })
		}
		if table == permit.State {
			f.State = without(f.State)
		} else {
			f.Audit = without(f.Audit)
		}
		was := w.functions["factory"]
		w.functions["factory"] = f
		_, err := w.Call(t.Context(), Request{Operation: "createFactory", Body: w.Examples()["createFactory"].Body})
		w.functions["factory"] = was
		want := "factory makes the call " + string(use) + " without permission: add "
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
}
