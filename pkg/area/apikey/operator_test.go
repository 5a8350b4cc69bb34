package apikey_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestTheOperatorMakesAndEndsKeys(t *testing.T) {
	w := newWorld(t)
	k, err := w.keys.Issue(t.Context(), tenant.Account(w.account.ID), tenant.Test,
		apikey.Settings{Name: "By hand", Scopes: []auth.Scope{auth.ContentRead}})
	if err != nil || k.CreatedBy != "operator" || k.Kind != tenant.Test {
		t.Fatalf("%+v, %v", k, err)
	}
	w.works(true, k.Secret)
	for range 2 {
		ended, err := w.keys.End(t.Context(), tenant.Account(w.account.ID), k.ID)
		if err != nil || ended.State != "revoked" || ended.Version != 2 {
			t.Errorf("%+v, %v", ended, err)
		}
	}
	w.works(false, k.Secret)
	if _, err := w.keys.End(t.Context(), tenant.Account(w.account.ID),
		id.New(id.APIKey, w.Now())); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestTheOperatorsSettingsAreCheckedToo(t *testing.T) {
	w := newWorld(t)
	past := w.Now().Add(-time.Hour)
	for param, set := range map[string]apikey.Settings{
		"/name":            {Scopes: auth.AllScopes()},
		"/scopes":          {Name: "x"},
		"/ip_allow_list/0": {Name: "x", Scopes: auth.AllScopes(), IPAllowList: []string{"x"}},
		"/expires_at":      {Name: "x", Scopes: auth.AllScopes(), ExpiresAt: resource.InstantOrNil(&past)},
	} {
		var e *errs.Error
		if _, err := w.keys.Issue(t.Context(), tenant.Account(w.account.ID), tenant.Live, set); !errors.As(err, &e) ||
			e.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	for _, name := range []string{strings.Repeat("ü", 101), "a\tb"} {
		if _, err := w.keys.Issue(t.Context(), tenant.Account(w.account.ID), tenant.Live,
			apikey.Settings{Name: name, Scopes: auth.AllScopes()}); errs.CodeOf(err) != errs.ValidationFailed {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := w.keys.Issue(t.Context(), tenant.Account(tenant.Account(id.New(id.Account, w.Now()))),
		tenant.Live, apikey.Settings{Name: "x", Scopes: auth.AllScopes()}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an unknown account: %v", err)
	}
}

func TestTheOperatorListsAllKeys(t *testing.T) {
	w := newWorld(t)
	want := []string{w.Principal.KeyID()}
	for range 103 { // more than a page
		k := w.create()
		want = append(want, k.ID)
		if len(want) > 50 {
			if _, err := w.keys.End(t.Context(), tenant.Account(w.account.ID), k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	if err := w.keys.All(t.Context(), tenant.Account(w.account.ID),
		func(k apikey.Key) error { got = append(got, k.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d keys", len(got))
	}
	enough := errors.New("enough")
	if err := w.keys.All(t.Context(), tenant.Account(w.account.ID),
		func(apikey.Key) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}
