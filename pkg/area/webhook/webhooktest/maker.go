package webhooktest

import (
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// PutKey writes the key of a caller, as the area of API keys keeps it. It may exist.
func PutKey(t *testing.T, db *store.DB, c *apitest.Caller) {
	t.Helper()
	ChangeKey(t, db, c, func(k *keyrecord.Record) { k.Scopes, k.State = c.Principal.Scopes, keyrecord.Active })
}

// ChangeKey changes the key of a caller, and makes it if there is none.
func ChangeKey(t *testing.T, db *store.DB, c *apitest.Caller, change func(*keyrecord.Record)) {
	t.Helper()
	var k keyrecord.Record
	k.ID = c.Principal.Actor.ID
	tx, at := &store.Tx{}, endpoint.MakerKey(c.Principal.Account, k.ID)
	it, err := db.Get(t.Context(), at)
	if err == nil {
		err = it.Decode(&k)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	change(&k)
	it.Key, it.Kind, it.Owner = at, "api_key", tenant.Of(c.Principal.Account, "")
	if err := it.Encode(k); err != nil {
		t.Fatal(err)
	}
	if it.Version == 0 {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// Key returns a caller with a new key of the account that has the scopes.
func (w *World) Key(scopes ...auth.Scope) *apitest.Caller {
	w.T.Helper()
	c := w.API.As(func(p *auth.Principal) { p.Actor, p.Scopes = auth.Key(id.New(id.APIKey, w.Clock.Now())), scopes })
	PutKey(w.T, w.DB, c)
	return c
}

// Rescope gives the caller's key these scopes.
func (w *World) Rescope(c *apitest.Caller, scopes ...auth.Scope) {
	w.T.Helper()
	c.Principal.Scopes = scopes
	PutKey(w.T, w.DB, c)
}
