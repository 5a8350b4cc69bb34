package auth_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// people authorizes calls of people.
type people struct {
	t      *testing.T
	issuer *signintest.Issuer
	table  secrets
	inner  *authorizer.Authorizer
}

func newPeople(t *testing.T, c credential.Credential) *people {
	t.Helper()
	clock := func() time.Time { return now }
	w := &people{t: t, issuer: signintest.New(clock)}
	w.table.known = map[string]credential.Credential{auth.Subject(w.issuer.Settings().Pool, "sub-1"): c}
	w.inner = authorizer.New(&w.table, w.issuer.Verifier(), authorizer.Scopes, clock)
	return w
}

// call returns the principal of a call, which is nil if the call is denied outright.
func (w *people) call(method, resource, token string, mode ...string) *auth.Principal {
	w.t.Helper()
	c := callOf(method, resource, "authorization", "Bearer "+token)
	for _, m := range mode {
		c.Headers["x-account-mode"] = m
	}
	got, err := w.inner.Handle(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	if got.PolicyDocument.Statement[0].Effect == "Deny" {
		return nil
	}
	p, err := auth.Decode(got.Context)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// person is the credential of a person of whom every call is permitted.
func person(role auth.Role) credential.Credential {
	c := credential.Credential{KeyID: "usr_1", Owner: tenant.Of("acc_1", tenant.Live), Plan: "enterprise",
		Role: string(role), Limit: 600, Count: 1}
	for _, s := range role.Scopes() {
		c.Scopes = append(c.Scopes, string(s))
	}
	return c
}

func TestAPersonIsAllowed(t *testing.T) {
	w := newPeople(t, person(auth.Admin))
	for mode, want := range map[string]tenant.Mode{"": tenant.Live, "live": tenant.Live, "test": tenant.Test} {
		var modes []string
		if mode != "" {
			modes = []string{mode}
		}
		p := w.call("GET", "/v1/content-items", w.issuer.Access("sub-1"), modes...)
		if p == nil || p.Denial != nil || p.Owner != tenant.Of("acc_1", want) || p.Role != auth.Admin ||
			p.Actor != (auth.Actor{Kind: auth.Person, ID: "usr_1"}) || !reflect.DeepEqual(p.Scopes, auth.AllScopes()) ||
			p.KeyID() != "" || p.Rate.Remaining != 599 {
			t.Errorf("mode %q: %+v", mode, p)
		}
	}
	if len(w.table.asked) != 3 || !strings.HasSuffix(w.table.asked[0], " 12:00:00 203.0.113.9") {
		t.Errorf("three calls took the look-ups %v", w.table.asked)
	}
	if n := w.issuer.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	for _, mode := range []string{"Test", "demo", ""} {
		p := w.call("GET", "/v1/content-items", w.issuer.Access("sub-1"), mode)
		if p == nil || p.Denial == nil || p.Denial.Code != errs.InvalidHeader ||
			!strings.Contains(p.Denial.Message, auth.ModeHeader) {
			t.Errorf("mode %q: %+v", mode, p)
		}
	}
}

func TestTokensOfNobodyAreDenied(t *testing.T) {
	w := newPeople(t, person(auth.Owner))
	claims := w.issuer.AccessClaims("sub-1")
	claims["client_id"] = "other"
	for name, token := range map[string]string{
		"another client":    w.issuer.Sign(claims),
		"an ID token":       w.issuer.Sign(w.issuer.IdentityClaims("sub-1", "ada@example.com", "")),
		"no longer a token": w.issuer.Access("sub-1") + "x",
	} {
		if p := w.call("GET", "/v1/content-items", token); p != nil || len(w.table.asked) > 0 {
			t.Errorf("%s: %+v, looked up %v", name, p, w.table.asked)
		}
	}
	if p := w.call("GET", "/v1/content-items", w.issuer.Access("sub-2")); p != nil || len(w.table.asked) != 1 {
		t.Errorf("a stranger: %+v", p)
	}
}

func TestRefusalsOfAPerson(t *testing.T) {
	for code, spoil := range map[errs.Code]func(*credential.Credential){
		errs.InvalidAPIKey:     func(c *credential.Credential) { c.Revoked = true },
		errs.PlanNotAllowed:    func(c *credential.Credential) { c.Plan = "starter" },
		errs.InsufficientScope: func(c *credential.Credential) { *c = person(auth.Auditor) },
		errs.RateLimited:       func(c *credential.Credential) { c.Count = 601 },
	} {
		c := person(auth.Owner)
		spoil(&c)
		w := newPeople(t, c)
		p := w.call("POST", "/v1/content-items", w.issuer.Access("sub-1"))
		if p == nil || p.Denial == nil || p.Denial.Code != code || strings.Contains(p.Denial.Message, "svc_") {
			t.Errorf("%s: %+v", code, p)
		}
	}
}

// Pages call with the address of the account area, and their people may be anywhere.
func TestAllowListsDoNotApplyToPeople(t *testing.T) {
	c := person(auth.Owner)
	c.AccountIPs, c.KeyIPs = []string{"10.0.0.0/8"}, []string{"10.0.0.0/8"}
	w := newPeople(t, c)
	if p := w.call("GET", "/v1/content-items", w.issuer.Access("sub-1")); p == nil || p.Denial != nil {
		t.Errorf("%+v", p)
	}
}

func TestTheIssuersKeysCannotBeFetched(t *testing.T) {
	w := newPeople(t, person(auth.Owner))
	w.issuer.Down.Store(true)
	p := w.call("GET", "/v1/content-items", w.issuer.Access("sub-1"))
	if p == nil || p.Identified() || p.Denial.Code != errs.ProviderUnavailable {
		t.Errorf("%+v", p)
	}
}

// An auditor reads everything and changes nothing.
func TestAnAuditorAtEveryOperation(t *testing.T) {
	w := newPeople(t, person(auth.Auditor))
	token := w.issuer.Access("sub-1")
	changing := 0
	for operation, scope := range authorizer.Scopes {
		method, path, _ := strings.Cut(operation, " ")
		p := w.call(method, path, token)
		// The operations for people decide by the role themselves.
		// An estimate, the check of a file and the preview of a template change nothing.
		reads := method == http.MethodGet || scope == auth.AccountRead || scope == auth.ContentRead ||
			scope == auth.FactoriesRead
		refused := !reads && scope != auth.PersonScope
		if p == nil || (p.Denial != nil) != refused || refused && p.Denial.Code != errs.InsufficientScope {
			t.Errorf("%s: %+v", operation, p)
		}
		if refused {
			changing++
		}
	}
	if changing < 40 {
		t.Errorf("only %d operations change something", changing)
	}
}

// A key may call no operation for people, whatever its scopes.
func TestAKeyAtOperationsForPeople(t *testing.T) {
	key, c := newKey(t, tenant.Live), good()
	for _, s := range auth.AllScopes() {
		c.Scopes = append(c.Scopes, string(s))
	}
	c.Scopes = append(c.Scopes, string(auth.PersonScope))
	w := newPeople(t, person(auth.Owner))
	w.table.known[auth.HashKey(key)] = c
	found := false
	for operation, scope := range authorizer.Scopes {
		if scope != auth.PersonScope {
			continue
		}
		found = true
		method, path, _ := strings.Cut(operation, " ")
		if p := w.call(method, path, key); p == nil || p.Denial == nil || p.Denial.Code != errs.PersonRequired {
			t.Errorf("%s: %+v", operation, p)
		}
	}
	if !found {
		t.Error("there are no operations for people")
	}
}
