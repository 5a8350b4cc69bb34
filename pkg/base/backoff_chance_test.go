// Package base_test has the tests of the packages below that name none of their internals.
package base_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

// A simulation gives each invocation random numbers of its own.
func TestAContextMayHaveItsOwnChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := backoff.WithChance(t.Context(), func() float64 { return 0.25 })
		for repeat, want := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second} {
			begun := time.Now()
			if err := backoff.Wait(ctx, repeat, 4*time.Second, time.Minute); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begun); got != want {
				t.Errorf("repeat %d waits %v, want %v", repeat, got, want)
			}
		}
	})
}
