package apikey_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/resource"
)

// manager are the scopes of a key that manages others.
var manager = []string{"account:manage", "content:read"}

// narrow makes a key with every limit, which manages others, and its caller.
func (w *world) narrow() (apikey.NewKey, *apitest.Caller) {
	k := w.create("kind", "live", "scopes", manager, "ip_allow_list", []string{"198.51.100.0/24", "2001:db8::/32"},
		"expires_at", w.Now().Add(time.Hour), "spend_limit_credits", 100)
	return k, w.with(k, auth.AccountManage, auth.ContentRead)
}

// inside returns members of a body that are as wide as the narrow key.
func (w *world) inside(k apikey.NewKey, members ...any) object {
	return body(append([]any{"scopes", manager, "ip_allow_list", []string{"198.51.100.0/25", "2001:db8::/32"},
		"expires_at", k.ExpiresAt, "spend_limit_credits", 100}, members...)...)
}

func TestAChildIsNoWiderThanItsMaker(t *testing.T) {
	w := newWorld(t)
	k, narrow := w.narrow()
	create := func(name, param string, members ...any) rejectedCall {
		return rejectedCall{name, "POST", "/v1/api-keys", w.inside(k, members...), 403, errs.ScopeEscalation, param}
	}
	w.refused(narrow, []rejectedCall{
		create("another scope", "/scopes/1", "scopes", []string{"content:read", "studio:use"}),
		create("no addresses", "/ip_allow_list", "ip_allow_list", []string{}),
		create("a wider range", "/ip_allow_list/1", "ip_allow_list", []string{"198.51.100.7", "198.51.0.0/16"}),
		create("another range", "/ip_allow_list/0", "ip_allow_list", []string{"2001:db9::/64"}),
		create("a later end", "/expires_at", "expires_at", k.ExpiresAt.Add(time.Millisecond)),
		create("no end", "/expires_at", "expires_at", nil),
		create("more to spend", "/spend_limit_credits", "spend_limit_credits", 101),
		create("no limit of spending", "/spend_limit_credits", "spend_limit_credits", nil),
	})
	var child apikey.NewKey
	narrow.Call("POST", "/v1/api-keys", w.inside(k)).Into(t, http.StatusCreated, &child)
	if child.CreatedBy != k.ID || *child.SpendLimit != 100 || !child.ExpiresAt.Equal(k.ExpiresAt.Time) {
		t.Errorf("%+v", child)
	}
	// Who has no limits gives none, too.
	w.create("ip_allow_list", []string{"203.0.113.9"})
	w.create("spend_limit_credits", nil, "expires_at", nil)
}

