package httpapi

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
)

// SealWith mixes a secret of the system into the keys that the bodies of remembered
// answers are encrypted by. Without it, who can read the table could guess the
// Idempotency-Key of a caller that uses no random ones, and so read the answer. The
// look-up of a record does not depend on it: with another secret a repeat fails, and
// does not have a second effect.
func (r *Router) SealWith(secret []byte) { r.sealSecret = secret }

// sealer gives the cipher of a call's answer. Its key is made from the
// Idempotency-Key, which itself is stored as a hash only: an answer may hold a secret
// that is shown once, and only who sends the same key may see it again.
func (r *Router) sealer(idempotencyKey string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(idempotencyKey), r.sealSecret, "answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal compresses and encrypts the body of an answer.
func (r *Router) seal(idempotencyKey string, body []byte) ([]byte, error) {
	g, err := r.sealer(idempotencyKey)
	if err != nil {
		return nil, err
	}
	small, err := compress(body)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, g.NonceSize(), g.NonceSize()+len(small)+g.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return g.Seal(nonce, nonce, small, nil), nil
}

func (r *Router) unseal(idempotencyKey string, sealed []byte) ([]byte, error) {
	g, err := r.sealer(idempotencyKey)
	if err != nil {
		return nil, err
	}
	if len(sealed) < g.NonceSize() {
		return nil, errors.New("httpapi: the record of an answer is damaged")
	}
	small, err := g.Open(nil, sealed[:g.NonceSize()], sealed[g.NonceSize():], nil)
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
