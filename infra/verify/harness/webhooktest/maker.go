package webhooktest

import (
	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
)

// PutKey writes the key of a caller, as the area of API keys keeps it. It may exist.
func PutKey(c *apitest.Caller) {
	c.ChangeKey(func(k *keyrecord.Record) { k.Scopes, k.State = c.Principal.Scopes, keyrecord.Active })
}

// Key returns a caller with a new key of the account that has the scopes.
func (w *World) Key(scopes ...auth.Scope) *apitest.Caller {
	w.T.Helper()
	c := w.API.As(func(p *auth.Principal) { p.Actor, p.Scopes = auth.Key(id.New(id.APIKey, w.Clock.Now())), scopes })
	PutKey(c)
	return c
}

// Rescope gives the caller's key these scopes.
func (w *World) Rescope(c *apitest.Caller, scopes ...auth.Scope) {
	w.T.Helper()
	c.Principal.Scopes = scopes
	PutKey(c)
}
