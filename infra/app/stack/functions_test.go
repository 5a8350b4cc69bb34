package stack_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// everywhere are the variables of every function.
var everywhere = []string{"CUSTOMER", needs.FunctionName, "LOG_LEVEL"}

// TestFunctionsAreGivenWhatTheyNeed compares the variables that each function reads with those
// that the stacks set. A function must have no others, because they come with permissions.
func TestFunctionsAreGivenWhatTheyNeed(t *testing.T) {
	given := map[string]map[string]any{}
	for _, r := range acme.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(r.Properties["FunctionName"].(string), "acme-prod-")
		given[name], _ = r.Properties.at("Environment", "Variables").(map[string]any)
	}
	for _, f := range topology.Functions {
		if name := given[f.Name][needs.FunctionName]; name != f.Name {
			t.Errorf("%s is told that it is %v", f.Name, name)
		}
		unneeded := maps.Clone(given[f.Name])
		required := slices.Concat(everywhere, needs.Required(f))
		for _, q := range f.QueueAddresses() {
			required = append(required, q.EnvName())
		}
		for _, name := range required {
			if _, ok := unneeded[name]; !ok {
				t.Errorf("%s needs %s and is not given it", f.Name, name)
			}
			delete(unneeded, name)
		}
		for _, name := range needs.Optional(f) {
			delete(unneeded, name)
		}
		for name := range unneeded {
			t.Errorf("%s is given %s, and does not need it", f.Name, name)
		}
	}
}

func TestEveryProgramIsDeployed(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("..", "..", "..", "functions"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, folder.Name())
	}
	if deployed := slices.Sorted(slices.Values(topology.Programs())); !slices.Equal(names, deployed) {
		t.Errorf("there are the programs %v, and deployed are %v", names, deployed)
	}
}
