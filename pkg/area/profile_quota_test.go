package area_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
)

// An account has so many profiles at most, in each mode.
func TestAnAccountHasSoManyProfiles(t *testing.T) {
	w := newProfileWorld(t)
	for _, c := range []*apitest.Caller{w.Caller, w.Live()} {
		apitest.QuotaCase{DB: w.DB, Bound: quota.Profiles, Kind: profile.Kind, Now: w.Now,
			Create: func(c *apitest.Caller, headers ...string) apitest.Answer {
				return c.Call(http.MethodPost, "/v1/profiles", object{"name": "Harbour Coffee"}, headers...)
			},
			Remove: func(c *apitest.Caller, id string) {
				c.Call(http.MethodDelete, "/v1/profiles/"+id, nil).Into(t, http.StatusOK, new(object))
			},
		}.Check(t, c)
	}
}
