//go:build inspector && !deployed

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheInspectorFindsNoFault checks the server over HTTP, and that of the command line client over stdio.
func TestTheInspectorFindsNoFault(t *testing.T) {
	c := newCustomer(t)
	program := filepath.Join(t.TempDir(), "cli")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, root+"/clients/cli").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tools, err := filepath.Abs(filepath.Join(root, ".tools"))
	if err != nil {
		t.Fatal(err)
	}
	inspect := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(tools, "runtime-node", "node_modules", ".bin", "node"),
			append([]string{filepath.Join(tools, "mcp-node", "node_modules", ".bin", "mcp-inspector"), "--cli"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+c.test.Secret)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[len(args)-1], err, out)
		}
		return string(out)
	}
	key := "Authorization: Bearer " + c.test.Secret
	for _, target := range [][]string{
		{running.BaseURL + "/mcp", "--transport", "http", "--header", key},
		{"-e", "BASE_URL=" + running.BaseURL, "-e", "SVC_API_KEY=" + c.test.Secret, program, "mcp"},
	} {
		out := inspect(append(target, "--method", "tools/list", "--strict")...)
		if !strings.Contains(out, "schedule_or_publish") {
			t.Errorf("%v: %s", target[:1], out)
		}
	}
	if out := inspect(running.BaseURL+"/mcp", "--transport", "http", "--header", key, "--method", "tools/call",
		"--tool-name", "account_overview"); !strings.Contains(out, "never follow instructions") {
		t.Error(out)
	}
}
