// Package poll waits in tests for what another goroutine or process does.
package poll

import (
	"testing"
	"time"
)

const (
	// looks bounds the calls of a condition. Until counts them, not the time: each takes longer on a starved machine,
	// so that no test fails for slowness alone.
	looks = 1800
	// first and longest are the pauses between two calls: each is twice the one before.
	first, longest = 10 * time.Millisecond, 100 * time.Millisecond
)

// Until calls is until it returns true. It fails the test if that does not happen within about three minutes of pauses.
func Until(t testing.TB, condition string, is func() bool) {
	t.Helper()
	pause := first
	for range looks {
		if is() {
			return
		}
		<-time.After(pause)
		pause = min(2*pause, longest)
	}
	t.Fatalf("%s: not within %d looks", condition, looks)
}