func TestNoKeyWidensItselfOrAWiderOne(t *testing.T) {
	w := newWorld(t)
	k, narrow := w.narrow()
	wide := w.create("kind", "live", "scopes", []string{"content:read"})
	small := w.create("scopes", []string{"content:read"}, "ip_allow_list", []string{"198.51.100.7"}, "expires_at",
		w.Now().Add(time.Minute), "spend_limit_credits", 7)
	change := func(name string, of apikey.NewKey, param string, body object) rejectedCall {
		return rejectedCall{name, "PATCH", path(of), body, 403, errs.ScopeEscalation, param}
	}
	cases := []rejectedCall{
		change("add a scope", small, "/scopes/0", object{"scopes": []string{"studio:use", "content:read"}}),
		change("lift the addresses", small, "/ip_allow_list", object{"ip_allow_list": nil}),
		change("other addresses", small, "/ip_allow_list/0", object{"ip_allow_list": []string{"203.0.113.9"}}),
		change("lift the expiry", small, "/expires_at", object{"expires_at": nil}),
		change("a later expiry than ours", small, "/expires_at", object{"expires_at": k.ExpiresAt.Add(time.Second)}),
		change("lift the limit of spending", small, "/spend_limit_credits", object{"spend_limit_credits": nil}),
		change("a higher limit than ours", small, "/spend_limit_credits", object{"spend_limit_credits": 101}),
		// Rights in which the key is already wider count, too.
		change("a scope for a wider key", wide, "/ip_allow_list", object{"scopes": manager}),
		{"rotate a wider key", "POST", path(wide) + "/rotate", object{}, 403, errs.ScopeEscalation, ""},
	}
	for name, patch := range map[string]object{
		"/scopes/2":            {"scopes": append(manager[:2:2], "studio:use")},
		"/ip_allow_list":       {"ip_allow_list": []string{}},
		"/ip_allow_list/0":     {"ip_allow_list": []string{"198.51.0.0/16"}},
		"/expires_at":          {"expires_at": k.ExpiresAt.Add(time.Second)},
		"/spend_limit_credits": {"spend_limit_credits": 101},
	} {
		cases = append(cases, change("widen itself: "+name, k, name, patch))
	}
	w.refused(narrow, cases)
	// Not even a key with all scopes and no limits, by those that it gave up.
	own := w.create("kind", "live", "scopes", []string{"account:manage"})
	w.refused(w.with(own, auth.AllScopes()...),
		[]rejectedCall{change("regain a scope", own, "/scopes/1", object{"scopes": manager})})
	// Settings may be widened within the caller's rights, and all may be narrowed.
	var got apikey.Key
	for _, c := range []struct {
		of    apikey.NewKey
		patch object
	}{
		{small, object{"scopes": manager, "ip_allow_list": []string{"198.51.100.0/24"}, "expires_at": k.ExpiresAt,
			"spend_limit_credits": 100}},
		{wide, object{"ip_allow_list": []string{"203.0.113.9"}, "expires_at": w.Now().Add(time.Hour),
			"spend_limit_credits": 1_000}},
		{wide, object{"spend_limit_credits": 999, "name": "Less"}},
		{k, object{"scopes": []string{"account:manage"}, "spend_limit_credits": 1}},
	} {
		narrow.Call("PATCH", path(c.of), c.patch).Into(t, http.StatusOK, &got)
	}
	narrow.Call("POST", path(k)+"/rotate", nil).Into(t, http.StatusCreated, &got) // itself, as wide as it is
}

func TestAnExpiredKeyIsRevivedByAWiderOneOnly(t *testing.T) {
	w := newWorld(t)
	k := w.create("scopes", []string{"studio:use"}, "expires_at", w.Now().Add(time.Minute))
	other := w.create("kind", "live", "scopes", manager)
	w.Clock.Add(time.Hour)
	w.refused(w.with(other, auth.AccountManage, auth.ContentRead), []rejectedCall{
		{"revive", "PATCH", path(k), object{"expires_at": w.Now().Add(time.Hour)}, 403, errs.ScopeEscalation,
			"/scopes/0"},
	})
	if got := w.patch(k, object{"expires_at": w.Now().Add(time.Hour)}); got.State != "active" {
		t.Errorf("%+v", got)
	}
}

