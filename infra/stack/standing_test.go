package stack_test

import (
	"testing"

	"github.com/content-automation/api/infra/standing"
)

func TestWhatIsPaidForEveryMonthIsCounted(t *testing.T) {
	for _, want := range standing.Resources {
		n := len(acme.of(want.Type))
		if n != want.Count {
			t.Errorf("the stacks have %d of %s; infra/standing says %d", n, want.Type, want.Count)
		}
	}
}
