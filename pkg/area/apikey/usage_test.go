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
	// A rotation loses nothing, once the key is used again.
	rotated := w.rotate(k, time.Hour)
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
