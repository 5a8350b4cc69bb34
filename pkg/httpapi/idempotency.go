package httpapi

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/store"
)

// keepAnswers is how long a repeat is answered with the first answer.
const keepAnswers = 24 * time.Hour

// maxRuns bounds how often an operation is run again because a resource that it
// had read was changed by another call before it could commit.
const maxRuns = 4

// idempotencyKey reads the header of draft-ietf-httpapi-idempotency-key-header.
func idempotencyKey(h http.Header) (string, error) {
	values, sent := h["Idempotency-Key"]
	if !sent {
		return "", nil
	}
	if len(values) == 1 && len(values[0]) >= 1 && len(values[0]) <= 255 {
		return values[0], nil
	}
	e := errs.New(errs.InvalidHeader, "Idempotency-Key must be one value of 1 to 255 characters, such as a UUID.")
	e.Param = "Idempotency-Key"
	return "", e
}

// errRepeated tells that the call's Idempotency-Key was used before.
var errRepeated = errors.New("httpapi: the idempotency key was used before")

// commit runs an operation and commits what it gives, together with the record
// that answers a repeat. On the way of a first call that record costs no read: a
// repeat is noticed when its record is already there, or when the operation
// fails, which it may do just because the first call had its effect.
func (r *Router) commit(ctx context.Context, run func() (*answer, *store.Tx, error)) (*answer, error) {
	c := callFrom(ctx)
	var failure error
	for range maxRuns {
		a, tx, err := run()
		if err == nil {
			if tx == nil {
				tx = &store.Tx{}
			}
			if err = r.remember(ctx, tx, a); err != nil {
				return nil, err
			}
			err = r.db.Commit(ctx, tx)
		}
		if err == nil {
			return a, nil
		}
		failure = err
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if c.idempotencyKey != "" {
		switch a, err := r.recall(ctx); {
		case err == nil:
			return a, nil
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	if errors.Is(failure, store.ErrConflict) {
		return nil, errs.Wrap(failure, errs.ProviderUnavailable, "Other calls keep changing the same resource. Repeat the request with the same Idempotency-Key in a second.")
	}
	return nil, failure
}

// remembered is the record of an answer. The body is encrypted by a key made from
// the Idempotency-Key, which itself is stored as a hash only: an answer may hold
// a secret that is shown once, and only who sends the same key may see it again.
type remembered struct {
	Fingerprint string `json:"fingerprint"`
	Status      int    `json:"status"`
	ETag        string `json:"etag,omitempty"`
	Sealed      []byte `json:"sealed"`
}

// remember adds the record of the answer to the transaction.
func (r *Router) remember(ctx context.Context, tx *store.Tx, a *answer) error {
	c := callFrom(ctx)
	if c.idempotencyKey == "" {
		return nil
	}
	sealed, err := seal(c.idempotencyKey, a.Body)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(remembered{callFingerprint(c), a.Status, a.ETag, sealed})
	if err != nil {
		return err
	}
	p, now := auth.FromContext(ctx), r.now()
	tx.CreateExpiring(store.Item{
		Key: answerKey(p, c.idempotencyKey), Kind: "answer", Account: p.Account, Mode: string(p.Mode),
		Doc: doc, ExpireAt: now.Add(keepAnswers),
	}, now.Unix(), errRepeated)
	return nil
}

// recall gives the answer of the first call with the same Idempotency-Key, or
// store.ErrNotFound where there was none.
func (r *Router) recall(ctx context.Context) (*answer, error) {
	c := callFrom(ctx)
	it, err := r.db.Get(ctx, answerKey(auth.FromContext(ctx), c.idempotencyKey))
	if err != nil {
		return nil, err
	}
	var first remembered
	if err := it.Decode(&first); err != nil {
		return nil, err
	}
	if first.Fingerprint != callFingerprint(c) {
		e := errs.New(errs.IdempotencyKeyReused, "This Idempotency-Key was used within 24 hours for another request: another path, or another body. Use a new key for a new request.")
		e.Param = "Idempotency-Key"
		return nil, e
	}
	body, err := unseal(c.idempotencyKey, first.Sealed)
	if err != nil {
		return nil, err
	}
	return &answer{Status: first.Status, ContentType: "application/json", ETag: first.ETag, Replayed: "true", Body: body}, nil
}

func answerKey(p *auth.Principal, key string) store.Key {
	sum := sha256.Sum256([]byte(key))
	return store.IDKey("answer#" + p.Account + "#" + string(p.Mode) + "#" + hex.EncodeToString(sum[:]))
}

// callFingerprint tells calls apart by all that decides their effect.
func callFingerprint(c *call) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", c.method, c.path)
	h.Write(c.body)
	return hex.EncodeToString(h.Sum(nil))
}

func sealer(key string) (cipher.AEAD, error) {
	sum := sha256.Sum256([]byte("answer:" + key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func seal(key string, body []byte) ([]byte, error) {
	g, err := sealer(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, g.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return g.Seal(nonce, nonce, body, nil), nil
}

func unseal(key string, sealed []byte) ([]byte, error) {
	g, err := sealer(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < g.NonceSize() {
		return nil, errors.New("httpapi: the record of an answer is damaged")
	}
	return g.Open(nil, sealed[:g.NonceSize()], sealed[g.NonceSize():], nil)
}
