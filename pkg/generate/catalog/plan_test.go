package catalog_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/generate/catalog"
)

func TestPlans(t *testing.T) {
	all := catalog.Plans()
	var ids []string
	for i, p := range all {
		ids = append(ids, p.ID)
		if p.Name == "" || p.MonthlyPrice <= 0 || !regexp.MustCompile(`^[A-Z]{3}$`).MatchString(p.Currency) ||
			p.IncludedCredits <= 0 || len(p.Features) == 0 {
			t.Errorf("%+v is not whole", p)
		}
		if i > 0 && (p.MonthlyPrice <= all[i-1].MonthlyPrice || p.IncludedCredits <= all[i-1].IncludedCredits) {
			t.Errorf("%s is not larger than %s", p.ID, all[i-1].ID)
		}
		if want := p.ID == auth.EnterprisePlan; p.APIAccess != want || (p.RateLimits != nil) != want {
			t.Errorf("%s: API access %v, rate limits %v", p.ID, p.APIAccess, p.RateLimits)
		}
	}
	if !slices.Equal(ids, account.Plans) {
		t.Errorf("plans %v, but accounts are on one of %v", ids, account.Plans)
	}
	if got, want := *all[len(all)-1].RateLimits,
		(catalog.RateLimits{Test: account.DefaultRateLimits.Test, Live: account.DefaultRateLimits.Live}); got != want {
		t.Errorf("rate limits %+v, but accounts get %+v", got, want)
	}
}
