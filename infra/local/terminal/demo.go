package terminal

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/store"
)

// demoCredits is the balance of the demo account, enough for a few thousand posts.
const demoCredits = 100_000

// Demo is the account of every local system, with its keys.
type Demo struct{ Account, Test, Live string }

// NewDemo makes the demo account on the enterprise plan, with credits, and with one key of each kind that has all
// permissions. Connections of social accounts may return to the pages of the API at base, if it is an address for
// browsers: https, or http on this machine.
func NewDemo(ctx context.Context, db *store.DB, base string, now func() time.Time) (Demo, error) {
	accounts := account.NewService(db, now)
	keys := apikey.NewService(db, accounts, now, rand.Reader)

	name, plan := "Demo", auth.EnterprisePlan
	pages := []string{"http://127.0.0.1:9090"}
	// A name of a container network is no address that browsers of owners return to.
	if safehttp.CheckReturn([]string{base}, "") == nil {
		pages = append(pages, base)
	}
	made, err := accounts.Create(ctx, account.Settings{Name: &name, Plan: &plan, ReturnURLs: &pages})
	if err != nil {
		return Demo{}, fmt.Errorf("making the demo account: %w", err)
	}
	d := Demo{Account: made.ID}
	if _, err := accounts.TopUp(ctx, tenant.Account(made.ID), demoCredits); err != nil {
		return Demo{}, fmt.Errorf("giving the demo account credits: %w", err)
	}
	for _, kind := range []struct {
		mode   tenant.Mode
		secret *string
	}{{tenant.Test, &d.Test}, {tenant.Live, &d.Live}} {
		key, err := keys.Issue(ctx, tenant.Account(made.ID), kind.mode,
			apikey.Settings{Name: "Demo " + string(kind.mode), Scopes: auth.AllScopes()})
		if err != nil {
			return Demo{}, fmt.Errorf("making the demo account's %s key: %w", kind.mode, err)
		}
		*kind.secret = key.Secret
	}
	return d, nil
}
