package apikey_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

func TestCreate(t *testing.T) {
	w := newWorld(t)
	expires := w.Now().Add(time.Hour)
	made := w.Now()
	k := w.create("kind", "live", "scopes", []string{"content:read", "studio:use"}, "ip_allow_list",
		[]string{"203.0.113.9", "2001:DB8::/32"},
		"expires_at", expires.Format(time.RFC3339Nano), "metadata", object{"team": "sales"})
	mode, ok := auth.ParseKey(k.Secret)
	if !ok || mode != tenant.Live || k.Prefix != k.Secret[:13] || k.Last4 != k.Secret[len(k.Secret)-4:] {
		t.Errorf("secret %s, prefix %s, last4 %s", k.Secret, k.Prefix, k.Last4)
	}
	want := apikey.Key{
		Resource: resource.New(k.ID, made, resource.Metadata{"team": "sales"}),
		Name:     "CRM", Kind: tenant.Live, Prefix: k.Prefix, Last4: k.Last4,
		Scopes:      []auth.Scope{auth.ContentRead, auth.StudioUse},
		IPAllowList: []string{"203.0.113.9/32", "2001:db8::/32"}, State: "active",
		ExpiresAt: resource.InstantOrNil(&expires), OldSecrets: []keyrecord.OldSecret{},
		ProfileIDs: []tenant.Profile{}, CreatedBy: w.Principal.KeyID(),
	}
	if !reflect.DeepEqual(k.Key, want) || !id.Valid(id.APIKey, k.ID) {
		t.Errorf("got  %+v\nwant %+v", k.Key, want)
	}
	if got := w.get(k); !reflect.DeepEqual(got, want) {
		t.Errorf("read as %+v", got)
	}
	s, works := w.secret(k.Secret)
	if !works || s.KeyID != k.ID || s.Account != tenant.Account(w.account.ID) || s.Mode != "live" ||
		s.Plan != "enterprise" || s.Limit != 600 ||
		!slices.Equal(s.Scopes, []string{"content:read", "studio:use"}) || !slices.Equal(s.KeyIPs, want.IPAllowList) ||
		len(s.AccountIPs) != 0 || !s.ExpiresAt.Equal(expires) {
		t.Errorf("the authorizer learns %+v", *s)
	}
}

func TestCreateTakesOneReadAndOneTransaction(t *testing.T) {
	w := newWorld(t)
	w.Faults.Reset()
	w.create()
	if got := w.Faults.Operations(); got != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", got)
	}
}

func TestWhatIsLeftOutHasADefault(t *testing.T) {
	w := newWorld(t)
	a := w.Call(http.MethodPost, "/v1/api-keys", body())
	for _, member := range []string{`"ip_allow_list":[]`, `"expires_at":null`, `"last_used_at":null`,
		`"last_used_ip":null`, `"metadata":{}`, `"state":"active"`, `"version":1`} {
		if !strings.Contains(a.Raw, member) {
			t.Errorf("%s lacks %s", a.Raw, member)
		}
	}
	if a.Header.Get("ETag") != `"1"` {
		t.Errorf("ETag %s", a.Header.Get("ETag"))
	}
	// No time after it can be written down, as that of its removal.
	if k := w.create("expires_at", "9999-12-31T23:59:59Z"); k.ExpiresAt == nil {
		t.Errorf("%+v", k)
	}
	if k := w.create("expires_at", nil); k.ExpiresAt != nil {
		t.Errorf("%+v", k)
	}
}

