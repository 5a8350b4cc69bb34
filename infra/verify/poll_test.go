package verify_test

import (
	"testing"
	"testing/synctest"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// double is a test whose failure can be looked at.
type double struct {
	testing.TB
	failed bool
}

func (d *double) Helper() {}

func (d *double) Fatalf(string, ...any) { d.failed = true }

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		poll.Until(t, "third look", func() bool { looks++; return looks == 3 })
		never, d := 0, double{TB: t}
		poll.Until(&d, "never", func() bool { never++; return false })
		if looks != 3 || !d.failed || never != 1800 {
			t.Errorf("%d looks, %d in vain, failed: %v", looks, never, d.failed)
		}
	})
}
