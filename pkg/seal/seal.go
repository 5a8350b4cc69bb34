// Package seal encrypts values that must not be readable from the table alone: with
// AES-256-GCM, under keys that HKDF derives from a secret.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// ErrOpen is the error of sealed data that is damaged, or was sealed by another key or
// for another context.
var ErrOpen = errors.New("seal: cannot open sealed data")

const keyBytes = 32 // AES-256

// Box seals and opens data by one key.
type Box struct{ gcm cipher.AEAD }

// Derive derives a key from a secret. A salt, which may be empty, and a purpose lead to
// different keys. All keys come from here: a key service would take its place.
func Derive(secret, salt []byte, purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("seal: derive key: %w", err)
	}
	return key, nil
}

// New returns a box with a derived key.
func New(key []byte) (*Box, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: make cipher: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("seal: make cipher: %w", err)
	}
	return &Box{gcm}, nil
}

// Seal encrypts data for a context, such as its owner, which Open must be given again.
func (b *Box) Seal(data []byte, context string) []byte {
	return b.gcm.Seal(nil, nil, data, []byte(context))
}

// Open decrypts sealed data. It returns ErrOpen unless it was sealed by the same key
// for the same context.
func (b *Box) Open(sealed []byte, context string) ([]byte, error) {
	data, err := b.gcm.Open(nil, nil, sealed, []byte(context))
	if err != nil {
		return nil, ErrOpen
	}
	return data, nil
}