func TestCreateIsRefused(t *testing.T) {
	w := newWorld(t)
	const post, keys = http.MethodPost, "/v1/api-keys"
	invalid := func(name, param string, members ...any) rejectedCall {
		return rejectedCall{name, post, keys, body(members...), 422, errs.ValidationFailed, param}
	}
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("10.0.0.%d", i)
	}
	pairs := object{}
	for i := range 21 {
		pairs[fmt.Sprint("k", i)] = "v"
	}
	w.refused(w.Caller, []rejectedCall{
		invalid("no name", "/name", "name", ""),
		invalid("a name with a line feed", "/name", "name", "a\nb"),
		invalid("a long name", "/name", "name", strings.Repeat("n", 101)),
		invalid("another kind", "/kind", "kind", "demo"),
		invalid("no scope", "/scopes", "scopes", []string{}),
		invalid("null scopes", "/scopes", "scopes", nil),
		invalid("an unknown scope", "/scopes/1", "scopes", []string{"content:read", "content:reed"}),
		invalid("a scope twice", "/scopes/1", "scopes", []string{"content:read", "content:read"}),
		invalid("scopes as text", "/scopes", "scopes", "content:read"),
		invalid("no address", "/ip_allow_list/1", "ip_allow_list", []string{"10.0.0.0/8", "here"}),
		invalid("too many addresses", "/ip_allow_list", "ip_allow_list", many),
		invalid("an expiry in the past", "/expires_at", "expires_at",
			w.Now().Add(-time.Second).Format(time.RFC3339)),
		invalid("an expiry now", "/expires_at", "expires_at", w.Now().Format(time.RFC3339)),
		invalid("no time", "/expires_at", "expires_at", "tomorrow"),
		invalid("too many pairs", "/metadata", "metadata", pairs),
		invalid("a pair without a name", "/metadata", "metadata", object{"": "x"}),
		invalid("an unknown member", "/secret", "secret", "svc_test_mine"),
		{"no body", post, keys, nil, 400, errs.MalformedJSON, ""},
		{"a broken body", post, keys, "{", 400, errs.MalformedJSON, ""},
	})
}

func TestNoKeyGivesWhatItLacks(t *testing.T) {
	w := newWorld(t)
	weak := w.with(w.create("kind", "live", "scopes", []string{"account:manage", "content:read"}), auth.AccountManage,
		auth.ContentRead)
	strong := w.create("kind", "live", "scopes", []string{"content:read", "content:write"})
	const escalation = errs.ScopeEscalation
	w.refused(weak, []rejectedCall{
		{"create", "POST", "/v1/api-keys", body("scopes", []string{"content:read", "content:write"}), 403, escalation,
			"/scopes/1"},
		{"change", "PATCH", path(strong), object{"scopes": []string{"studio:use"}}, 403, escalation, "/scopes/0"},
		{"keep while widening", "PATCH", path(strong),
			object{"scopes": []string{"content:read", "content:write", "account:manage"}}, 403, escalation,
			"/scopes/1"},
		{"rotate", "POST", path(strong) + "/rotate", object{}, 403, escalation, ""},
		{"widen in another way", "PATCH", path(strong),
			object{"expires_at": nil, "scopes": []string{"content:read", "account:manage", "content:write"}}, 403,
			escalation, "/scopes/2"},
		{"a misspelt scope", "PATCH", path(strong), object{"scopes": []string{"studio:used"}}, 422,
			errs.ValidationFailed, "/scopes/0"},
	})
	var k apikey.Key
	weak.Call("PATCH", path(strong), object{"scopes": []string{"content:read"}}).Into(t, http.StatusOK, &k)
	if !slices.Equal(k.Scopes, []auth.Scope{auth.ContentRead}) {
		t.Errorf("%+v", k)
	}
	weak.Call("PATCH", path(strong), object{"name": "Renamed"}).Into(t, http.StatusOK, &k)
	weak.Call("POST", path(strong)+"/rotate", nil).Into(t, http.StatusCreated, &k)
	without := w.with(strong, auth.ContentRead)
	w.refused(without, []rejectedCall{
		{"without the scope to manage", "POST", "/v1/api-keys", body(), 403, errs.InsufficientScope, ""},
		{"without the scope to list", "GET", "/v1/api-keys", nil, 403, errs.InsufficientScope, ""},
	})
}

func TestATestKeyKnowsTestKeysOnly(t *testing.T) {
	w := newWorld(t)
	live, test := w.create("kind", "live"),
		w.create("kind", "test", "scopes", []string{"account:manage", "content:read"})
	caller := w.with(test, auth.AllScopes()...)
	w.refused(caller, []rejectedCall{
		{"make a live key", "POST", "/v1/api-keys", body("kind", "live"), 403, errs.ScopeEscalation, "/kind"},
		{"read a live key", "GET", path(live), nil, 404, errs.NotFound, ""},
		{"change a live key", "PATCH", path(live), object{"name": "Mine"}, 404, errs.NotFound, ""},
		{"rotate a live key", "POST", path(live) + "/rotate", object{}, 404, errs.NotFound, ""},
		{"revoke a live key", "DELETE", path(live), nil, 404, errs.NotFound, ""},
	})
	var k apikey.NewKey
	caller.Call("POST", "/v1/api-keys", body()).Into(t, http.StatusCreated, &k)
	if k.Kind != tenant.Test || k.CreatedBy != test.ID {
		t.Errorf("%+v", k)
	}
	if got := ids(apitest.All[apikey.Key](caller, "/v1/api-keys", 100)); !slices.Equal(got, []string{k.ID, test.ID}) {
		t.Errorf("a test key sees %v", got)
	}
	if got := ids(apitest.All[apikey.Key](w.Caller, "/v1/api-keys", 100)); !slices.Equal(got,
		[]string{k.ID, test.ID, live.ID, w.Principal.KeyID()}) {
		t.Errorf("a live key sees %v", got)
	}
}

