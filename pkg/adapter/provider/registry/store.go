package registry

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/cloud/secret"
)

// Credentials reads the credentials of one secret. It is safe for concurrent use.
type Credentials struct {
	cache *secret.Cache[map[string]Secret]
}

// NewCredentials makes a store of the secret whose value read returns; see secret.Manager.
func NewCredentials(read func(context.Context) (string, error), now func() time.Time) *Credentials {
	return &Credentials{secret.NewCache(read, ParseCredentials, now)}
}

// Get returns the credential of a provider, or the zero value if the secret has none
// for it. An error means that the secret could not be read; it is transient.
func (s *Credentials) Get(ctx context.Context, provider string) (Secret, error) {
	secrets, err := s.cache.Get(ctx)
	return secrets[provider], err
}

// Key returns a function that returns the credential of one provider.
func (s *Credentials) Key(provider string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		secret, err := s.Get(ctx, provider)
		return secret.Reveal(), err
	}
}

// Forget makes the next Get read the secret again. It is called when a provider has
// refused its credential, which may have been replaced since it was read.
func (s *Credentials) Forget(ctx context.Context) { s.cache.Forget(ctx) }
