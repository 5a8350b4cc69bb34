package stack_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/topology"
)

// needs are the variables without which a function does not start.
var needs = regexp.MustCompile(`awsenv\.Need\("([A-Z_]+)"\)`)

// queues are how functions read the addresses of queues.
var queues = regexp.MustCompile(`topology\.(\w+)(\.EnvName\(\)|\)\))`)

// queuesOf are the lists and the queues by their names in package topology.
var queuesOf = map[string][]topology.Queue{
	"Outbox": topology.Outbox, "Generation": topology.Generation,
	"Dispatch": {topology.Dispatch}, "Deliver": {topology.Deliver}, "DeliverSlow": {topology.DeliverSlow},
}

// shared are the files in which functions that are alike begin, and read what all of
// them need, by their packages.
var shared = map[string]string{"pkg/function": "function.go", "pkg/webhook/lane": "lane.go"}

// TestFunctionsAreGivenWhatTheyNeed compares each function's main with its entry
// in the table both ways: what it needs is there, and nothing else is.
func TestFunctionsAreGivenWhatTheyNeed(t *testing.T) {
	// These are read, where they matter, without being needed.
	optional := map[string]bool{"STAGE": true, "CUSTOMER": true, "LOG_LEVEL": true, "ALLOW_LOOPBACK_WEBHOOKS": true,
		"PROVIDERS": true, "PROVIDER_SECRET": true, "PROVIDER_ENDPOINT": true}
	given := map[string]map[string]any{}
	for _, r := range acme.of("AWS::Lambda::Function") {
		name := strings.TrimPrefix(r.Properties["FunctionName"].(string), "acme-prod-")
		given[name], _ = r.Properties.at("Environment", "Variables").(map[string]any)
	}
	for _, f := range topology.Functions {
		source, err := os.ReadFile(filepath.Join("..", "..", "functions", f.Name, "main.go"))
		if err != nil {
			t.Errorf("there is no function %s: %v", f.Name, err)
			continue
		}
		for folder, file := range shared {
			if !strings.Contains(string(source), folder+`"`) {
				continue
			}
			more, err := os.ReadFile(filepath.Join("..", "..", folder, file))
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, more...)
		}
		missing := maps.Clone(given[f.Name])
		var needed []string
		for _, match := range needs.FindAllStringSubmatch(string(source), -1) {
			needed = append(needed, match[1])
		}
		for _, match := range queues.FindAllStringSubmatch(string(source), -1) {
			for _, q := range queuesOf[match[1]] {
				needed = append(needed, q.EnvName())
			}
		}
		for _, name := range needed {
			if _, ok := given[f.Name][name]; !ok {
				t.Errorf("%s needs %s and is not given it", f.Name, name)
			}
			delete(missing, name)
		}
		for name, want := range map[string]bool{"PROVIDERS": f.Offers, "PROVIDER_SECRET": f.Generates, "PROVIDER_ENDPOINT": f.Generates} {
			if reads := strings.Contains(string(source), `"`+name+`"`); reads != want {
				t.Errorf("%s reads %s: %v, want %v", f.Name, name, reads, want)
			}
		}
		for name := range missing {
			if !optional[name] {
				t.Errorf("%s is given %s, and permissions with it, and does not need it", f.Name, name)
			}
		}
	}
	folders, err := os.ReadDir(filepath.Join("..", "..", "functions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !slices.ContainsFunc(topology.Functions, func(f topology.Function) bool { return f.Name == folder.Name() }) {
			t.Errorf("functions/%s is deployed nowhere", folder.Name())
		}
	}
}
