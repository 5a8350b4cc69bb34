package stack_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caarlos0/env/v11"

	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// everywhere are the variables of every function.
var everywhere = []string{"CUSTOMER", "LOG_LEVEL", "STAGE"}

// TestFunctionsAreGivenWhatTheyNeed compares the variables that each function reads with those
// that the stacks set. A function must have no others, because they come with permissions.
func TestFunctionsAreGivenWhatTheyNeed(t *testing.T) {
	given := map[string]map[string]any{}
	for _, r := range acme.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(r.Properties["FunctionName"].(string), "acme-prod-")
		given[name], _ = r.Properties.at("Environment", "Variables").(map[string]any)
	}
	for _, f := range topology.Functions {
		unneeded := maps.Clone(given[f.Name])
		need := func(name string, required bool) {
			if _, ok := unneeded[name]; required && !ok {
				t.Errorf("%s needs %s and is not given it", f.Name, name)
			}
			delete(unneeded, name)
		}
		for _, name := range everywhere {
			need(name, true)
		}
		for _, q := range f.Knows() {
			need(q.EnvName(), true)
		}
		params := fields(t, f.Name)
		for _, p := range params {
			if !slices.Contains(everywhere, p.Key) {
				need(p.Key, p.NotEmpty)
			}
		}
		for name := range unneeded {
			t.Errorf("%s is given %s, and does not need it", f.Name, name)
		}
		// These are optional, so the comparison above does not include them.
		for name, want := range map[string]bool{"PROVIDERS": f.May(topology.KnowProviders),
			"PROVIDER_ENDPOINT": f.May(topology.CallProviders, topology.CallTextModels, topology.TrainModels,
				topology.ModerateTexts),
			"GUARDRAIL":               f.May(topology.ModerateTexts),
			"TRAINING_ROLE_ARN":       f.May(topology.TrainModels),
			"ALLOW_LOOPBACK_WEBHOOKS": f.May(topology.ReachAddresses)} {
			if reads := slices.ContainsFunc(params,
				func(p env.FieldParams) bool { return p.Key == name }); reads != want {
				t.Errorf("%s reads %s: %v, want %v", f.Name, name, reads, want)
			}
		}
	}
}

// fields returns the variables that a function reads.
func fields(t *testing.T, function string) []env.FieldParams {
	t.Helper()
	pointer := reflect.New(reflect.TypeOf(needs.Of()[function]))
	params, err := env.GetFieldParams(pointer.Interface())
	if err != nil {
		t.Fatal(err)
	}
	return params
}

func TestEveryFolderOfAFunctionIsDeployed(t *testing.T) {
	folders, err := os.ReadDir(filepath.Join("..", "..", "..", "functions"))
	if err != nil {
		t.Fatal(err)
	}
	var names, deployed []string
	for _, folder := range folders {
		names = append(names, folder.Name())
	}
	for _, f := range topology.Functions {
		deployed = append(deployed, f.Name)
	}
	if slices.Sort(deployed); !slices.Equal(names, deployed) {
		t.Errorf("there are the functions %v, and deployed are %v", names, deployed)
	}
}
