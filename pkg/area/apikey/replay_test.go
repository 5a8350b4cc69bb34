package apikey_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// A repeat returns the secret only to a caller that still has all that it grants, whatever
// the operation itself would answer now.
func TestADemotedKeyCannotRepeatItsWayBack(t *testing.T) {
	w := newWorld(t)
	wide := w.create("kind", "live", "scopes", auth.AllScopes())
	victim := w.create("scopes", []string{"content:read", "studio:use"})
	caller := w.with(wide, auth.AllScopes()...)
	demoted := w.with(wide, auth.AccountManage)

	made := body("scopes", []string{"content:read", "studio:use"})
	for _, call := range []struct {
		name, path string
		body       any
		headers    []string
	}{
		{"create", "/v1/api-keys", made, []string{"Idempotency-Key", "create-key-1"}},
		{"rotate", path(victim) + "/rotate", object{"overlap_seconds": 3600}, []string{"Idempotency-Key", "rotate-1"}},
		{"rotate a version", path(victim) + "/rotate", object{"overlap_seconds": 3600},
			[]string{"Idempotency-Key", "rotate-2", "If-Match", `"2"`}},
		{"rotate with overlap 0", path(victim) + "/rotate", nil, []string{"Idempotency-Key", "rotate-3"}},
	} {
		var first, again apikey.NewKey
		caller.Call(http.MethodPost, call.path, call.body, call.headers...).Into(t, http.StatusCreated, &first)
		caller.Call(http.MethodPost, call.path, call.body, call.headers...).Into(t, http.StatusCreated, &again)
		if first.Secret == "" || again.Secret != first.Secret {
			t.Errorf("%s: the repeat has the secret %q, the first answer %q", call.name, again.Secret, first.Secret)
		}
		a := demoted.Call(http.MethodPost, call.path, call.body, call.headers...)
		if a.Status != http.StatusForbidden || a.Error.Code != string(errs.ScopeEscalation) {
			t.Errorf("%s: the demoted key is answered %d %s", call.name, a.Status, a.Raw)
		}
	}
	w.Call(http.MethodDelete, path(victim), nil).Into(t, http.StatusOK, new(apikey.Key))
	demoted.Call(http.MethodPost, path(victim)+"/rotate", nil, "Idempotency-Key", "rotate-3").Refused(t,
		http.StatusForbidden, errs.ScopeEscalation, "")
}

func TestARepeatOfAnotherKeyGetsItsOwnOutcome(t *testing.T) {
	w := newWorld(t)
	made := body("scopes", []string{"content:read"})
	var first, own apikey.NewKey
	w.Call(http.MethodPost, "/v1/api-keys", made, "Idempotency-Key", "k").Into(t, http.StatusCreated, &first)
	other := w.create("kind", "live", "scopes", manager)
	w.with(other, auth.AccountManage).Call(http.MethodPost, "/v1/api-keys", made, "Idempotency-Key", "k").
		Refused(t, http.StatusForbidden, errs.ScopeEscalation, "/scopes/0")
	w.with(other, auth.AllScopes()...).Call(http.MethodPost, "/v1/api-keys", made, "Idempotency-Key", "k").Into(t,
		http.StatusCreated, &own)
	if own.ID == first.ID || own.Secret == first.Secret {
		t.Errorf("the other key got %+v", own)
	}
}

func TestASecretIsLeftOutAfterTenMinutes(t *testing.T) {
	w := newWorld(t)
	made := w.Now()
	var first apikey.NewKey
	w.Call(http.MethodPost, "/v1/api-keys", body(), "Idempotency-Key", "k").Into(t, http.StatusCreated, &first)
	w.Clock.Add(10 * time.Minute)
	late := apikey.NewKey{Secret: "unset"} // as null leaves it
	w.Call(http.MethodPost, "/v1/api-keys", body(), "Idempotency-Key", "k").Into(t, http.StatusCreated, &late)
	if late.ID != first.ID || late.Secret != "unset" || late.SecretShownAt == nil || !late.SecretShownAt.Equal(made) ||
		first.SecretShownAt != nil {
		t.Errorf("first %+v, after ten minutes %+v", first, late)
	}
}
