package httpapi

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"

	"github.com/content-automation/api/pkg/seal"
)

// SealWith mixes a secret of the system into the keys that the bodies of remembered
// answers are encrypted by. Without it, who can read the table could guess the
// Idempotency-Key of a caller that uses no random ones, and so read the answer. The
// look-up of a record does not depend on it: with another secret a repeat fails, and
// does not have a second effect.
func (r *Router) SealWith(secret []byte) { r.sealSecret = secret }

// answerSecret returns the secret that a call's answer is encrypted by. It is made from
// the Idempotency-Key, which itself is stored as a hash only: an answer may hold a
// secret that is shown once, and only who sends the same key may see it again.
func (r *Router) answerSecret(idempotencyKey string) ([]byte, error) {
	return seal.Derive([]byte(idempotencyKey), r.sealSecret, "answer")
}

// claimSecret returns the secret that claims are encrypted by: who ends the claim of a
// call that died does not know its Idempotency-Key.
func (r *Router) claimSecret() ([]byte, error) {
	return seal.Derive(r.sealSecret, nil, "claim")
}

// sealBody compresses and encrypts what is stored.
func sealBody(secret, body []byte) ([]byte, error) {
	box, err := seal.New(secret)
	if err != nil {
		return nil, err
	}
	small, err := compress(body)
	if err != nil {
		return nil, err
	}
	return box.Seal(small, ""), nil
}

// unsealBody decrypts and expands what was stored.
func unsealBody(secret, data []byte) ([]byte, error) {
	box, err := seal.New(secret)
	if err != nil {
		return nil, err
	}
	small, err := box.Open(data, "")
	if err != nil {
		return nil, err
	}
	return io.ReadAll(flate.NewReader(bytes.NewReader(small)))
}

// compressors are kept, because each takes more memory than most answers.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(&b)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
