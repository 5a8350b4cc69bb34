//go:build judges

package stack_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/service/api"
)

// sam runs a program of AWS SAM on a template, and returns what it prints. It needs no Docker.
func sam(ctx context.Context, t *testing.T, text, program string, arguments ...string) ([]byte, error) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", ".tools", "sam", "bin"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, errors.New("AWS SAM is not installed: run `go run ./infra/verify/suite -only stacks`")
	}
	work := t.TempDir()
	// The CDK makes functions depend on their roles, although each already names its role.
	err = errors.Join(os.WriteFile(filepath.Join(work, ".cfnlintrc"), []byte("ignore_checks: [W3005]\n"), 0o600),
		// SAM looks for newer versions of itself once a week.
		os.WriteFile(filepath.Join(work, "metadata.json"), fmt.Appendf(nil, `{"lastVersionCheck": %d}`, time.Now().Unix()),
			0o600),
		os.WriteFile(filepath.Join(work, "template.json"), []byte(text), 0o600))
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, filepath.Join(dir, program), arguments...)
	command.Dir = work
	command.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0", "__SAM_CLI_APP_DIR="+work, "AWS_DEFAULT_REGION=eu-central-1")
	var messages strings.Builder
	command.Stderr = &messages
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s%s", err, out, messages.String())
	}
	return out, nil
}

// SAM reads the gateway from the template by a program of its own, so it shows that others than the CDK, which wrote
// the template, find the same paths, functions and authorizer in it.
func TestSAMReadsTheGateway(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "tools", "sam", "routes.py"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := sam(t.Context(), t, acme["acme-prod-eu-central-1-api"].text, "python", "-c", string(script), "template.json")
	if err != nil {
		t.Fatal(err)
	}
	var routes []struct {
		Path, Function, AuthorizerFunction string
		Methods                            []string
	}
	if err := json.Unmarshal(out, &routes); err != nil {
		t.Fatalf("SAM prints %s: %v", out, err)
	}
	public, want := map[string]bool{}, map[string]string{}
	for _, r := range api.PublicRoutes {
		public[r.Path] = true
	}
	for _, r := range slices.Concat(api.Routes(), api.PublicRoutes, api.GuardedRoutes) {
		want[r.Path] = r.Function
	}
	every := []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
	for _, r := range routes {
		function, ok := want[r.Path]
		if !ok {
			t.Errorf("SAM serves %s twice, or without need", r.Path)
			continue
		}
		delete(want, r.Path)
		if r.Function != "acme-prod-"+function {
			t.Errorf("SAM sends %s to %s, want acme-prod-%s", r.Path, r.Function, function)
		}
		if !slices.Equal(r.Methods, every) {
			t.Errorf("SAM serves %s for %v", r.Path, r.Methods)
		}
		authorizer := "acme-prod-authorizer"
		if public[r.Path] {
			authorizer = ""
		}
		if r.AuthorizerFunction != authorizer {
			t.Errorf("SAM asks %q about %s, want %q", r.AuthorizerFunction, r.Path, authorizer)
		}
	}
	if len(want) > 0 {
		t.Errorf("SAM does not serve %v", slices.Sorted(maps.Keys(want)))
	}
}

func TestSAMFindsNoFaultInTheTemplates(t *testing.T) {
	var all sync.WaitGroup
	for name, of := range acme {
		all.Go(func() {
			if _, err := sam(t.Context(), t, of.text, "sam", "validate", "--lint", "--template-file", "template.json"); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}
