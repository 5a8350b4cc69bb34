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
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// lifetime is how long a secret is cached, and so the longest delay until a new
	// credential is used.
	lifetime = 5 * time.Minute
	// grace extends the lifetime while the secret cannot be read again: most likely
	// it is unchanged.
	grace = 30 * time.Second
	// shortest is the age from which a refused credential is read again: a wrong one
	// must not cost a call to the secret store each time.
	shortest = 10 * time.Second
	// readTimeout bounds a read with its retries.
	readTimeout = 8 * time.Second
)

// Store reads the credentials of one secret. It is safe for concurrent use.
type Store struct {
	read func(context.Context) (string, error)
	now  func() time.Time

	// turn is a mutex, for the fields below, that a context can interrupt, since a
	// read takes time.
	turn    chan struct{}
	secrets map[string]Secret
	readAt  time.Time
	until   time.Time
	refused bool // the cached secret is no longer valid
}

// New makes a store of the secret whose value read returns; see SecretsManager.
func New(read func(context.Context) (string, error), now func() time.Time) *Store {
	return &Store{read: read, now: now, turn: make(chan struct{}, 1)}
}

// Get returns the credential of a provider, or the zero value if the secret has none
// for it. An error means that the secret could not be read; it is transient.
func (s *Store) Get(ctx context.Context, provider string) (Secret, error) {
	if err := s.enter(ctx); err != nil {
		return Secret{}, err
	}
	defer s.leave()
	if s.refused || !s.now().Before(s.until) {
		if err := s.refresh(ctx); err != nil {
			return Secret{}, err
		}
	}
	return s.secrets[provider], nil
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
func (s *Store) Forget(ctx context.Context) {
	if s.enter(ctx) != nil {
		return // the next refusal calls it again
	}
	defer s.leave()
	if s.now().Sub(s.readAt) >= shortest {
		s.refused = true
	}
}

func (s *Store) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) leave() { <-s.turn }

// refresh reads the secret.
func (s *Store) refresh(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	value, err := s.read(bounded)
	var secrets map[string]Secret
	if err == nil {
		secrets, err = Parse(value)
	}
	now := s.now()
	switch {
	case err == nil:
		s.secrets, s.readAt, s.until, s.refused = secrets, now, now.Add(lifetime), false
		return nil
	case s.secrets == nil || s.refused || ctx.Err() != nil:
		return fmt.Errorf("credentials: %w", errors.Join(ctx.Err(), err))
	default:
		slog.Warn("credentials could not be read again; the earlier ones go on counting", "error", err)
		s.until = now.Add(grace)
		return nil
	}
}
