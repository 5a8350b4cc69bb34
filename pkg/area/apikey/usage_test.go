package apikey_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

func TestTheUsageOfAKey(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	details := func() (d apikey.Details) {
		t.Helper()
		w.Call(http.MethodGet, path(k), nil).Into(t, http.StatusOK, &d)
		return d
	}
	if got := details(); got.Usage != (apikey.Usage{}) || got.Spent != 0 {
		t.Errorf("a new key: %+v", got)
	}
	for range 3 {
		w.secret(k.Secret)
	}
	w.Clock.Add(time.Minute)
	for range 62 {
		w.secret(k.Secret)
	}
	tx := &store.Tx{}
	tx.Count(ledger.SpendKey(tenant.Account(w.account.ID), k.ID, w.Now()), 70, 1000, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	want := credential.Calls{Requests: 65, Refused: 2}
	if got := details(); got.Usage.LastDay != want || got.Usage.LastMonth != want || got.Spent != 70 || got.ID != k.ID {
		t.Errorf("%+v", got)
	}
	w.Faults.Reset()
	details()
	if got := w.Faults.Operations(); got != "BatchGetItem GetItem" {
		t.Errorf("it took %s", got)
	}
	// A rotation loses nothing, before the key is used again and after it.
	rotated := w.rotate(k, time.Hour)
	if got := details(); got.Usage.LastDay != want || got.Usage.LastMonth != want || got.Days[29].Calls != want {
		t.Errorf("just after a rotation: %+v", got)
	}
	w.secret(rotated.Secret)
	w.secret(k.Secret)
	if got := details(); got.Usage.LastDay.Requests != 67 {
		t.Errorf("after a rotation: %+v", got)
	}
	w.Clock.Add(time.Minute)
	w.secret(w.rotate(k, 0).Secret)
	if got := details(); got.Usage.LastDay.Requests != 68 {
		t.Errorf("after a rotation and a minute: %+v", got)
	}
	// The next month begins with nothing spent.
	w.Clock.Add(31 * 24 * time.Hour)
	if got := details(); got.Usage.LastDay.Requests != 0 || got.Spent != 0 {
		t.Errorf("a month later: %+v", got)
	}
	if raw := w.Call(http.MethodGet, "/v1/api-keys", nil).Raw; strings.Contains(raw, "usage") {
		t.Errorf("the list has usage: %s", raw)
	}
}

// A rotation hides no call: neither those of the minute before it, nor those that are refused after it because they
// still have the earlier secret.
func TestARotationHidesNoCalls(t *testing.T) {
	w := newWorld(t)
	k := w.create()
	for range 7 {
		w.secret(k.Secret)
	}
	check := func(when string, want credential.Calls) {
		t.Helper()
		var d apikey.Details
		w.Call(http.MethodGet, path(k), nil).Into(t, http.StatusOK, &d)
		if d.Usage.LastDay != want || d.Usage.LastMonth != want || d.Days[len(d.Days)-1].Calls != want {
			t.Errorf("%s: %+v, want %+v", when, d, want)
		}
	}
	check("before it", credential.Calls{Requests: 7})
	second := w.rotate(k, 0)
	check("after it", credential.Calls{Requests: 7})
	old, _ := w.secret(k.Secret)
	for range 3 {
		if _, err := credential.NewCounter(w.DB, w.Now).CountDenied(t.Context(), old, w.Now().Unix()/60); err != nil {
			t.Fatal(err)
		}
	}
	check("with the earlier secret", credential.Calls{Requests: 10, Refused: 3})
	w.Clock.Add(10 * time.Minute)
	third := w.rotate(second, time.Hour)
	check("ten minutes later, after another one", credential.Calls{Requests: 10, Refused: 3})
	w.secret(third.Secret)
	check("after a call", credential.Calls{Requests: 11, Refused: 3})
	w.Clock.Add(time.Minute)
	w.secret(third.Secret)
	check("after a call in another minute", credential.Calls{Requests: 12, Refused: 3})
}
