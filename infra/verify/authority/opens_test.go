package authority

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
)

// leaving makes a key with all scopes whose mandate leaves acts to people.
func (w *world) leaving(acts ...auth.Act) key {
	w.t.Helper()
	return w.key(auth.AllScopes(), "mandate", metered.Object{"needs_person": acts})
}

// A mandate stops each operation that opens what it leaves to people, and no other one.
func TestB3AMandateStopsWhateverOpens(t *testing.T) {
	w := newWorld(t)
	keys := map[auth.Act]key{}
	for _, act := range []auth.Act{auth.ActInvite, auth.ActDelete, auth.ActPublish} {
		keys[act] = w.leaving(act)
	}
	for _, operation := range w.operations() {
		route, r := w.Routes[operation], w.prepare(operation)
		if route.Scope == auth.PersonScope {
			continue
		}
		acts := route.Opens.Acts()
		if route.Scope == auth.ContentPublish {
			acts = append(acts, auth.ActPublish)
		}
		before := w.data()
		for act, k := range keys {
			if !slices.Contains(acts, act) {
				continue
			}
			if a := w.send(r, k.Secret); !isRefused(a, 403, "person_required") {
				t.Errorf("%s, which opens %s, with %s left to people: %d %s", operation, route.Opens, act, a.Status, a.Body)
			}
		}
		w.unchanged(operation, "keys with a mandate", before)
		for act, k := range keys {
			conditional := act == auth.ActPublish && route.Opens.Has(httpapi.Publishing)
			if conditional || len(acts) > 0 {
				continue
			}
			if a := w.send(r, k.Secret); isRefused(a, 403, "person_required") {
				t.Errorf("%s, which opens %s, with %s left to people: %d %s", operation, route.Opens, act, a.Status, a.Body)
			}
			r = w.prepare(operation)
		}
	}
}

// The calls of the fourth review, each refused by the mandate that its agent had.
func TestB3TheBackDoorsOfAMandate(t *testing.T) {
	w := newWorld(t)
	agent := w.leaving(auth.AllActs()...)
	for operation, body := range map[string]metered.Object{
		"updateWebhook":       {"url": "https://8.8.4.4/evil"},
		"rotateWebhookSecret": nil,
		"createExport":        {},
		"createApplication":   nil,
		"updateApplication":   nil,
		"updateApiKey":        {"ip_allow_list": []string{"203.0.113.0/24"}},
		"rotateApiKey":        nil,
		"createImport":        nil,
		"getExport":           nil,
		"createReviewLink":    nil,
	} {
		r := w.prepare(operation)
		if body != nil {
			r.Body = body
		}
		before := w.data()
		if a := w.send(r, agent.Secret); !isRefused(a, 403, "person_required") {
			t.Errorf("%s: %d %s", operation, a.Status, a.Body)
		}
		w.unchanged(operation, "an agent", before)
	}
}

// What a mandate leaves to people is left to them whatever the method is.
func TestB11DeletingIsNoMethod(t *testing.T) {
	w := newWorld(t)
	agent := w.leaving(auth.ActDelete)
	before := w.data()
	if a := w.send(metered.Request{Operation: "resetSandbox", Body: metered.Object{}}, agent.Secret); !isRefused(a, 403,
		"person_required") {
		t.Errorf("emptying the sandbox: %d %s", a.Status, a.Body)
	}
	w.unchanged("resetSandbox", "an agent", before)
}

// account:manage alone exports nothing, and a key with the scopes of all kinds of an export does.
func TestB6AnExportNeedsWhatItHas(t *testing.T) {
	w := newWorld(t)
	route := w.Routes["createExport"]
	need := append([]auth.Scope{route.Scope}, route.Also...)
	for _, missing := range need {
		k := w.key(slices.DeleteFunc(slices.Clone(auth.AllScopes()), func(s auth.Scope) bool { return s == missing }))
		for _, operation := range []string{"createExport", "getExport"} {
			if a := w.send(w.prepare(operation), k.Secret); !isRefused(a, 403, "insufficient_scope") {
				t.Errorf("%s without %s: %d %s", operation, missing, a.Status, a.Body)
			}
		}
	}
	alone := w.key([]auth.Scope{auth.AccountManage})
	if a := w.send(w.prepare("createExport"), alone.Secret); !isRefused(a, 403, "insufficient_scope") {
		t.Errorf("with account:manage alone: %d %s", a.Status, a.Body)
	}
	if a := w.send(w.prepare("createExport"), w.key(need).Secret); a.Status != http.StatusAccepted {
		t.Errorf("with the scopes of all kinds: %d %s", a.Status, a.Body)
	}
}
