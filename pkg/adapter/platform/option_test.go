package platform_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
)

func TestPartnersOfAPaidPartnership(t *testing.T) {
	paid, one, two := platform.Sponsored{Paid: true}, []string{"1"}, []string{"1", "2"}
	for name, c := range map[string]struct {
		options     platform.Partnered
		least, most int
		param       string // empty if they are taken
	}{
		"none":                       {platform.Partnered{}, 1, 1, ""},
		"paid, by nobody named":      {platform.Partnered{Sponsored: paid}, 0, 2, ""},
		"paid, by two":               {platform.Partnered{Sponsored: paid, Partners: two}, 0, 2, ""},
		"a partner, and not paid":    {platform.Partnered{Partners: one}, 0, 2, "options.partners"},
		"paid, and none of one":      {platform.Partnered{Sponsored: paid}, 1, 1, "options.partners"},
		"paid, and two where one is": {platform.Partnered{Sponsored: paid, Partners: two}, 1, 1, "options.partners"},
	} {
		found := c.options.Refused("example", c.least, c.most)
		if (len(found) > 0) != (c.param != "") || len(found) > 0 && found[0].Param != c.param {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
