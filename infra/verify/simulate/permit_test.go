package simulate

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// A permission that a function needs and does not have is found by a few seeds, whatever starts the function.
func TestAMissingPermissionIsFound(t *testing.T) {
	withheld := map[string]topology.Use{
		"settle": topology.Check, "sync-crm": topology.Check, "publish": topology.Delete, "rollup": topology.Update,
		"deliver": topology.Put, "due": topology.List, "content": topology.Delete,
	}
	const from, most = 20, 100 // two seeds from there have found all, as long as the code takes the same steps
	found := map[string]bool{}
	for seed := uint64(from); seed < from+most && len(found) < len(withheld); seed++ {
		for _, broken := range Run(t, seed, Config{Withheld: withheld}).Broken {
			name, call, missing := strings.Cut(broken, " makes the call ")
			if found[name] = true; !missing || !strings.HasPrefix(call, string(withheld[name])+" ") {
				t.Fatalf("seed %d: %s", seed, broken)
			}
		}
	}
	for name, u := range withheld {
		if !found[name] {
			t.Errorf("%d seeds have not found that %s lacks %s", most, name, u)
		}
	}
}

func TestEveryPathHasItsFunction(t *testing.T) {
	for path, want := range map[string]string{
		"GET /v1/me": "account", "POST /v1/content-items/cnt_1/publish": "content", "POST /integrations/hooks/x": "crm",
		"GET /review/x": "content", "DELETE /v1/webhooks/whk_1": "webhook",
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := serving(method, path); got.Name != want || !slices.Contains(got.State, topology.Get) {
			t.Errorf("%s %s is served by %s", method, path, got.Name)
		}
	}
}
