package httpapi

import (
	"context"

	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

// SealWith mixes a secret of the system into the keys that encrypt the bodies of remembered answers. Without it, a
// reader of the table could guess the Idempotency-Key of a caller that uses no random ones, and so read the answer. The
// look-up of a record does not depend on it: with another secret a repeat fails, but does not have a second effect.
func (r *Router) SealWith(secret seal.Secret) { r.secret = secret }

// answerKeys returns the keys that encrypt a call's answer. They are derived from the Idempotency-Key, of which only a
// hash is stored: an answer may contain a secret that is shown once, and only a caller who sends the same key may see
// it again.
func (r *Router) answerKeys(ctx context.Context, idempotencyKey string) ([][]byte, error) {
	return r.secret.Keys(ctx, []byte(idempotencyKey), "answer")
}

// claimKeys returns the keys that encrypt claims. They do not depend on the Idempotency-Key, because the task that ends
// the claim of a dead call does not know it.
func (r *Router) claimKeys(ctx context.Context) ([][]byte, error) {
	return r.secret.Keys(ctx, nil, "claim")
}

// sealBody compresses a body, and encrypts it with the first key.
func sealBody(keys [][]byte, body []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	return box.Seal(store.Pack(body), ""), nil
}

// unsealBody decrypts a stored body with one of the keys, and expands it.
func unsealBody(keys [][]byte, data []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	small, err := box.Open(data, "")
	if err != nil {
		return nil, err
	}
	return store.DeflateUnpack(small)
}
