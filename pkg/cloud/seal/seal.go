// Package seal encrypts values that must not be readable from the table alone: with AES-256-GCM, under keys that HKDF
// derives from a secret. Start with Envelope, which seals for an owner, and Box, which has keys of its own.
package seal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// ErrOpen is the error of sealed data that is damaged, or was sealed by another key or for another context.
var ErrOpen = errors.New("seal: cannot open sealed data")

const keyBytes = 32 // AES-256

// Secret returns the versions of the system's secret, the current one first. Data is sealed with the first and opened
// with any of them, so that the secret can be rotated. The zero value has one empty version, for the description of
// operations.
type Secret func(ctx context.Context) ([][]byte, error)

// Fixed returns a secret of one version.
func Fixed(b []byte) Secret {
	versions := [][]byte{slices.Clone(b)}
	return func(context.Context) ([][]byte, error) { return versions, nil }
}

// Keys derives the keys of a salt and a purpose, one from each version of the secret, the current one first.
func (s Secret) Keys(ctx context.Context, salt []byte, purpose string) ([][]byte, error) {
	if s == nil {
		s = Fixed(nil)
	}
	versions, err := s(ctx)
	if err != nil {
		return nil, fmt.Errorf("seal: read secret: %w", err)
	}
	keys := make([][]byte, len(versions))
	for i, version := range versions {
		if keys[i], err = Derive(version, salt, purpose); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Box seals data with its first key, and opens data that was sealed with any of its keys.
type Box struct{ gcms []cipher.AEAD }

// Derive derives a key from a secret. A salt, which may be empty, and a purpose lead to
// different keys. All keys come from here: a key service would take its place.
func Derive(secret, salt []byte, purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, secret, salt, purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("seal: derive key: %w", err)
	}
	return key, nil
}

// New returns a box with derived keys. It seals with the first of them.
func New(keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: a box needs a key")
	}
	b := &Box{}
	for _, key := range keys {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("seal: make cipher: %w", err)
		}
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("seal: make cipher: %w", err)
		}
		b.gcms = append(b.gcms, gcm)
	}
	return b, nil
}

// Seal encrypts data for a context, such as its owner. Open needs the same context.
func (b *Box) Seal(data []byte, context string) []byte {
	return b.gcms[0].Seal(nil, nil, data, []byte(context))
}

// Open decrypts sealed data. It returns ErrOpen unless it was sealed by one of the box's keys for the same context.
func (b *Box) Open(sealed []byte, context string) ([]byte, error) {
	for _, gcm := range b.gcms {
		if data, err := gcm.Open(nil, nil, sealed, []byte(context)); err == nil {
			return data, nil
		}
	}
	return nil, ErrOpen
}
