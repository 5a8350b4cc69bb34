package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// demoCredits is the balance of the demo account, enough for a few thousand posts.
const demoCredits = 100_000

// demo is the account of every local system, with its keys.
type demo struct{ account, test, live string }

// seed makes the demo account on the enterprise plan, with credits, and with one key of each
// kind that has all permissions.
func seed(ctx context.Context, s *system.System) (demo, error) {
	db := store.Open(s.AWS(), s.Table)
	accounts := account.NewService(db, time.Now)
	keys := apikey.NewService(db, accounts, time.Now, rand.Reader)

	name, plan := "Demo", auth.EnterprisePlan
	// A connection of a social account may return to any page of these addresses.
	pages := []string{s.BaseURL, "http://127.0.0.1:9090"}
	made, err := accounts.Create(ctx, account.Settings{Name: &name, Plan: &plan, ReturnURLs: &pages})
	if err != nil {
		return demo{}, fmt.Errorf("making the demo account: %w", err)
	}
	d := demo{account: made.ID}
	if _, err := accounts.TopUp(ctx, tenant.Account(made.ID), demoCredits); err != nil {
		return demo{}, fmt.Errorf("giving the demo account credits: %w", err)
	}
	for _, kind := range []struct {
		mode   tenant.Mode
		secret *string
	}{{tenant.Test, &d.test}, {tenant.Live, &d.live}} {
		key, err := keys.Issue(ctx, tenant.Account(made.ID), kind.mode,
			apikey.Settings{Name: "Demo " + string(kind.mode), Scopes: auth.AllScopes()})
		if err != nil {
			return demo{}, fmt.Errorf("making the demo account's %s key: %w", kind.mode, err)
		}
		*kind.secret = key.Secret
	}
	return d, nil
}
