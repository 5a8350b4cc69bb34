package social

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
)

// Vault seals the tokens of accounts, and opens them.
type Vault struct{ *seal.Envelope }

// Seal encrypts a value as JSON for one account. A copy of it does not open for a different
// account.
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

// Token opens the account of the platform with its token.
func (v Vault) Token(ctx context.Context, o tenant.Owner, r *Record) (a platform.Account, err error) {
	return a, v.Open(ctx, o, r.ID, r.Sealed, &a)
}
