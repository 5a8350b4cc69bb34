package area_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/quota"
)

// An account has so many factories at most, in each mode. One that is changed and then deleted makes room for one.
func TestAnAccountHasSoManyFactories(t *testing.T) {
	w := newFactoryWorld(t)
	for _, c := range []*apitest.Caller{w.Caller, w.Live()} {
		apitest.QuotaCase{DB: w.DB, Bound: quota.Factories, Kind: factoryrecord.Kind, Now: w.Now,
			Create: func(c *apitest.Caller, headers ...string) apitest.Answer {
				return c.Call(http.MethodPost, "/v1/factories", body(), headers...)
			},
			Remove: func(c *apitest.Caller, id string) {
				for range 2 {
					c.Call(http.MethodPatch, "/v1/factories/"+id, object{"name": "Other"}).Into(t, http.StatusOK, new(view))
				}
				c.Call(http.MethodDelete, "/v1/factories/"+id, nil).Into(t, http.StatusOK, new(view))
			},
		}.Check(t, c)
	}
}
