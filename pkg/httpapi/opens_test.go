package httpapi_test

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// An operation that declares nothing is left to people by each mandate, whatever the mandate leaves to them, and to
// auditors it is closed, also if it only reads.
func TestAnOperationWithoutADeclarationOpensEverything(t *testing.T) {
	f := newFixture(t)
	for _, act := range auth.AllActs() {
		f.caller.Mandate = &auth.Mandate{ID: "key_x:1", NeedsPerson: []auth.Act{act}}
		for method, body := range map[string]string{"GET": "", "POST": `{"name":"a"}`} {
			if a := f.call(method, "/v1/things", body); a.status != 403 ||
				a.code() != string(errs.PersonRequired) {
				t.Errorf("%s with %s left to people: %d %s", method, act, a.status, a.code())
			}
		}
	}
	f.caller.Mandate = &auth.Mandate{ID: "key_x:1"}
	if a := f.call("GET", "/v1/things", ""); a.status != 200 {
		t.Errorf("with a mandate that leaves nothing to people: %d %s", a.status, a.code())
	}
	f.caller.Actor, f.caller.Role = auth.Actor{Kind: auth.Person, ID: "usr_x"}, auth.Auditor
	if a := f.call("GET", "/v1/things", ""); a.status != 403 || a.code() != string(errs.InsufficientScope) {
		t.Errorf("by an auditor: %d %s", a.status, a.code())
	}
}

func TestWhatIsOpenedSaysWhatPeopleDo(t *testing.T) {
	for of, want := range map[httpapi.Opens][]auth.Act{
		0:                {auth.ActInvite, auth.ActDelete, auth.ActSpend, auth.ActPublish},
		httpapi.Nothing:  nil,
		httpapi.Address:  {auth.ActInvite},
		httpapi.Copy:     {auth.ActInvite},
		httpapi.Spending: nil, httpapi.Publishing: nil,
		httpapi.Credential | httpapi.Right:    {auth.ActInvite},
		httpapi.Deletion | httpapi.Publishing: {auth.ActDelete},
	} {
		if got := of.Acts(); !slices.Equal(got, want) {
			t.Errorf("what opens %s does %v, want %v", of, got, want)
		}
	}
}