func ids(keys []apikey.Key) []string {
	all := []string{}
	for _, k := range keys {
		all = append(all, k.ID)
	}
	return all
}

// The keys of a client are found by its profile, so that it can be deleted.
func TestKeysAreListedByTheirProfile(t *testing.T) {
	w := newWorld(t)
	tx, bound := &store.Tx{}, []string{}
	for range 2 {
		bound = append(bound, id.New(id.Profile, w.Now()))
		o := w.Principal.Owner.Of(tenant.Profile(bound[len(bound)-1]))
		o.Mode = tenant.Live
		ledger.OpenPurse(tx, o, ledger.Bounds{})
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.create("kind", "live")
	one := w.create("kind", "live", "profile_ids", bound[:1])
	both := w.create("kind", "live", "profile_ids", bound)
	for profile, want := range map[string][]string{bound[0]: {both.ID, one.ID}, bound[1]: {both.ID},
		id.New(id.Profile, w.Now()): nil} {
		got := ids(apitest.All[apikey.Key](w.Caller, "/v1/api-keys?profile_id="+profile, 10))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", profile, got, want)
		}
	}
	w.Call(http.MethodGet, "/v1/api-keys?profile_id=prf_1", nil).Refused(t, 422, errs.ValidationFailed, "profile_id")
}

func TestKeysAreListedPageByPage(t *testing.T) {
	w := newWorld(t)
	want := []string{w.Principal.KeyID()}
	for i := range 6 {
		want = append(want, w.create("kind", []string{"live", "test"}[i%2]).ID)
	}
	slices.Reverse(want)
	for limit := 1; limit <= 8; limit++ {
		if got := ids(apitest.All[apikey.Key](w.Caller, "/v1/api-keys", limit)); !slices.Equal(got, want) {
			t.Errorf("%d at a time: got %v, want %v", limit, got, want)
		}
	}
	test := w.As(func(p *auth.Principal) { p.Mode = tenant.Test })
	for limit := 1; limit <= 4; limit++ {
		if got := ids(apitest.All[apikey.Key](test, "/v1/api-keys", limit)); !slices.Equal(got,
			[]string{want[0], want[2], want[4]}) {
			t.Errorf("test keys, %d at a time: got %v of %v", limit, got, want)
		}
	}
	if raw := w.Call(http.MethodGet, "/v1/api-keys", nil).Raw; strings.Contains(raw, `"secret"`) ||
		strings.Contains(raw, "hash") {
		t.Errorf("the list tells secrets: %s", raw)
	}
}

func TestAnotherAccountFindsNothing(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	w.refused(w.Stranger(), []rejectedCall{
		{"get", "GET", path(k), nil, 404, errs.NotFound, ""},
		{"change", "PATCH", path(k), object{"name": "Mine"}, 404, errs.NotFound, ""},
		{"rotate", "POST", path(k) + "/rotate", object{}, 404, errs.NotFound, ""},
		{"revoke", "DELETE", path(k), nil, 404, errs.NotFound, ""},
		{"a malformed id", "GET", "/v1/api-keys/key_1", nil, 404, errs.NotFound, ""},
		{"an id of another kind", "GET", "/v1/api-keys/" + w.account.ID, nil, 404, errs.NotFound, ""},
	})
	if got := apitest.All[apikey.Key](w.Stranger(), "/v1/api-keys", 100); len(got) != 0 {
		t.Errorf("it lists %v", got)
	}
}

