package httpapi

import (
	"context"

	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store/deflate"
)

// SealWith mixes a secret of the system into the keys that the bodies of remembered
// answers are encrypted by. Without it, who can read the table could guess the
// Idempotency-Key of a caller that uses no random ones, and so read the answer. The
// look-up of a record does not depend on it: with another secret a repeat fails, and
// does not have a second effect.
func (r *Router) SealWith(secret seal.Secret) { r.secret = secret }

// answerKeys returns the keys that a call's answer is encrypted by. They are made from
// the Idempotency-Key, which itself is stored as a hash only: an answer may hold a
// secret that is shown once, and only who sends the same key may see it again.
func (r *Router) answerKeys(ctx context.Context, idempotencyKey string) ([][]byte, error) {
	return r.secret.Keys(ctx, []byte(idempotencyKey), "answer")
}

// claimKeys returns the keys that claims are encrypted by: who ends the claim of a
// call that died does not know its Idempotency-Key.
func (r *Router) claimKeys(ctx context.Context) ([][]byte, error) {
	return r.secret.Keys(ctx, nil, "claim")
}

// sealBody compresses what is stored, and encrypts it by the first key.
func sealBody(keys [][]byte, body []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	return box.Seal(deflate.Pack(body), ""), nil
}

// unsealBody decrypts what was stored by one of the keys, and expands it.
func unsealBody(keys [][]byte, data []byte) ([]byte, error) {
	box, err := seal.New(keys...)
	if err != nil {
		return nil, err
	}
	small, err := box.Open(data, "")
	if err != nil {
		return nil, err
	}
	return deflate.Unpack(small)
}
