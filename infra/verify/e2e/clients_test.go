//go:build !deployed

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/infra/local/system"
)

// TestGeneratedClients generates a client from the committed document with each
// generator, checks the types of a program that uses it, and runs the program.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := system.Install(t.Context(), root, func(step string) { t.Log(step) }, system.Clients); err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, ".tools", "clients-node", "node_modules")
	node, python := filepath.Join(modules, ".bin"), filepath.Join(root, ".tools", "clients-python", "bin")
	c := newCustomer(t)
	for _, g := range []struct {
		name     string
		commands [][]string
	}{
		{"openapi-typescript", [][]string{
			{filepath.Join(node, "openapi-typescript"), "openapi.json", "--output", "schema.ts"},
			{filepath.Join(node, "tsc")},
			{"node", "out/main.js"},
		}},
		{"hey-api", [][]string{
			{filepath.Join(node, "openapi-ts")},
			{filepath.Join(node, "tsc")},
			{"node", "out/main.js"},
		}},
		{"openapi-python-client", [][]string{
			{filepath.Join(python, "openapi-python-client"), "generate", "--path", "openapi.json", "--meta", "none",
				"--output-path", "client", "--fail-on-warning"},
			{filepath.Join(python, "mypy"), "main.py", "client"},
			{filepath.Join(python, "python"), "main.py"},
		}},
	} {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata", "clients", g.name))); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "openapi.json"), clients.OpenAPIJSON, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			for _, command := range g.commands {
				cmd := exec.CommandContext(ctx, command[0], command[1:]...)
				cmd.Dir = dir
				// openapi-python-client formats its output with ruff, which is in the same folder.
				cmd.Env = append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_TEST_KEY="+c.test.Secret,
					"PATH="+python+string(os.PathListSeparator)+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", command, err, out)
				}
			}
		})
	}
}
