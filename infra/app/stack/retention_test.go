package stack

import (
	"maps"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/app/customer"
)

func TestEveryRetentionIsKnown(t *testing.T) {
	if got := slices.Sorted(maps.Keys(retentions)); !slices.Equal(got, customer.Retentions) {
		t.Errorf("the stacks know %v, the settings %v", got, customer.Retentions)
	}
}
