// Package poll waits in tests for what another goroutine or process does.
package poll

import (
	"testing"
	"time"
)

const (
	// looks bounds the calls of a condition. Until counts them, not the time: each takes longer on a starved machine,
	// so that no test fails for slowness alone.
	looks = 730
	// pause is the time between two calls. The first ones are shorter: most waits end soon, and each look at a service
	// takes CPU from what it waits for.
	first, pause = 25 * time.Millisecond, 250 * time.Millisecond
)

// Until calls is until it returns true. It fails the test if that does not happen within three minutes of pauses.
func Until(t testing.TB, condition string, is func() bool) {
	t.Helper()
	for n := range looks {
		if is() {
			return
		}
		<-time.After(min(pause, first*time.Duration(n+1)))
	}
	t.Fatalf("%s: not within %d looks", condition, looks)
}
