package platform_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform"
)

func TestPartnersOfAPaidPartnership(t *testing.T) {
	paid, one, two := platform.SponsorOption{Paid: true}, []string{"1"}, []string{"1", "2"}
	for name, c := range map[string]struct {
		options     platform.PartnersOption
		least, most int
		param       string // empty if they are taken
	}{
		"none":                       {platform.PartnersOption{}, 1, 1, ""},
		"paid, by nobody named":      {platform.PartnersOption{SponsorOption: paid}, 0, 2, ""},
		"paid, by two":               {platform.PartnersOption{SponsorOption: paid, Partners: two}, 0, 2, ""},
		"a partner, and not paid":    {platform.PartnersOption{Partners: one}, 0, 2, "options.partners"},
		"paid, and none of one":      {platform.PartnersOption{SponsorOption: paid}, 1, 1, "options.partners"},
		"paid, and two where one is": {platform.PartnersOption{SponsorOption: paid, Partners: two}, 1, 1, "options.partners"},
	} {
		found := c.options.Refused("example", c.least, c.most)
		if (len(found) > 0) != (c.param != "") || len(found) > 0 && found[0].Param != c.param {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
