// Package credentials gives the credentials that providers want. A customer's
// stack has one secret in AWS Secrets Manager that holds all of them:
//
//	{"fal": {"key": "…"}, "replicate": {"token": "…"}, "elevenlabs": {"key": "…"}, "heygen": {"key": "…"}}
//
// It is read by the functions that call providers alone, when the first call needs
// it, and kept for a few minutes. bedrock and polly have no credential of their
// own: the role of the function is what they go by.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// lifetime is how long what was read counts: a new credential is in use that
	// much later at most.
	lifetime = 5 * time.Minute
	// grace is how long what was read before goes on counting where it cannot be
	// read again: most likely it is still right.
	grace = 30 * time.Second
	// shortest is how old a credential must be for its refusal to have it read
	// again: a wrong one must not cost a call to the secret store each time.
	shortest = 10 * time.Second
	// readTimeout bounds reading, with all its repeats.
	readTimeout = 8 * time.Second
)

// Store reads the credentials of one secret. It is safe for concurrent use.
type Store struct {
	read func(context.Context) (string, error)
	now  func() time.Time

	// turn is held by whoever uses what is below: a lock that minds contexts, since
	// reading takes time.
	turn    chan struct{}
	secrets map[string]Secret
	readAt  time.Time
	until   time.Time
	refused bool // what was read does not count any more
}

// New makes a store of the secret whose value read gives; see SecretsManager.
func New(read func(context.Context) (string, error), now func() time.Time) *Store {
	return &Store{read: read, now: now, turn: make(chan struct{}, 1)}
}

// Get returns the credential of a provider; the zero value where the secret has
// none for it. An error means that the secret could not be read, and is worth a
// retry.
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

// Key hands the credential of one provider to the client that sends it there.
func (s *Store) Key(provider string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		secret, err := s.Get(ctx, provider)
		return secret.Reveal(), err
	}
}

// Forget tells that a provider has refused its credential: it may have been
// replaced since it was read. The next Get reads the secret again.
func (s *Store) Forget(ctx context.Context) {
	if s.enter(ctx) != nil {
		return // whoever is refused next tells it again
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
