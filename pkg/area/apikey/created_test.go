package apikey_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// by returns a caller with a key that manages others.
func (w *world) by(k apikey.NewKey) *apitest.Caller {
	return w.with(k, auth.AccountManage, auth.ContentRead)
}

// child makes a manager by the key.
func (w *world) child(of apikey.NewKey) (k apikey.NewKey) {
	w.T.Helper()
	w.by(of).Call("POST", "/v1/api-keys", body("kind", "live", "scopes", manager)).Into(w.T, http.StatusCreated, &k)
	w.Clock.Add(time.Second)
	return k
}

// states returns the state of every key.
func (w *world) states() map[string]string {
	w.T.Helper()
	states := map[string]string{}
	for _, k := range apitest.All[apikey.Key](w.Caller, "/v1/api-keys", 100) {
		states[k.ID] = k.State
	}
	return states
}

// revoked checks that these keys are revoked and no others.
func (w *world) revoked(want ...apikey.NewKey) {
	w.T.Helper()
	var ended, wanted []string
	for id, state := range w.states() {
		if state == "revoked" {
			ended = append(ended, id)
		}
	}
	for _, k := range want {
		wanted = append(wanted, k.ID)
		w.works(false, k.Secret)
	}
	slices.Sort(ended)
	slices.Sort(wanted)
	if !slices.Equal(ended, wanted) {
		w.T.Errorf("revoked are %v, want %v", ended, wanted)
	}
}

const all = "?include_created=true"

func TestAKeyIsRevokedWithThoseItCreated(t *testing.T) {
	w := newWorld(t)
	root := w.create("kind", "live", "scopes", manager)
	son, daughter := w.child(root), w.child(root)
	grandson := w.child(son)
	other := w.create("kind", "live", "scopes", manager)
	w.child(other)
	var got apikey.RevokedKey
	// By default those that it has created stay.
	w.Call(http.MethodDelete, path(son), nil).Into(t, http.StatusOK, &got)
	if got.RevokedKeys != nil {
		t.Errorf("%+v", got)
	}
	w.revoked(son)
	for range 2 { // a repeat finds them revoked
		w.Call(http.MethodDelete, path(root)+all, nil).Into(t, http.StatusOK, &got)
		if got.State != "revoked" || got.ID != root.ID || got.RevokedKeys == nil || *got.RevokedKeys != 3 {
			t.Errorf("%+v", got)
		}
		w.revoked(root, son, daughter, grandson)
	}
	w.Call(http.MethodDelete, path(other)+"?include_created=maybe", nil).Refused(t, 422, errs.ValidationFailed,
		"include_created")
	// Their places are free again: 80 less those that are there.
	for range 80 - 3 {
		w.create()
	}
	w.Call("POST", "/v1/api-keys", body()).Refused(t, 409, errs.InvalidState, "")
}

// A revocation of one key is not repeated as one of several.
func TestTheQueryIsPartOfARepeat(t *testing.T) {
	w := newWorld(t)
	root := w.create("kind", "live", "scopes", manager)
	child := w.child(root)
	call := func(query string) apitest.Answer {
		return w.Call(http.MethodDelete, path(root)+query, nil, "Idempotency-Key", "revoke")
	}
	first := call("?include_created=false")
	first.Into(t, http.StatusOK, new(apikey.RevokedKey))
	call(all).Refused(t, 422, errs.IdempotencyKeyReused, "Idempotency-Key")
	call("").Refused(t, 422, errs.IdempotencyKeyReused, "Idempotency-Key")
	if again := call("?include_created=false"); again.Raw != first.Raw ||
		again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s", again.Raw)
	}
	var got apikey.NewKey
	if w.Call(http.MethodGet, path(child), nil).Into(t, http.StatusOK, &got); got.State != "active" {
		t.Errorf("%+v", got)
	}
}

// A leaked key may have made webhooks, which go on with its scopes.
func TestWebhooksEndWithTheKeysThatMadeThem(t *testing.T) {
	w := newWorld(t)
	root := w.create("kind", "live", "scopes", manager)
	son, other := w.child(root), w.create("kind", "live", "scopes", manager)
	account := w.Principal.Account
	add := func(mode tenant.Mode, maker apikey.NewKey) webhook.Ref {
		t.Helper()
		to := webhook.Ref{Owner: tenant.Of(account, mode), ID: id.New(id.Webhook, w.Now())}
		w.Clock.Add(time.Second)
		it, err := store.NewItem(webhook.Kind, to.Owner, to.ID,
			webhook.WebhookRecord{Webhook: webhook.Webhook{State: webhook.StateEnabled, CreatedBy: maker.ID}})
		if err != nil {
			t.Fatal(err)
		}
		it.Key, it.ListKey = to.Key(), store.Key{}
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		return to
	}
	of := map[webhook.Ref]string{
		add(tenant.Live, root): webhook.StateDisabled, add(tenant.Live, son): webhook.StateDisabled,
		add(tenant.Test, son):   webhook.StateDisabled,
		add(tenant.Live, other): webhook.StateEnabled,
	}
	check := func(name string, want func(state string) string) {
		t.Helper()
		for to, state := range of {
			it, err := w.DB.Get(t.Context(), to.Key())
			if err != nil {
				t.Fatal(err)
			}
			var r webhook.WebhookRecord
			if err := it.Decode(&r); err != nil || r.State != want(state) {
				t.Errorf("%s: a webhook of %s is %s, %v", name, r.CreatedBy, r.State, err)
			}
		}
	}
	w.Call(http.MethodDelete, path(other), nil).Into(t, http.StatusOK, new(any))
	check("without include_created", func(string) string { return webhook.StateEnabled })
	w.Call(http.MethodDelete, path(root)+all, nil).Into(t, http.StatusOK, new(any))
	check("with include_created", func(state string) string { return state })
}

