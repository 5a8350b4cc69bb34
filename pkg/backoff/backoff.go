// Package backoff waits between repeats of a call: exponentially longer, and with
// full jitter, so that callers that met once do not meet again.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

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
	t := time.NewTimer(rand.N(limit))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
