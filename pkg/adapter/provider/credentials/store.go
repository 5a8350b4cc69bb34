// Package credentials caches the credentials of providers. A customer's stack has one
// secret in AWS Secrets Manager that holds all of them:
//
//	{"fal": {"key": "…"}, "replicate": {"token": "…"}, "elevenlabs": {"key": "…"}, "heygen": {"key": "…"}}
//
// Only functions that call providers read it, at the first call that needs it, and
// keep it for a few minutes. bedrock and polly have no credential of their own: they
// use the role of the function.
package credentials

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/cloud/secret"
)

// Store reads the credentials of one secret. It is safe for concurrent use.
type Store struct {
	cache *secret.Cache[map[string]Secret]
}

// New makes a store of the secret whose value read returns; see secret.Manager.
func New(read func(context.Context) (string, error), now func() time.Time) *Store {
	return &Store{secret.NewCache(read, Parse, now)}
}

// Get returns the credential of a provider, or the zero value if the secret has none
// for it. An error means that the secret could not be read; it is transient.
func (s *Store) Get(ctx context.Context, provider string) (Secret, error) {
	secrets, err := s.cache.Get(ctx)
	return secrets[provider], err
}

// Key returns a function that returns the credential of one provider.
func (s *Store) Key(provider string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		secret, err := s.Get(ctx, provider)
		return secret.Reveal(), err
	}
}

// Forget makes the next Get read the secret again. It is called when a provider has
// refused its credential, which may have been replaced since it was read.
func (s *Store) Forget(ctx context.Context) { s.cache.Forget(ctx) }
