package base_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

func TestWaitGrowsToItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for repeat, bound := range map[int]time.Duration{
			0: 0, 1: 10 * time.Millisecond, 2: 20 * time.Millisecond, 4: 80 * time.Millisecond,
			5: 100 * time.Millisecond, 63: 100 * time.Millisecond, math.MaxInt: 100 * time.Millisecond,
		} {
			var longest time.Duration
			for range 200 {
				begun := time.Now()
				if err := backoff.Wait(t.Context(), repeat, 10*time.Millisecond, 100*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				longest = max(longest, time.Since(begun))
			}
			if longest > bound || longest < bound/2 {
				t.Errorf("repeat %d waits up to %v, want %v", repeat, longest, bound)
			}
		}
	})
}

func TestWaitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for repeat := range 2 {
		if err := backoff.Wait(ctx, repeat, time.Hour, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("repeat %d: %v", repeat, err)
		}
	}
}
