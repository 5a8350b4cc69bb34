// Package sealtest has a key service in memory, for tests and for systems without AWS.
package sealtest

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/cloud/seal"
)

// Keys is a key service with that secret.
type Keys string

var _ seal.DataKeys = Keys("")

// Envelope returns an envelope with the keys of the secret.
func Envelope(secret string) *seal.Envelope { return seal.NewEnvelope(Keys(secret), time.Now) }

// Generate implements seal.DataKeys. An account always gets the same key, so that simulations are deterministic.
func (k Keys) Generate(ctx context.Context, account string) (key, wrapped []byte, err error) {
	wrapped = []byte("the key of " + account)
	key, err = k.Unwrap(ctx, account, wrapped)
	return key, wrapped, err
}

// Unwrap implements seal.DataKeys. For another account it returns a different key, which opens nothing.
func (k Keys) Unwrap(_ context.Context, account string, wrapped []byte) ([]byte, error) {
	return seal.Derive([]byte(k), wrapped, account)
}
