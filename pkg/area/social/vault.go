package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

// Vault seals the tokens of accounts, and opens them.
type Vault struct {
	*seal.Envelope
	// DB has the applications of customers. It is not needed to seal, and to open a value.
	DB *store.DB
}

// Seal encrypts a value as JSON for one account. A copy of it does not open for a different account.
func (v Vault) Seal(ctx context.Context, o tenant.Owner, accountID string, value any) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("social: encode what is sealed for %s: %w", accountID, err)
	}
	sealed, err := v.Envelope.Seal(ctx, string(o.Account), plain, sealedFor(o, accountID))
	if err != nil {
		return nil, fmt.Errorf("social: seal for %s: %w", accountID, err)
	}
	return sealed, nil
}

// Open decrypts a value that was sealed for the account into value. Its error wraps seal.ErrOpen if that can never
// succeed.
func (v Vault) Open(ctx context.Context, o tenant.Owner, accountID string, sealed []byte, value any) error {
	plain, err := v.Envelope.Open(ctx, string(o.Account), sealed, sealedFor(o, accountID))
	if err != nil {
		return fmt.Errorf("social: open what is sealed for %s: %w", accountID, err)
	}
	if err := json.Unmarshal(plain, value); err != nil {
		// The cause could show a token.
		return fmt.Errorf("social: decode what is sealed for %s: %w", accountID, seal.ErrOpen)
	}
	return nil
}

func sealedFor(o tenant.Owner, accountID string) string { return o.String() + "#" + accountID }

// Token opens the account of the platform with its token. Calls of the platform that take the token need the returned
// context, which has the application that the token was made with if it is not the operator's. The error is a
// platform.Error of the kind Reconnect if that application was deleted, and provider_unavailable while a token that the
// platform has refused is renewed: no call is made with such a token.
func (v Vault) Token(ctx context.Context, o tenant.Owner, r *Record) (context.Context, platform.Account, error) {
	if r.refused() {
		return ctx, platform.Account{}, errs.New(errs.ProviderUnavailable, "The access to the account is being "+
			"renewed. "+
			"Try again in a few seconds.")
	}
	return v.account(ctx, o, r)
}

// account opens the account of the platform with its token, for a refresh.
func (v Vault) account(ctx context.Context, o tenant.Owner, r *Record) (context.Context, platform.Account, error) {
	var a platform.Account
	if err := v.Open(ctx, o, r.ID, r.Sealed, &a); err != nil {
		return ctx, a, err
	}
	with, err := v.with(ctx, o, r.ApplicationID)
	return with, a, err
}

// with returns a context with an application of a customer, or the context itself without one.
func (v Vault) with(ctx context.Context, o tenant.Owner, applicationID *string) (context.Context, error) {
	if applicationID == nil {
		return ctx, nil
	}
	it, err := v.DB.Get(tenant.Unconfined(ctx), store.IDKey(*applicationID))
	var r applicationRecord
	if err == nil && it.Kind == ApplicationKind && o.Uses(it.Owner) {
		if r, err = applicationOf(&it); err != nil {
			return ctx, err
		}
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && (r.ID == "" || r.Deleted) {
		return ctx, platform.NeedsReconnect(platform.CodeNeedsReconnect,
			"The application that the account was connected with was deleted. Connect the account again.")
	}
	if err != nil {
		return ctx, err
	}
	app := platform.App{ID: r.ClientID, Scopes: strings.Join(r.Scopes, " ")}
	if len(r.Sealed) > 0 {
		err = v.Open(ctx, it.Owner, r.ID, r.Sealed, &app.Secret)
	}
	return platform.WithApp(ctx, app), err
}