// family makes a key with as many others as an account may have, which do not fit into
// one transaction: some have old secrets.
func (w *world) family() []apikey.NewKey {
	keys := []apikey.NewKey{w.create("kind", "live", "scopes", manager)}
	for i := range 78 {
		keys = append(keys, w.child(keys[i/5]))
	}
	for _, k := range keys[:8] {
		for range 3 {
			w.rotate(k, time.Hour)
		}
	}
	return keys
}

func TestALargeFamilyIsRevokedInSeveralTransactions(t *testing.T) {
	w := newWorld(t)
	keys := w.family()
	w.Faults.Reset()
	w.Faults.Bodies = true
	var got apikey.RevokedKey
	w.Call(http.MethodDelete, path(keys[0])+all, nil).Into(t, http.StatusOK, &got)
	if *got.RevokedKeys != 78 {
		t.Errorf("%+v", got)
	}
	commits := 0
	for _, c := range w.Faults.Calls() {
		var tx struct{ TransactItems []json.RawMessage }
		if err := json.Unmarshal(c.Body, &tx); err != nil {
			t.Fatal(err)
		}
		if n := len(tx.TransactItems); n > 100 {
			t.Errorf("a transaction has %d writes", n)
		} else if n > 0 {
			commits++
		}
	}
	if commits < 3 {
		t.Errorf("there were %d transactions", commits)
	}
	w.revoked(keys...)
}

func TestARevocationThatCrashedIsCompletedByARepeat(t *testing.T) {
	w := newWorld(t)
	keys := w.family()
	etag := w.Call(http.MethodGet, path(keys[0]), nil).Header.Get("ETag")
	w.Faults.Reset()
	w.Faults.Before("TransactWriteItems", func() {
		w.Faults.Before("TransactWriteItems",
			func() { w.Faults.Reject("TransactWriteItems", "ValidationException", 1) })
	})
	header := []string{"If-Match", etag, "Idempotency-Key", "revoke-1"}
	if a := w.Call(http.MethodDelete, path(keys[0])+all, nil, header...); a.Status != http.StatusInternalServerError {
		t.Fatalf("answered %s", a.Raw)
	}
	n := 0
	for _, state := range w.states() {
		if state == "revoked" {
			n++
		}
	}
	if n == 0 || n > 78 || w.get(keys[0]).State != "active" {
		t.Errorf("%d keys are revoked after the crash, the first is %s", n, w.get(keys[0]).State)
	}
	var got apikey.RevokedKey
	w.Call(http.MethodDelete, path(keys[0])+all, nil, header...).Into(t, http.StatusOK, &got)
	if *got.RevokedKeys != 78 {
		t.Errorf("%+v", got)
	}
	w.revoked(keys...)
}

func TestAKeyMadeDuringARevocationIsRevokedToo(t *testing.T) {
	w := newWorld(t)
	root := w.create("kind", "live", "scopes", manager)
	son := w.child(root)
	var late apikey.NewKey
	w.Faults.Before("TransactWriteItems", func() { late = w.child(son) })
	var got apikey.RevokedKey
	w.Call(http.MethodDelete, path(root)+all, nil).Into(t, http.StatusOK, &got)
	if *got.RevokedKeys != 2 {
		t.Errorf("%+v", got)
	}
	w.revoked(root, son, late)
}

func TestAKeyMayRevokeItsMakerAndItself(t *testing.T) {
	w := newWorld(t)
	keys := w.family()
	caller := w.by(keys[1])
	w.Faults.Before("TransactWriteItems", func() {
		w.Faults.Before("TransactWriteItems",
			func() { w.Faults.Reject("TransactWriteItems", "ValidationException", 1) })
	})
	if a := caller.Call(http.MethodDelete, path(keys[0])+all, nil); a.Status != http.StatusInternalServerError {
		t.Fatalf("answered %s", a.Raw)
	}
	// It is still there to repeat the request.
	if got := w.get(keys[1]); got.State != "active" {
		t.Errorf("%+v", got)
	}
	var got apikey.RevokedKey
	caller.Call(http.MethodDelete, path(keys[0])+all, nil).Into(t, http.StatusOK, &got)
	w.revoked(keys...)
}

// events returns the types and keys of the events about keys, oldest first.
func (w *world) events() (all []string) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != "event" {
			continue
		}
		var e struct {
			ID, Type, Mode string
			Data           struct{ Object apikey.Key }
		}
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if e.Mode != string(e.Data.Object.Kind) || row["mode"] != e.Mode || row["acc"] != w.account.ID {
			w.T.Errorf("the event %v", row)
		}
		all = append(all, e.ID+" "+e.Type+" "+e.Data.Object.Name+" "+e.Data.Object.State)
	}
	slices.Sort(all)
	for i := range all {
		_, all[i], _ = strings.Cut(all[i], " ")
	}
	return all
}

func TestOwnersLearnOfKeys(t *testing.T) {
	w := newWorld(t)
	k := w.create("name", "A")
	w.rotate(k, time.Hour)
	w.Clock.Add(time.Second)
	w.patch(k, object{"name": "B"})
	w.Call(http.MethodDelete, path(k), nil)
	w.Call(http.MethodDelete, path(k), nil) // which has no effect
	want := []string{"api_key.created First active", "api_key.created A active", "api_key.rotated A active",
		"api_key.revoked B revoked"}
	if got := w.events(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == "event" && (strings.Contains(row["doc"], k.Secret) ||
			strings.Contains(row["doc"], auth.HashKey(k.Secret))) {
			t.Errorf("an event has the secret: %s", row["doc"])
		}
	}
}
