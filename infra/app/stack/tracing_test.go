package stack_test

import (
	"path"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/service/api"
)

// rules returns the sampling rules by the paths that they match.
func rules(t *testing.T) map[string]properties {
	all := map[string]properties{}
	for _, r := range acme.of("AWS::XRay::SamplingRule") {
		all[r.Properties.at("SamplingRule", "URLPath").(string)] = r.Properties
	}
	return all
}

// A reservoir of one call a second would trace all calls of most customers, at a hundred times
// the price.
func TestOneOfAHundredCallsIsTraced(t *testing.T) {
	r := rules(t)["*"]
	if rate, reservoir := r.at("SamplingRule", "FixedRate"),
		r.at("SamplingRule", "ReservoirSize"); rate != 0.01 || reservoir != 0. {
		t.Errorf("%v of the calls are traced, and %v a second in any case", rate, reservoir)
	}
}

// A trace has the path of its call.
func TestCallsWithASecretInThePathAreNotTraced(t *testing.T) {
	all := rules(t)
	secret := 0
	for _, route := range api.PublicRoutes {
		if !strings.HasSuffix(route.Path, "/{token}") {
			continue
		}
		secret++
		r := all["*"+path.Dir(route.Path)+"/*"]
		if r == nil {
			t.Errorf("%s is traced", route.Path)
			continue
		}
		if rate, reservoir, priority := r.at("SamplingRule", "FixedRate"), r.at("SamplingRule", "ReservoirSize"),
			r.at("SamplingRule", "Priority"); rate != 0. || reservoir != 0. || priority.(float64) >= 1000 {
			t.Errorf("%s: %v, %v, priority %v", route.Path, rate, reservoir, priority)
		}
	}
	if secret == 0 || len(all) != secret+1 {
		t.Errorf("%d paths with secrets, %d rules", secret, len(all))
	}
}
