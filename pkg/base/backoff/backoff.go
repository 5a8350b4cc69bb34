// Package backoff waits between repeats of a call: exponentially longer, and with
// full jitter, so that callers that met once do not meet again.
package backoff

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// Chance returns a random number from 0 to 1, without 1. It draws on crypto/rand,
// which tests can make repeat itself.
func Chance() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // returns no error
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Wait waits before a repeat: not at all before the first try (0), then a random
// time below first, which doubles with each repeat up to most. It returns the
// context's error if that ends before.
func Wait(ctx context.Context, repeat int, first, most time.Duration) error {
	if repeat == 0 {
		return ctx.Err()
	}
	limit := most
	// Shifted as far as it stays below most: a shift too far would overflow.
	if n := repeat - 1; first <= most>>n {
		limit = first << n
	}
	return Sleep(ctx, time.Duration(Chance()*float64(limit)))
}

// Sleep waits for a time. It returns the context's error if that ends before.
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
