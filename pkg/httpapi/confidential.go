package httpapi

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// keepSecrets is the time for which a repeat returns a secret.
const keepSecrets = 10 * time.Minute

// Confidential is an answer with a secret that is shown once.
type Confidential interface {
	// Concealed returns the answer without the secret, which was made at the given time, for late repeats.
	Concealed(made resource.Time) any
	// Grants returns the scopes that the secret gives to its holder, in addition to the scope of the operation.
	Grants() []auth.Scope
}

// confidence is the stored data of a Confidential answer, in addition to its body without the secret. The body as it
// was sent is in an item of its own, which expires.
type confidence struct {
	Until  time.Time    `json:"until"`
	Grants []auth.Scope `json:"grants,omitempty"`

	concealed []byte
}

// conceal returns the stored data of an answer, or nil if it has no secret.
func conceal(ctx context.Context, op Op, data any, now time.Time) (*confidence, error) {
	v, ok := data.(Confidential)
	if !ok {
		return nil, nil
	}
	made := resource.Instant(now)
	a, err := render(ctx, op, v.Concealed(made))
	if err != nil {
		return nil, err
	}
	return &confidence{Until: made.Add(keepSecrets), Grants: v.Grants(), concealed: a.Body}, nil
}

func wholeKey(record store.Key, token string) store.Key {
	return store.IDKey(partsOf(record, token) + "#secret")
}

// keepWhole adds the item of the body as it was sent.
func keepWhole(tx *store.Tx, it store.Item, token string, until time.Time, sealed []byte) error {
	it.Key, it.ExpireAt, it.Version = wholeKey(it.Key, token), until, 0
	if err := it.Encode(sealed); err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}

// reveal replaces the body without the secret by the sealed body as it was sent, as long as it is stored. The caller
// must have the scopes that the secret grants.
func (r *Router) reveal(ctx context.Context, at store.Key, first *remembered) error {
	if first.Secret == nil {
		return nil
	}
	if err := auth.FromContext(ctx).RequireScopes(first.Secret.Grants, ""); err != nil {
		return err
	}
	if !r.now().Before(first.Secret.Until) {
		return nil
	}
	it, err := r.db.Lookup(ctx, wholeKey(at, first.Token))
	if err != nil || it.PK == "" {
		return err
	}
	return it.Decode(&first.Sealed)
}
