package area_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestCommandsOfOperatorsAreListedForLiveKeys(t *testing.T) {
	w := newAuditWorld(t)
	command := audit.Command{Operator: "ada", Operation: "admin.account.update", Line: "admin account update acc_1",
		Account: w.Principal.Account, Began: w.Now()}
	if err := w.log.RecordCommand(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	command.Err = errs.New(errs.NotFound, "There is no account acc_1.")
	if err := w.log.RecordCommand(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	all := apitest.All[audit.Entry](w.Live(), "/v1/audit-log?operation_id=admin.account.update", 10)
	if len(all) != 2 {
		t.Fatalf("%d entries", len(all))
	}
	statuses := map[int]int{}
	for _, e := range all {
		statuses[e.Status]++
		if e.Actor != (audit.Actor{Kind: "operator", ID: "ada"}) || e.KeyID != nil ||
			e.Path != "admin account update acc_1" || e.Count != 1 || (e.Status == 404) != (e.ErrorCode != nil) {
			t.Errorf("%+v", e)
		}
	}
	if statuses[200] != 1 || statuses[404] != 1 {
		t.Errorf("statuses %v", statuses)
	}
	if raw := w.Live().Call("GET", "/v1/audit-log", nil).Raw; !strings.Contains(raw, `"key_id":null`) {
		t.Error(raw)
	}
	if n := len(apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 10)); n != 0 {
		t.Errorf("the test key lists %d entries", n)
	}
}