func TestAnAccountHas80KeysAtMost(t *testing.T) {
	w := newWorld(t)
	var last apikey.NewKey
	for range 79 { // and the caller's
		last = w.create()
	}
	full := []rejectedCall{{"one more", "POST", "/v1/api-keys", body(), 409, errs.InvalidState, ""}}
	w.refused(w.Caller, full)
	var k apikey.Key
	w.Call(http.MethodDelete, path(last), nil).Into(t, http.StatusOK, &k)
	w.Call(http.MethodDelete, path(last), nil).Into(t, http.StatusOK, &k) // which frees no second place
	w.create()
	w.refused(w.Caller, full)
}

func TestARepeatedCreateTellsTheSameSecretAndTheTableNone(t *testing.T) {
	w := newWorld(t)
	header := []string{"Idempotency-Key", "order-17"}
	first := w.Call(http.MethodPost, "/v1/api-keys", body(), header...)
	var k apikey.NewKey
	first.Into(t, http.StatusCreated, &k)
	w.Clock.Add(10*time.Minute - time.Second)
	again := w.Call(http.MethodPost, "/v1/api-keys", body(), header...)
	if again.Raw != first.Raw || again.Status != first.Status || again.Header.Get("Idempotent-Replayed") != "true" ||
		again.Header.Get("ETag") != `"1"` {
		t.Errorf("first %d %s\nagain %d %s", first.Status, first.Raw, again.Status, again.Raw)
	}
	if n := len(apitest.All[apikey.Key](w.Caller, "/v1/api-keys", 100)); n != 2 {
		t.Errorf("there are %d keys", n)
	}
	w.Call(http.MethodPost, "/v1/api-keys", body("name", "Other"), header...).Refused(t, 422, errs.IdempotencyKeyReused,
		"Idempotency-Key")
	rotated := w.Call(http.MethodPost, path(k)+"/rotate", object{"overlap_seconds": 60}, "Idempotency-Key", "order-18")
	var r apikey.NewKey
	rotated.Into(t, http.StatusCreated, &r)
	if replay := w.Call(http.MethodPost, path(k)+"/rotate", object{"overlap_seconds": 60}, "Idempotency-Key",
		"order-18"); replay.Raw != rotated.Raw {
		t.Errorf("rotated %s\nagain %s", rotated.Raw, replay.Raw)
	}
	table := storetest.Snapshot(t, w.DB)
	if !strings.Contains(table, auth.HashKey(k.Secret)) || !strings.Contains(table, auth.HashKey(r.Secret)) {
		t.Error("the table does not know the secrets' hashes")
	}
	for what, secret := range map[string]string{
		"the secret": k.Secret, "the new secret": r.Secret, "the secret's random part": k.Secret[13:40],
		"the new one's":       r.Secret[13:40],
		"the idempotency key": "order-17", "the other": "order-18",
	} {
		if strings.Contains(table, secret) {
			t.Errorf("the table has %s in clear", what)
		}
	}
	// After a day the key is as good as new.
	w.Clock.Add(24*time.Hour - 10*time.Minute + time.Second)
	if fresh := w.Call(http.MethodPost, "/v1/api-keys", body(), header...); fresh.Status != http.StatusCreated ||
		fresh.Raw == first.Raw || fresh.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("a day later: %d %s", fresh.Status, fresh.Raw)
	}
}

func TestTheAuditLogHasNoSecret(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	for _, c := range w.Log.Calls() {
		if s := fmt.Sprintf("%+v %+v", c, *c.Principal); strings.Contains(s, k.Secret) ||
			strings.Contains(s, auth.HashKey(k.Secret)) {
			t.Errorf("the log has %s", s)
		}
	}
	if n := len(w.Log.Calls()); n != 1 {
		t.Errorf("%d calls were recorded", n)
	}
}

// A key that is made while its account is changed gets the settings that the account has then.
func TestAKeyIsMadeDuringAChangeOfItsAccount(t *testing.T) {
	for _, call := range []string{"create", "rotate", "change"} {
		t.Run(call, func(t *testing.T) {
			w := newWorld(t)
			k := w.create()
			w.Faults.Before("TransactWriteItems", func() {
				plan := "starter"
				if _, err := w.accounts.Update(t.Context(), tenant.Account(w.account.ID),
					account.Settings{Plan: &plan}); err != nil {
					t.Error(err)
				}
			})
			switch call {
			case "create":
				k = w.create()
			case "rotate":
				k = w.rotate(k, 0)
			default:
				w.patch(k, object{"name": "Renamed"})
			}
			if s, _ := w.secret(k.Secret); s.Plan != "starter" {
				t.Errorf("%+v", *s)
			}
		})
	}
}
