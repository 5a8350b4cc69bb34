package area_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
)

// A key that waits with all of its calls takes up no more than ten functions.
func TestRequestsOfAKeyAreHeldForALimitedTime(t *testing.T) {
	for _, c := range []struct {
		asked, limit int
		want         time.Duration
	}{
		{10, 60, 10 * time.Second}, {3, 60, 3 * time.Second}, {10, 600, time.Second},
		{10, 6000, 100 * time.Millisecond},
		{10, 0, 10 * time.Second}, {0, 60, 0},
	} {
		got := account.Held(c.asked, auth.Rate{Limit: c.limit, Window: 60})
		if got != c.want {
			t.Errorf("%d s with %d calls a minute: %s, want %s", c.asked, c.limit, got, c.want)
		}
		if at := float64(c.limit) / 60 * got.Seconds(); at > account.MostHeld {
			t.Errorf("%d s with %d calls a minute: %g at a time", c.asked, c.limit, at)
		}
	}
}
