package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
)

const (
	attemptTimeout = 2 * time.Second
	maxAttempts    = 2
	maxKeySet      = 256 << 10
	// lifetime is the age from which the keys are fetched again. Keys that cannot be fetched stay in use.
	lifetime = time.Hour
	// shortest is the least time between two fetches. It bounds the fetches that tokens with unknown keys cause.
	shortest = time.Minute
	// retryAfter is the least time between two fetches as long as no keys were ever fetched.
	retryAfter = time.Second
)

// keys caches the key set of an issuer. It is safe for concurrent use.
type keys struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	set     *jose.JSONWebKeySet
	fetched time.Time
	tried   time.Time
}

// find returns the RSA keys with the id. It returns ErrInvalid if there are none, and provider_unavailable if the keys
// were never fetched and cannot be fetched now.
func (k *keys) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []jose.JSONWebKey
	if k.set != nil {
		found = k.set.Key(id)
	}
	now := k.now()
	wait := shortest
	if k.set == nil {
		wait = retryAfter
	}
	if stale := now.Sub(k.fetched) >= lifetime; (len(found) == 0 || stale) && now.Sub(k.tried) >= wait {
		k.tried = now
		set, err := k.fetch(ctx)
		switch {
		case err == nil:
			k.set, k.fetched = set, now
			found = set.Key(id)
		case k.set == nil:
			return nil, unavailable(err)
		default:
			slog.Warn("the keys of the issuer could not be fetched; the earlier ones stay in use", "error", err)
		}
	}
	switch {
	case k.set == nil:
		return nil, unavailable(nil)
	case len(found) == 0:
		return nil, fmt.Errorf("%w: unknown key", ErrInvalid)
	}
	return found, nil
}

func unavailable(cause error) error {
	return errs.Wrap(cause, errs.ProviderUnavailable, "Your sign-in cannot be checked at the moment. Repeat the "+
		"request in a few seconds.")
}

func (k *keys) fetch(ctx context.Context) (set *jose.JSONWebKeySet, err error) {
	for try := range maxAttempts {
		if werr := backoff.Wait(ctx, try, 50*time.Millisecond, 200*time.Millisecond); werr != nil {
			return nil, werr
		}
		if set, err = k.get(ctx); err == nil {
			return set, nil
		}
	}
	return nil, err
}

func (k *keys) get(ctx context.Context) (*jose.JSONWebKeySet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // was read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("signin: keys: status %d", resp.StatusCode)
	}
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeySet)).Decode(&set); err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	return &set, nil
}