// Whatever happens to the maker between its authorization and the commit counts.
func TestAKeyMadeWhileItsMakerChanges(t *testing.T) {
	for name, c := range map[string]struct {
		at     string
		change func(*world, apikey.NewKey)
		code   errs.Code
	}{
		"revoked before it is read": {"BatchGetItem",
			func(w *world, k apikey.NewKey) { w.Call(http.MethodDelete, path(k), nil) }, errs.InvalidAPIKey},
		"revoked before the commit": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.Call(http.MethodDelete, path(k), nil) }, errs.InvalidAPIKey},
		"narrowed before the commit": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.patch(k, object{"scopes": []string{"account:manage"}}) },
			errs.ScopeEscalation},
		"no manager any more": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.patch(k, object{"scopes": []string{"content:read"}}) },
			errs.InsufficientScope},
		"limited before the commit": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.patch(k, object{"spend_limit_credits": 5}) }, errs.ScopeEscalation},
		"renamed before the commit": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.patch(k, object{"name": "Other"}) }, ""},
		"only used before the commit": {"TransactWriteItems",
			func(w *world, k apikey.NewKey) { w.secret(k.Secret) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []string{"create", "rotate", "widen"} {
				w := newWorld(t)
				maker, other := w.create("kind", "live", "scopes", manager),
					w.create("scopes", []string{"content:read"})
				w.Faults.Before(c.at, func() { c.change(w, maker) })
				caller := w.with(maker, auth.AccountManage, auth.ContentRead)
				var a apitest.Answer
				switch call {
				case "create":
					a = caller.Call("POST", "/v1/api-keys", body())
				case "rotate":
					a = caller.Call("POST", path(other)+"/rotate", object{})
				default:
					a = caller.Call("PATCH", path(other), object{"spend_limit_credits": nil, "scopes": manager})
				}
				code := ""
				if a.Error != nil {
					code = a.Error.Code
				}
				if code != string(c.code) {
					t.Errorf("%s answered %s, want %q", call, a.Raw, c.code)
				}
			}
		})
	}
}

func TestAUseOfTheMakerIsNoConflict(t *testing.T) {
	w := newWorld(t)
	maker := w.create("kind", "live", "scopes", manager)
	w.Faults.Reset()
	w.Faults.Before("TransactWriteItems", func() { w.secret(maker.Secret) })
	w.with(maker, auth.AccountManage, auth.ContentRead).Call("POST", "/v1/api-keys", body())
	// The three of the call, which reads the limit of the maker's maker, too, and between them those of the use, which
	// begins the minute.
	if got := w.Faults.Operations(); got != "BatchGetItem BatchGetItem TransactWriteItems UpdateItem TransactWriteItems UpdateItem" {
		t.Errorf("it took %s", got)
	}
}

func TestOldSecretsAreListedAndManageNothing(t *testing.T) {
	w := newWorld(t)
	k := w.create("kind", "live", "scopes", manager)
	start := w.Now()
	second := w.rotate(k, time.Hour)
	third := w.rotate(k, 2*time.Hour)
	want := []keyrecord.OldSecret{{Last4: k.Last4, Until: resource.Instant(start.Add(time.Hour))},
		{Last4: second.Last4, Until: resource.Instant(start.Add(2 * time.Hour))}}
	if got := w.get(k); !reflect.DeepEqual(got.OldSecrets, want) || !reflect.DeepEqual(third.OldSecrets, want) {
		t.Errorf("listed %+v and %+v, want %+v", got.OldSecrets, third.OldSecrets, want)
	}
	other := w.create("scopes", []string{"content:read"})
	old := w.with(k, auth.AccountManage, auth.ContentRead).As(func(p *auth.Principal) { p.OldSecret = true })
	const code = errs.InsufficientScope
	w.refused(old, []rejectedCall{
		{"create", "POST", "/v1/api-keys", body(), 403, code, ""},
		{"change itself", "PATCH", path(k), object{"name": "Mine"}, 403, code, ""},
		{"narrow another", "PATCH", path(other), object{"name": "Mine"}, 403, code, ""},
		{"rotate itself", "POST", path(k) + "/rotate", object{}, 403, code, ""},
		{"revoke itself", "DELETE", path(k), nil, 403, code, ""},
		{"revoke another", "DELETE", path(other) + "?include_created=true", nil, 403, code, ""},
	})
	var got apikey.Key
	old.Call("GET", path(k), nil).Into(t, http.StatusOK, &got)
	w.Clock.Add(time.Hour)
	if got := w.get(k); !reflect.DeepEqual(got.OldSecrets, want[1:]) {
		t.Errorf("after the first overlap: %+v", got.OldSecrets)
	}
	if got := w.rotate(k, 0); len(got.OldSecrets) != 0 || len(w.get(k).OldSecrets) != 0 {
		t.Errorf("after a rotation without overlap: %+v", got.OldSecrets)
	}
}
