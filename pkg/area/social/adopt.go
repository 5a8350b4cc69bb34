package social

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// Adopt adds an account of an export to the transaction, which a simulated account of its platform stands for. It is
// for sandboxes alone: their platforms need no consent.
func Adopt(ctx context.Context, tx *store.Tx, now time.Time, o tenant.Owner, v Vault, a Account) error {
	row, ok := registry.Find(a.Platform)
	if !ok || o.Mode != tenant.Test {
		return errs.New(errs.InvalidState, "The sandbox has no platform %s.", a.Platform)
	}
	on := platform.Account{ID: "sandbox-" + a.Platform + "-" + a.ID, Handle: string(a.Handle),
		Name:  string(a.DisplayName),
		Token: platform.Token{Access: platform.Secret("sandbox-token"), Scopes: row.Capabilities.Scopes}}
	a.ProfileID = o.ProfileID()
	r := &Record{Account: a}
	fill(r, on)
	r.ApplicationID = nil
	var err error
	if r.Sealed, err = v.Seal(ctx, o, r.ID, on); err != nil {
		return err
	}
	it, err := r.Item(o)
	if err != nil {
		return err
	}
	seen := store.Item{Key: IdentityKey(o, r.Platform, on.ID), Kind: "social_identity", Owner: o}
	if err := seen.Encode(identity{r.ID}); err != nil {
		return err
	}
	tx.Create(seen, nil)
	return r.Connect(tx, now, it, on.Token)
}
