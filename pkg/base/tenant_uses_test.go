package base_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/tenant"
)

// A resource uses data of its own profile and of the account as a whole, and no other.
func TestWhatAResourceMayUse(t *testing.T) {
	all := tenant.Of("acc_1", tenant.Live)
	one, two := all.Of("prf_1"), all.Of("prf_2")
	for _, c := range []struct {
		of, other tenant.Owner
		want      bool
	}{
		{one, one, true}, {one, all, true}, {all, all, true}, {one, two, false}, {all, one, false},
		{one, tenant.Of("acc_2", tenant.Live), false}, {one, tenant.Of("acc_1", tenant.Test).Of("prf_1"), false},
	} {
		if got := c.of.Uses(c.other); got != c.want {
			t.Errorf("%+v uses %+v: %v", c.of, c.other, got)
		}
	}
}
