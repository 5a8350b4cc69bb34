package apikey_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

func TestPatchChangesWhatItNames(t *testing.T) {
	w := newWorld(t)
	expires := w.Now().Add(time.Hour)
	k := w.create("scopes", []string{"content:read", "studio:use"}, "ip_allow_list", []string{"203.0.113.0/24"},
		"expires_at", expires, "metadata", object{"team": "sales", "city": "Bonn"})
	later := expires.Add(time.Hour)
	for _, c := range []struct {
		name   string
		patch  any
		change func(*apikey.Key)
	}{
		{"nothing", object{}, func(*apikey.Key) {}},
		{"the name", object{"name": "Ümläut"}, func(k *apikey.Key) { k.Name = "Ümläut" }},
		{"the scopes", object{"scopes": []string{"webhooks:manage"}},
			func(k *apikey.Key) { k.Scopes = []auth.Scope{auth.WebhooksManage} }},
		{"the addresses", object{"ip_allow_list": []string{"2001:DB8::1"}},
			func(k *apikey.Key) { k.IPAllowList = []string{"2001:db8::1/128"} }},
		{"no addresses", object{"ip_allow_list": nil}, func(k *apikey.Key) { k.IPAllowList = []string{} }},
		{"the expiry", object{"expires_at": later},
			func(k *apikey.Key) { k.ExpiresAt = resource.InstantOrNil(&later) }},
		{"no expiry", object{"expires_at": nil}, func(k *apikey.Key) { k.ExpiresAt = nil }},
		{"a limit of spending", object{"spend_limit_credits": 500},
			func(k *apikey.Key) { k.SpendLimit = new(int64(500)) }},
		{"a limit of nothing", object{"spend_limit_credits": 0}, func(k *apikey.Key) { k.SpendLimit = new(int64(0)) }},
		{"no limit of spending", object{"spend_limit_credits": nil}, func(k *apikey.Key) { k.SpendLimit = nil }},
		{"a pair", object{"metadata": object{"team": "support"}},
			func(k *apikey.Key) { k.Metadata["team"] = "support" }},
		{"a pair less", object{"metadata": object{"team": nil}}, func(k *apikey.Key) { delete(k.Metadata, "team") }},
		{"no pairs", object{"metadata": nil}, func(k *apikey.Key) { k.Metadata = resource.Metadata{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := w.get(k)
			w.Clock.Add(time.Second)
			c.change(&want)
			want.Touch(w.Now())
			if got := w.patch(k, c.patch, "Content-Type",
				"application/merge-patch+json"); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if got := w.get(k); !reflect.DeepEqual(got, want) {
				t.Errorf("read as %+v", got)
			}
			s, works := w.secret(k.Secret)
			var scopes []auth.Scope
			for _, scope := range s.Scopes {
				scopes = append(scopes, auth.Scope(scope))
			}
			if !works || !slices.Equal(scopes, want.Scopes) || !slices.Equal(s.KeyIPs, want.IPAllowList) ||
				s.ExpiresAt.IsZero() != (want.ExpiresAt == nil) || !reflect.DeepEqual(s.SpendLimit, want.SpendLimit) {
				t.Errorf("the authorizer learns %+v", *s)
			}
		})
		w.Clock.Add(time.Minute)
		k.Key = w.get(k) // notes of the calls of secret
	}
}

func TestPatchIsRefused(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	at := path(k)
	const patch = http.MethodPatch
	invalid := func(name, param string, body any) rejectedCall {
		return rejectedCall{name, patch, at, body, 422, errs.ValidationFailed, param}
	}
	w.refused(w.Caller, []rejectedCall{
		invalid("no name", "/name", object{"name": ""}),
		invalid("a null name", "/name", object{"name": nil}),
		invalid("null scopes", "/scopes", object{"scopes": nil}),
		invalid("no scopes", "/scopes", object{"scopes": []string{}}),
		invalid("a scope twice", "/scopes/1", object{"scopes": []string{"content:read", "content:read"}}),
		invalid("the kind", "/kind", object{"kind": "live"}),
		invalid("the state", "/state", object{"state": "revoked"}),
		invalid("the secret", "/secret", object{"secret": "svc_test_x"}),
		invalid("no address", "/ip_allow_list/0", object{"ip_allow_list": []string{"here"}}),
		invalid("an expiry in the past", "/expires_at", object{"expires_at": w.Now().Add(-time.Hour)}),
		invalid("spending below nothing", "/spend_limit_credits", object{"spend_limit_credits": -1}),
		invalid("spending above all bounds", "/spend_limit_credits", object{"spend_limit_credits": 1_000_000_000_001}),
		invalid("a pair that is no text", "/metadata/k", object{"metadata": object{"k": 1}}),
		invalid("not an object", "", []string{}),
		{"no body", patch, at, nil, 400, errs.MalformedJSON, ""},
	})
}

func TestIfMatch(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPatch, path(k), object{"name": "New"}},
		{http.MethodPost, path(k) + "/rotate", object{}},
		{http.MethodDelete, path(k), nil},
	} {
		before := storetest.Snapshot(t, w.DB)
		w.Call(c.method, c.path, c.body, "If-Match", `"7"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
		w.Call(c.method, c.path, c.body, "If-Match", "7").Refused(t, 400, errs.InvalidHeader, "If-Match")
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s %s has changed something", c.method, c.path)
		}
		etag := w.Call(http.MethodGet, path(k), nil).Header.Get("ETag")
		if a := w.Call(c.method, c.path, c.body, "If-Match", etag); a.Error != nil {
			t.Errorf("%s %s with %s: %s", c.method, c.path, etag, a.Raw)
		}
	}
}

func TestAKeyThatExpires(t *testing.T) {
	w := newWorld(t)
	expires := w.Now().Add(time.Hour)
	k := w.create("expires_at", expires)
	w.Clock.Add(time.Hour - 2*time.Second)
	w.works(true, k.Secret)
	if got := w.get(k); got.State != "active" {
		t.Errorf("%+v", got)
	}
	w.Clock.Add(time.Second)
	w.works(false, k.Secret)
	if got := w.get(k); got.State != "expired" {
		t.Errorf("%+v", got)
	}
	w.refused(w.Caller, []rejectedCall{{"rotation", "POST", path(k) + "/rotate", object{}, 409, errs.InvalidState, ""}})
	w.Call("POST", path(k)+"/rotate", object{}).Context(t, `{"state":"expired","allowed":["update","revoke"]}`)
	// Its expiry lies in the past, and may stay there while other things change.
	if got := w.patch(k, object{"name": "Old"}); got.State != "expired" || !got.ExpiresAt.Equal(expires) {
		t.Errorf("%+v", got)
	}
	w.works(false, k.Secret)
	if got := w.patch(k, object{"expires_at": nil}); got.State != "active" || got.ExpiresAt != nil {
		t.Errorf("%+v", got)
	}
	w.works(true, k.Secret)
}

func TestRevoke(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	old := w.rotate(k, time.Hour)
	w.works(true, k.Secret, old.Secret)
	w.Clock.Add(time.Minute)
	var got apikey.Key
	w.Call(http.MethodDelete, path(k), nil).Into(t, http.StatusOK, &got)
	if got.State != "revoked" || got.Version != 3 || got.ID != k.ID {
		t.Errorf("%+v", got)
	}
	w.works(false, k.Secret, old.Secret)
	if n := strings.Count(storetest.Snapshot(t, w.DB), " x_revoked true\n"); n != 2 {
		t.Errorf("%d secrets are revoked", n)
	}
	if read := w.get(k); read.State != "revoked" || read.Version != 3 {
		t.Errorf("read as %+v", read)
	}
	before := storetest.Snapshot(t, w.DB)
	w.Call(http.MethodDelete, path(k), nil).Into(t, http.StatusOK, &got)
	if got.Version != 3 || storetest.Snapshot(t, w.DB) != before {
		t.Errorf("revoked once more: %+v", got)
	}
	w.refused(w.Caller, []rejectedCall{
		{"change", "PATCH", path(k), object{"name": "New"}, 409, errs.InvalidState, ""},
		{"rotation", "POST", path(k) + "/rotate", object{}, 409, errs.InvalidState, ""},
	})
	w.Call("PATCH", path(k), object{"name": "New"}).Context(t, `{"state":"revoked","allowed":[]}`)
	// The reason for which a key ended stays known: revoking wins over expiry.
	w.Clock.Add(1000 * time.Hour)
	if read := w.get(k); read.State != "revoked" {
		t.Errorf("read as %+v", read)
	}
}

func TestRotateAtOnce(t *testing.T) {
	w := newWorld(t)
	k := w.create("ip_allow_list", []string{"203.0.113.0/24"}, "metadata", object{"team": "sales"})
	for _, body := range []any{nil, object{}, object{"overlap_seconds": 0}} {
		w.Clock.Add(time.Minute)
		var n apikey.NewKey
		w.Call(http.MethodPost, path(k)+"/rotate", body).Into(t, http.StatusCreated, &n)
		if n.Secret == k.Secret || n.ID != k.ID || n.Version != k.Version+1 || n.Prefix != n.Secret[:13] ||
			n.Last4 != n.Secret[len(n.Secret)-4:] {
			t.Errorf("%+v", n)
		}
		if mode, ok := auth.ParseKey(n.Secret); !ok || mode != tenant.Test {
			t.Errorf("%s is a key of mode %s", n.Secret, mode)
		}
		w.works(false, k.Secret)
		w.works(true, n.Secret)
		if s, _ := w.secret(n.Secret); !slices.Equal(s.KeyIPs, k.IPAllowList) ||
			!slices.Equal(s.Scopes, []string{"content:read"}) || s.KeyID != k.ID || s.Limit != 60 {
			t.Errorf("the authorizer learns %+v", *s)
		}
		if got := w.get(k); got.Prefix != n.Prefix || got.Metadata["team"] != "sales" || got.LastUsedAt == nil {
			t.Errorf("read as %+v", got)
		}
		k = n
	}
}

func TestRotateWithAnOverlap(t *testing.T) {
	w := newWorld(t)
	first := w.create()
	second := w.rotate(first, time.Hour)
	w.Clock.Add(30 * time.Minute)
	third := w.rotate(first, time.Hour)
	w.works(true, first.Secret, second.Secret, third.Secret)
	// They are one key: they share one count and the same rights.
	w.Clock.Add(time.Minute)
	for i, secret := range []string{first.Secret, second.Secret, third.Secret, first.Secret} {
		if s, _ := w.secret(secret); s.Count != i+1 || s.KeyID != first.ID {
			t.Errorf("call %d was counted as %d", i+1, s.Count)
		}
	}
	w.patch(first, object{"scopes": []string{"studio:use"}})
	for _, secret := range []string{first.Secret, second.Secret, third.Secret} {
		if s, _ := w.secret(secret); !slices.Equal(s.Scopes, []string{"studio:use"}) {
			t.Errorf("after the change: %+v", *s)
		}
	}
	w.Clock.Add(29*time.Minute - time.Second)
	w.works(true, first.Secret, second.Secret, third.Secret)
	w.Clock.Add(2 * time.Second)
	w.works(false, first.Secret)
	w.works(true, second.Secret, third.Secret)
	// A rotation without an overlap ends every earlier secret, also those that were
	// promised more time.
	fourth := w.rotate(first, 0)
	w.works(false, first.Secret, second.Secret, third.Secret)
	w.works(true, fourth.Secret)
	if len(fourth.OldSecrets) != 0 {
		t.Errorf("old secrets are listed: %+v", fourth.OldSecrets)
	}
}

// A secret that has ended stays known for 90 days, for the audit log, and its key works on.
func TestEndedSecretsAreForgotten(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	second := w.rotate(k, time.Hour)
	ended := w.create()
	w.Call(http.MethodDelete, path(ended), nil).Into(t, http.StatusOK, new(any))
	known := func(secret string) bool {
		_, err := credential.Find(t.Context(), w.DB, auth.HashKey(secret))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	w.Clock.Add(89 * day)
	if !known(k.Secret) || !known(ended.Secret) {
		t.Error("a secret is forgotten after 89 days")
	}
	w.Clock.Add(day + 2*time.Hour)
	if known(k.Secret) || known(ended.Secret) {
		t.Error("a secret is known after 90 days")
	}
	if n := storetest.Expire(t, w.DB, w.Now()); n < 2 {
		t.Errorf("%d items are removed", n)
	}
	w.works(true, second.Secret) // which was not used before
	third := w.rotate(k, time.Hour)
	w.works(true, third.Secret)
	w.Clock.Add(100 * day)
	w.Call(http.MethodDelete, path(k), nil).Into(t, http.StatusOK, new(any))
	w.works(false, third.Secret)
}

func TestARotationIsRefused(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	post := func(name string, body any, status int, code errs.Code, param string) rejectedCall {
		return rejectedCall{name, "POST", path(k) + "/rotate", body, status, code, param}
	}
	w.refused(w.Caller, []rejectedCall{
		post("a long overlap", object{"overlap_seconds": 604801}, 422, errs.ValidationFailed, "/overlap_seconds"),
		post("a negative overlap", object{"overlap_seconds": -1}, 422, errs.ValidationFailed, "/overlap_seconds"),
		post("half a second", object{"overlap_seconds": 0.5}, 422, errs.ValidationFailed, "/overlap_seconds"),
		post("an unknown member", object{"overlap": 1}, 422, errs.ValidationFailed, "/overlap"),
		post("a broken body", "{", 400, errs.MalformedJSON, ""),
	})
	var secrets []string
	n := k
	for range 5 {
		secrets = append(secrets, n.Secret)
		n = w.rotate(k, 7*24*time.Hour)
	}
	w.works(true, secrets...)
	w.refused(w.Caller, []rejectedCall{
		post("a sixth overlap", object{"overlap_seconds": 1}, 409, errs.InvalidState, ""),
	})
	w.works(true, n.Secret)
	// Once their overlaps are over there is place again.
	w.Clock.Add(7 * 24 * time.Hour)
	again := w.rotate(k, time.Hour)
	w.works(false, secrets...)
	w.works(true, n.Secret, again.Secret)
	last := w.rotate(k, 0)
	w.works(false, n.Secret, again.Secret)
	w.works(true, last.Secret)
}

func TestWhenAKeyWasLastUsed(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	if got := w.get(k); got.LastUsedAt != nil || got.LastUsedIP != nil {
		t.Errorf("before its first call: %+v", got)
	}
	at := w.Now()
	w.secret(k.Secret)
	w.Clock.Add(time.Second)
	w.secret(k.Secret)
	check := func(got apikey.Key) {
		t.Helper()
		if got.LastUsedAt == nil || !got.LastUsedAt.Equal(at) || *got.LastUsedIP != "203.0.113.9" {
			t.Errorf("%+v", got)
		}
	}
	check(w.get(k))
	check(w.patch(k, object{"name": "New"}))
	check(w.rotate(k, time.Hour).Key)
	check(w.get(k))
	w.Clock.Add(time.Minute)
	at = w.Now()
	w.secret(k.Secret) // the old one, in its overlap
	check(w.get(k))
	var revoked apikey.Key
	w.Call(http.MethodDelete, path(k), nil).Into(t, http.StatusOK, &revoked)
	check(revoked)
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == "api_key" && strings.Contains(row["doc"], `last_used_at":"`) {
			t.Error("the document keeps what is noted beside it")
		}
	}
}

func TestChangesTakeOneReadAndOneTransaction(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	for _, c := range []struct {
		call string
		do   func()
		want string
	}{
		{"get", func() { w.get(k) }, "BatchGetItem GetItem"},
		{"change", func() { w.patch(k, object{"name": "New"}) }, "BatchGetItem TransactWriteItems"},
		{"rotate", func() { w.rotate(k, time.Hour) }, "BatchGetItem TransactWriteItems"},
	} {
		w.Faults.Reset()
		c.do()
		if got := w.Faults.Operations(); got != c.want {
			t.Errorf("%s took %s", c.call, got)
		}
	}
	w.Faults.Reset()
	w.Call(http.MethodDelete, path(k), nil)
	if got := w.Faults.Operations(); got != "BatchGetItem TransactWriteItems" {
		t.Errorf("revoke took %s", got)
	}
}
