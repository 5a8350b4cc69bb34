package authority

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
)

// world is a service with an account that has one of everything.
type world struct {
	*metered.World
	t *testing.T
}

func TestMain(m *testing.M) {
	metered.Quiet()
	m.Run()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	m, err := metered.NewWith(t.Context(), metered.Settings{Account: "Acme", Agent: "authority/1.0", Listed: 2,
		Clock: time.Date(2026, 11, 2, 9, 0, 1, 0, time.UTC), Tick: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &world{m, t}
}

// operations are the ids of all operations, in their order.
func (w *world) operations() []string { return slices.Sorted(maps.Keys(w.Routes)) }

func (w *world) prepare(operation string) metered.Request {
	w.t.Helper()
	r, err := w.Prepare(w.t.Context(), operation)
	if err != nil {
		w.t.Fatalf("%s: %v", operation, err)
	}
	r.Live = false
	return r
}

// send makes a call with a key or an access token.
func (w *world) send(r metered.Request, credential string, headers ...string) metered.Response {
	w.t.Helper()
	r.Key, r.Header = credential, maps.Clone(r.Header)
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header[headers[i]] = headers[i+1]
	}
	out, err := w.Send(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// key is an API key that a test has made.
type key struct{ ID, Secret string }

// key makes a test key with scopes.
func (w *world) key(scopes []auth.Scope, members ...any) (made key) {
	w.t.Helper()
	body := metered.Object{"name": "matrix", "kind": "test", "scopes": scopes}
	for i := 0; i < len(members); i += 2 {
		body[members[i].(string)] = members[i+1]
	}
	a, err := w.Call(w.t.Context(), metered.Request{Operation: "createApiKey", Body: body})
	if err == nil {
		err = json.Unmarshal(a.Data, &made)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// counted are the kinds of items without a document that each call may write, also one that is refused.
var counted = []string{"secret", "usage", "calls", "attempts"}

// data returns the documents that are stored, without what each call may write.
func (w *world) data() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	for _, row := range storetest.Rows(w.t, w.State) {
		if !slices.Contains(counted, row["kind"]) {
			all[row["pk"]+" "+row["sk"]] = row["doc"]
		}
	}
	return all
}

// unchanged fails the test if the refused calls of an operation have changed something.
func (w *world) unchanged(operation, who string, before map[string]string) {
	w.t.Helper()
	after := w.data()
	for at := range after {
		if before[at] != after[at] {
			w.t.Errorf("%s: refused calls of %s change %s:\n%s\n%s", operation, who, at, before[at], after[at])
		}
	}
	for at := range before {
		if _, ok := after[at]; !ok {
			w.t.Errorf("%s: refused calls of %s delete %s", operation, who, at)
		}
	}
}

// isRefused reports whether an answer is a refusal with a code.
func isRefused(a metered.Response, status int, code string) bool {
	return a.Status == status && strings.Contains(a.Body, `"code":"`+code+`"`)
}

// reads reports whether an operation changes nothing: its question may be in a body.
func reads(route httpapi.Route) bool {
	return route.Method == http.MethodGet || route.OperationID == "verifyProvenance" ||
		route.OperationID == "previewTemplate" // which draws what there is
}

// Each operation is refused to a key without its scope, whatever else the key has, and takes a key that has it.
func TestEveryOperationNeedsItsScope(t *testing.T) {
	w := newWorld(t)
	only, without := map[auth.Scope]key{}, map[auth.Scope]key{}
	for _, scope := range auth.AllScopes() {
		only[scope] = w.key([]auth.Scope{scope})
		without[scope] = w.key(slices.DeleteFunc(auth.AllScopes(), func(s auth.Scope) bool { return s == scope }))
	}
	for _, operation := range w.operations() {
		route, r := w.Routes[operation], w.prepare(operation)
		before := w.data()
		for scope, k := range only {
			want := "insufficient_scope"
			if route.Scope == auth.PersonScope {
				want = "person_required"
			}
			if scope == route.Scope {
				continue
			}
			if a := w.send(r, k.Secret); !isRefused(a, 403, want) {
				t.Errorf("%s with %s alone: %d %s", operation, scope, a.Status, a.Body)
			}
		}
		if route.Scope == auth.PersonScope {
			w.unchanged(operation, "keys", before)
			continue
		}
		if a := w.send(r, without[route.Scope].Secret); !isRefused(a, 403, "insufficient_scope") {
			t.Errorf("%s with all scopes but %s: %d %s", operation, route.Scope, a.Status, a.Body)
		}
		w.unchanged(operation, "keys without "+string(route.Scope), before)
		if a := w.send(r, only[route.Scope].Secret); strings.Contains(a.Body, auth.MessageScope(route.Scope)) {
			t.Errorf("%s with its scope: %d %s", operation, a.Status, a.Body)
		}
	}
}

// A principal that has ended gets the same refusal of every operation, and changes nothing.
func TestWhoHasEndedIsRefusedEverywhere(t *testing.T) {
	w := newWorld(t)
	revoked, rotated := w.key(auth.AllScopes()), w.key(auth.AllScopes())
	expired := w.key(auth.AllScopes(), "expires_at", w.Now().Add(time.Hour))
	id, removed, err := w.AddPerson(t.Context(), auth.Developer, "removed")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []metered.Request{{Operation: "revokeApiKey", ID: revoked.ID},
		{Operation: "rotateApiKey", ID: rotated.ID, Body: metered.Object{"overlap_seconds": 0}},
		{Operation: "removePerson", ID: id}} {
		if _, err := w.Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	w.Clock = w.Clock.Add(2 * time.Hour)
	for _, operation := range w.operations() {
		r := w.prepare(operation)
		before := w.data()
		for who, credential := range map[string]string{"a revoked key": revoked.Secret, "an expired key": expired.Secret,
			"a rotated secret": rotated.Secret, "a removed person": removed, "nobody": "svc_test_x"} {
			if a := w.send(r, credential); a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, "invalid_api_key") {
				t.Errorf("%s by %s: %d %s", operation, who, a.Status, a.Body)
			}
		}
		w.unchanged(operation, "ended principals", before)
	}
}

// An auditor reads what there is, changes nothing, and gets no copy that needs no key; a developer changes neither
// people nor sign-on.
func TestEveryOperationByRole(t *testing.T) {
	w := newWorld(t)
	tokens := map[auth.Role]string{}
	for _, role := range auth.Roles {
		_, token, err := w.AddPerson(t.Context(), role.Role, "person-"+string(role.Role))
		if err != nil {
			t.Fatal(err)
		}
		tokens[role.Role] = token
	}
	for _, operation := range w.operations() {
		route, r := w.Routes[operation], w.prepare(operation)
		before := w.data()
		for _, role := range []auth.Role{auth.Auditor, auth.Developer} {
			if role == auth.Developer && route.Scope != auth.PersonScope {
				continue
			}
			a := w.send(r, tokens[role], auth.ModeHeader, "test")
			switch {
			case reads(route) && route.Opens == httpapi.Nothing && route.Scope != auth.PersonScope &&
				isRefused(a, 403, "insufficient_scope"):
				t.Errorf("%s by the role %s: %d %s", operation, role, a.Status, a.Body)
			case (!reads(route) || route.Opens != httpapi.Nothing) && a.Status != http.StatusForbidden:
				t.Errorf("%s by the role %s: %d %s", operation, role, a.Status, a.Body)
			}
		}
		if !reads(route) {
			w.unchanged(operation, "roles that may not change it", before)
		}
		if operation == "resetSandbox" || operation == "removePerson" {
			continue // it would take what the others need
		}
		for _, role := range []auth.Role{auth.Owner, auth.Admin} {
			if a := w.send(r, tokens[role], auth.ModeHeader, "test"); isRefused(a, 403, "insufficient_scope") {
				t.Errorf("%s by the role %s: %d %s", operation, role, a.Status, a.Body)
			}
			r = w.prepare(operation)
		}
	}
}

// What is another account's, or of the other mode, does not exist.
func TestNothingOfOthersIsReached(t *testing.T) {
	w := newWorld(t)
	_, person, err := w.AddPerson(t.Context(), auth.Owner, "live")
	if err != nil {
		t.Fatal(err)
	}
	for _, operation := range w.operations() {
		route := w.Routes[operation]
		if !strings.Contains(route.Path, "{") || route.Scope == auth.PersonScope {
			continue
		}
		r := w.prepare(operation)
		before := w.data()
		if !ofKeys(route) {
			if a := w.send(r, person, auth.ModeHeader, "live"); a.Status != http.StatusNotFound {
				t.Errorf("%s in the other mode: %d %s", operation, a.Status, a.Body)
			}
		}
		other := r
		other.Live = true
		out, err := w.Send(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		if out.Status != http.StatusNotFound {
			t.Errorf("%s by another account: %d %s", operation, out.Status, out.Body)
		}
		w.unchanged(operation, "others", before)
	}
}

// ofKeys reports whether both modes of an account share what the operation is about.
func ofKeys(route httpapi.Route) bool { return strings.HasPrefix(route.Path, "/v1/api-keys") }
