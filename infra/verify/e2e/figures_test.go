package e2e

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/base/tenant"
)

// titled plans an own post whose title looks like a formula.
func (c *customer) titled(secret, factory string) {
	c.t.Helper()
	into[object](call(c.t, secret, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post",
		"source": "provided", "title": "=1+1", "caption": "A shoe",
		"publish_at": time.Now().Add(time.Hour)}), http.StatusAccepted)
}

// The figures of an account are read once it is connected. With a test key, best times and comparisons have the posts
// that the sandbox has simulated; with a live key, they have too few.
func TestFigures(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	for mode, secret := range map[tenant.Mode]string{tenant.Test: c.test.Secret, tenant.Live: c.live.Secret} {
		t.Run(string(mode), func(t *testing.T) {
			factory, account := c.factory(secret), c.channel(secret)
			into[object](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+account, nil),
				http.StatusOK)
			c.titled(secret, factory)
			path := "/v1/analytics/accounts?social_account_id=" + account
			poll.Until(t, "the figures of "+account, func() bool {
				days := into[[]struct {
					Followers *int64
					Reach     *int64
				}](call(t, secret, http.MethodGet, path, nil), http.StatusOK)
				return len(days) == 1 && days[0].Followers != nil && *days[0].Followers > 0 && days[0].Reach == nil
			})
			_, text := fetch(t, secret, http.MethodGet, path, "", "Accept", "text/csv")
			if lines, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil || len(lines) != 2 {
				t.Errorf("%v: %s", err, text)
			}
			_, text = fetch(t, secret, http.MethodGet, "/v1/publications", "", "Accept", "text/csv")
			lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || len(lines) != 2 || !slices.Contains(lines[0], "metrics.reach") ||
				!slices.Contains(lines[1], "'=1+1") {
				t.Errorf("%v: %s", err, text)
			}
			type bestTimes struct {
				Posts, Needed int
				Simulated     int `json:"simulated_count"`
				Enough        bool
				Hours         []struct {
					Low  float64
					High float64
				}
			}
			best := into[bestTimes](call(t, secret, http.MethodGet, "/v1/analytics/best-times?metric=likes&factory_id="+
				factory, nil), http.StatusOK)
			if enough := mode == tenant.Test; best.Enough != enough || (len(best.Hours) > 0) != enough ||
				best.Needed != 30 || (best.Simulated > 0) != enough {
				t.Errorf("%+v", best)
			}
			compared := into[struct {
				Comparison struct {
					Decision string
					P        *float64
				}
			}](call(t, secret, http.MethodGet, "/v1/factories/"+factory+
				"/analytics?compare=hour&compare_a=19&compare_b=22&metric=likes", nil), http.StatusOK).Comparison
			if (compared.Decision != "no_decision") != (compared.P != nil) || mode == tenant.Live &&
				compared.Decision != "no_decision" {
				t.Errorf("%+v", compared)
			}
		})
	}
}
