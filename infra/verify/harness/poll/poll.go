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
	// pause is the time between two calls.
	pause = 100 * time.Millisecond
)

// Until calls is until it returns true. It fails the test if that does not happen within three minutes of pauses.
func Until(t testing.TB, condition string, is func() bool) {
	t.Helper()
	for range looks {
		if is() {
			return
		}
		<-time.After(pause)
	}
	t.Fatalf("%s: not within %d looks", condition, looks)
}
