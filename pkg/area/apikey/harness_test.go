package apikey_test

import (
	"crypto/rand"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
)

// world is an account with a live key that calls the operations.
type world struct {
	*servicetest.World
	accounts *account.Service
	keys     *apikey.Service
	account  account.Account
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.New(t)}
	w.accounts = account.NewService(w.DB, w.Now)
	w.keys = apikey.NewService(w.DB, w.accounts, w.Now, rand.Reader)
	name := "Acme"
	var err error
	if w.account, err = w.accounts.Create(t.Context(), account.Settings{Name: &name}); err != nil {
		t.Fatal(err)
	}
	k, err := w.keys.Issue(t.Context(), tenant.Account(w.account.ID), tenant.Live,
		apikey.Settings{Name: "First", Scopes: auth.AllScopes()})
	if err != nil {
		t.Fatal(err)
	}
	w.Caller = w.with(k, auth.AllScopes()...)
	w.Clock.Add(time.Second) // so that later resources sort behind it
	return w
}

// with returns a caller with a key of the account.
func (w *world) with(k apikey.NewKey, scopes ...auth.Scope) *apitest.Caller {
	c := apitest.New(w.T, w.DB, w.Log, w.Now, w.keys)
	return c.As(func(p *auth.Principal) {
		p.Account, p.Actor, p.Mode, p.Scopes = tenant.Account(w.account.ID), auth.Key(k.ID), k.Kind, scopes
	})
}

type object = map[string]any

// body is a body that creates a key; members are pairs that change it.
func body(members ...any) object {
	b := object{"name": "CRM", "kind": "test", "scopes": []string{"content:read"}}
	return servicetest.Body(b, members...)
}

// create makes a key through the API.
func (w *world) create(members ...any) apikey.NewKey {
	w.T.Helper()
	var k apikey.NewKey
	w.Call(http.MethodPost, "/v1/api-keys", body(members...)).Into(w.T, http.StatusCreated, &k)
	w.Clock.Add(time.Second)
	return k
}

func path(k apikey.NewKey) string { return "/v1/api-keys/" + k.ID }

// get reads a key through the API.
func (w *world) get(k apikey.NewKey) apikey.Key {
	w.T.Helper()
	var got apikey.Key
	w.Call(http.MethodGet, path(k), nil).Into(w.T, http.StatusOK, &got)
	return got
}

// patch changes a key through the API.
func (w *world) patch(k apikey.NewKey, body any, headers ...string) apikey.Key {
	w.T.Helper()
	var got apikey.Key
	w.Call(http.MethodPatch, path(k), body, headers...).Into(w.T, http.StatusOK, &got)
	return got
}

// rotate replaces the secret of a key through the API.
func (w *world) rotate(k apikey.NewKey, overlap time.Duration) apikey.NewKey {
	w.T.Helper()
	var got apikey.NewKey
	w.Call(http.MethodPost, path(k)+"/rotate", object{"overlap_seconds": int(overlap.Seconds())}).Into(w.T,
		http.StatusCreated, &got)
	return got
}

// secret returns the authorizer's view of a secret, and reports whether it still works.
func (w *world) secret(secret string) (s *credential.Credential, works bool) {
	w.T.Helper()
	s, err := credential.NewCounter(w.DB, w.Now).Count(w.T.Context(), auth.HashKey(secret),
		w.Now().Unix()/60, "203.0.113.9")
	if err != nil {
		w.T.Fatal(err)
	}
	return s, !s.Ended(w.Now())
}

// works checks which of secrets still work.
func (w *world) works(want bool, secrets ...string) {
	w.T.Helper()
	for i, secret := range secrets {
		if s, works := w.secret(secret); works != want {
			w.T.Errorf("secret %d works: %v; %+v", i, works, *s)
		}
	}
}

// rejectedCall is an input that is refused.
type rejectedCall struct {
	name, method, path string
	body               any
	status             int
	code               errs.Code
	param              string
}

// refused makes calls that must be refused and change nothing.
func (w *world) refused(c *apitest.Caller, all []rejectedCall) {
	for _, r := range all {
		w.T.Run(r.name, func(t *testing.T) {
			before := storetest.Snapshot(t, w.DB)
			c.Call(r.method, r.path, r.body).Refused(t, r.status, r.code, r.param)
			if storetest.Snapshot(t, w.DB) != before {
				t.Error("it has changed something")
			}
		})
	}
}
