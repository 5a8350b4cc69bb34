package session

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

const (
	// ahead is the remaining lifetime of an access token at which it is refreshed.
	ahead = time.Minute
	// lease is the time for which one request refreshes the tokens of a session and the others wait.
	lease = 12 * time.Second
	// maxWaits bounds the looks of a request that waits for the refresh of another.
	maxWaits = 14
)

// Refresher exchanges refresh tokens.
type Refresher interface {
	// Refresh returns new tokens. It returns signin.ErrGrant if the issuer no longer accepts the refresh token.
	Refresh(ctx context.Context, refresh string) (signin.Tokens, error)
}

var _ Refresher = (*signin.Client)(nil)

var errRefresh = errs.New(errs.ProviderUnavailable, "Your sign-in cannot be renewed at the moment. Try again in a few "+
	"seconds.")

// AccessToken returns an access token of the session's person. If the stored one is about to expire, one request
// refreshes it, and requests of other tabs wait for that. If the issuer no longer accepts the refresh token, the
// session is removed and the error is ErrNone.
func (s *Store) AccessToken(ctx context.Context, of *Session, issuer Refresher) (string, error) {
	for try := range maxWaits {
		if err := backoff.Wait(ctx, try, 50*time.Millisecond, time.Second); err != nil {
			return "", err
		}
		now := s.now()
		if of.TokenEndsAt.Sub(now) > ahead {
			tokens, err := s.TokensOf(ctx, of)
			return tokens.Access, err
		}
		if !now.Before(of.LeaseEndsAt) {
			held := *of
			held.LeaseEndsAt = now.Add(lease)
			err := s.Save(ctx, &held)
			if err == nil {
				*of = held
				return s.refresh(ctx, of, issuer)
			}
			if !errors.Is(err, store.ErrConflict) {
				return "", err
			}
		}
		current, err := s.read(ctx, of.hash)
		if err != nil {
			return "", err
		}
		*of = *current
	}
	return "", errRefresh
}

// refresh refreshes the tokens of a session whose lease this request has.
func (s *Store) refresh(ctx context.Context, of *Session, issuer Refresher) (string, error) {
	earlier, err := s.TokensOf(ctx, of)
	if err != nil {
		return "", err
	}
	made, err := issuer.Refresh(ctx, earlier.Refresh)
	switch {
	case errors.Is(err, signin.ErrGrant):
		if err := s.End(ctx, of); err != nil {
			return "", err
		}
		return "", ErrNone
	case err != nil:
		// The next request tries again at once. If this write fails, it waits for the end of the lease.
		_ = s.Change(ctx, of, func(c *Session) { c.LeaseEndsAt = time.Time{} })
		return "", errs.Wrap(err, errs.ProviderUnavailable, "%s", errRefresh.Message)
	}
	if made.Refresh == "" {
		made.Refresh = earlier.Refresh
	}
	if err := s.keep(ctx, of, made); err != nil {
		return "", err
	}
	sealed, ends := of.Tokens, of.TokenEndsAt
	return made.Access, s.Change(ctx, of, func(c *Session) {
		c.Tokens, c.TokenEndsAt, c.LeaseEndsAt = sealed, ends, time.Time{}
	})
}
