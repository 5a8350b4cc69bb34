// Package backoff waits between retries of a call: exponentially longer, and with full jitter, so that callers that
// collided once do not collide again. Wait is for the attempts of a loop, and Sleep for a given time.
package backoff

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Chance returns a random number in [0, 1). It reads crypto/rand, which tests can make deterministic.
func Chance() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // returns no error
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

type chanceKey struct{}

// WithChance returns a context in which Wait takes its random numbers from a function: a simulation has one for each
// invocation, as the order in which concurrent ones draw from one source is not determined.
func WithChance(ctx context.Context, chance func() float64) context.Context {
	return context.WithValue(ctx, chanceKey{}, chance)
}

// Wait waits before a retry: not at all before the first try (0), then a random time below first, which doubles with
// each retry up to most. It returns the context's error if the context ends first.
func Wait(ctx context.Context, repeat int, first, most time.Duration) error {
	if repeat == 0 {
		return ctx.Err()
	}
	limit := most
	// A shift that is too large would overflow.
	if n := repeat - 1; first <= most>>n {
		limit = first << n
	}
	chance := Chance
	if own, ok := ctx.Value(chanceKey{}).(func() float64); ok {
		chance = own
	}
	return Sleep(ctx, time.Duration(chance()*float64(limit)))
}

// Sleep waits for a time. It returns the context's error if the context ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
