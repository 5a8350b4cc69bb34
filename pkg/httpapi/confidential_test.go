package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// token is a resource with a secret that grants studio:use.
type token struct {
	Name    string         `json:"name"`
	Secret  string         `json:"secret"`
	ShownAt *resource.Time `json:"secret_shown_at,omitempty"`
}

func (v token) Concealed(made resource.Time) any {
	v.ShownAt = &made
	return struct {
		token
		Secret *string `json:"secret"`
	}{token: v}
}

func (token) Grants() []auth.Scope { return []auth.Scope{auth.StudioUse} }

// issuing is a fixture with operations that make tokens.
type issuing struct {
	*fixture
	clock *apitest.Clock
	made  int
	// reject is the error that the operations fail with.
	reject error
}

func newIssuing(t *testing.T) *issuing {
	w := &issuing{clock: apitest.NewClock()}
	w.fixture = newFixtureAt(t, w.clock.Now)
	issue := func() (token, error) {
		if w.reject != nil {
			return token{}, w.reject
		}
		w.made++
		return token{Name: "a", Secret: fmt.Sprint("hush-", w.made)}, nil
	}
	op := httpapi.Op{ID: "issueToken", Method: http.MethodPost, Path: "/v1/tokens", Scope: auth.FactoriesWrite,
		Function: "things", Status: http.StatusCreated}
	httpapi.Write(w.router, op, func(context.Context, *store.Tx, *struct{}) (token, error) { return issue() })
	op.ID, op.Path = "orderToken", "/v1/tokens/order"
	httpapi.Act(w.router, op, httpapi.Action[struct{}, string, string, token]{
		Within: 20 * time.Second, Queue: topology.GenerateText,
		Prepare: func(context.Context, *store.Tx, *struct{}) (string, error) { return "", w.reject },
		Do:      func(context.Context, string) (string, error) { return "", nil },
		Settle:  func(context.Context, *store.Tx, string, string) (token, error) { return issue() },
	})
	return w
}

var tokenPaths = []string{"/v1/tokens", "/v1/tokens/order"}

func TestASecretIsRepeatedForTenMinutes(t *testing.T) {
	for _, path := range tokenPaths {
		w := newIssuing(t)
		first := w.call("POST", path, "", orderKey...)
		if first.status != http.StatusCreated || string(first.Data) != `{"name":"a","secret":"hush-1"}` {
			t.Fatalf("%s: %d %s", path, first.status, first.raw)
		}
		if table := storetest.Snapshot(t, w.things.db); strings.Contains(table, "hush") {
			t.Errorf("%s: the table has the secret in clear", path)
		}
		w.clock.Add(10*time.Minute - time.Millisecond)
		again := w.call("POST", path, "", orderKey...)
		if again.raw != first.raw || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: within ten minutes %d %s, at first %s", path, again.status, again.raw, first.raw)
		}
		for _, later := range []time.Duration{time.Millisecond, 23 * time.Hour} {
			w.clock.Add(later)
			late := w.call("POST", path, "", orderKey...)
			if late.status != http.StatusCreated || late.header.Get("Idempotent-Replayed") != "true" ||
				string(late.Data) != `{"name":"a","secret_shown_at":"2026-05-01T12:00:00.000Z","secret":null}` {
				t.Errorf("%s: after ten minutes %d %s", path, late.status, late.raw)
			}
		}
	}
}

// The clock may be late, the item of the secret removed early: the repeat is answered.
func TestASecretThatIsRemovedEarlyIsLeftOut(t *testing.T) {
	w := newIssuing(t)
	w.call("POST", "/v1/tokens", "", orderKey...)
	tx := &store.Tx{}
	for _, row := range w.answersKept() {
		if strings.HasSuffix(row["pk"], "#secret") {
			tx.Delete(store.Item{Key: store.Key{PK: row["pk"], SK: row["sk"]}, Version: 1})
		}
	}
	if err := w.things.db.Commit(t.Context(), tx); err != nil || tx.Len() != 1 {
		t.Fatal(tx.Len(), err)
	}
	if a := w.call("POST", "/v1/tokens", "", orderKey...); a.status != http.StatusCreated ||
		!strings.Contains(a.raw, `"secret":null`) {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestARepeatNeedsWhatItsSecretGrants(t *testing.T) {
	unequal := errs.New(errs.VersionMismatch, "It has changed.")
	for _, path := range tokenPaths {
		for _, failure := range []error{nil, unequal, errs.New(errs.InvalidState, "It has been done."),
			errors.New("defect")} {
			w := newIssuing(t)
			first := w.call("POST", path, "", orderKey...)
			w.reject = failure
			if again := w.call("POST", path, "", orderKey...); again.raw != first.raw {
				t.Errorf("%s, %v: %d %s", path, failure, again.status, again.raw)
			}
			w.caller.Scopes = []auth.Scope{auth.FactoriesWrite}
			for range 2 {
				if a := w.call("POST", path, "", orderKey...); a.status != http.StatusForbidden ||
					a.code() != "scope_escalation" {
					t.Errorf("%s, %v, a caller without the scope: %d %s", path, failure, a.status, a.raw)
				}
				w.clock.Add(time.Hour)
			}
		}
	}
}

func TestARefusedCallerGetsNoEarlierAnswer(t *testing.T) {
	for _, code := range []errs.Code{errs.ScopeEscalation, errs.InsufficientScope, errs.IPNotAllowed,
		errs.PlanNotAllowed} {
		for _, path := range tokenPaths {
			w := newIssuing(t)
			w.call("POST", path, "", orderKey...)
			w.reject = errs.New(code, "You may not.")
			if a := w.call("POST", path, "", orderKey...); a.status != http.StatusForbidden ||
				a.code() != string(code) {
				t.Errorf("%s: %d %s, want %s", path, a.status, a.raw, code)
			}
		}
	}
}

func TestARepeatOfAnotherCallerIsANewCall(t *testing.T) {
	for _, path := range append(tokenPaths, "/v1/things") {
		w := newIssuing(t)
		seen := map[string]bool{}
		for _, actor := range []auth.Actor{auth.Key("key_1"), auth.Key("key_2"), {Kind: auth.Person, ID: "key_1"}} {
			w.caller.Actor = actor
			body := ""
			if path == "/v1/things" {
				body = `{"name":"a"}`
			}
			first := w.call("POST", path, body, orderKey...)
			if first.status != http.StatusCreated || seen[first.raw] || first.header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s by %s %s: %d %s", path, actor.Kind, actor.ID, first.status, first.raw)
			}
			seen[first.raw] = true
			if again := w.call("POST", path, body, orderKey...); again.raw != first.raw ||
				again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s repeated by %s %s: %d %s", path, actor.Kind, actor.ID, again.status, again.raw)
			}
		}
	}
}
