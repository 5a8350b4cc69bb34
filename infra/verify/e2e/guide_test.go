//go:build !deployed

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/local/system"
)

// block matches the samples of a guide, with their language and their text.
var block = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestSamplesOfTheQuickStart runs each sample of the callers' quick start.
func TestSamplesOfTheQuickStart(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := system.Install(t.Context(), root, func(step string) { t.Log(step) }, system.Clients); err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join(root, "pkg", "service", "docs", "guides", "quick-start.md"))
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for _, b := range block.FindAllStringSubmatch(string(guide), -1) {
		if strings.Contains(b[2], "https://api.example.com") {
			continue // The test sets the address and the key.
		}
		samples[b[1]] += b[2]
	}
	modules := filepath.Join(root, ".tools", "clients-node", "node_modules")
	// Node does not run TypeScript, so the types are removed first.
	strip := "const ts = require(" + "'" + filepath.Join(modules, "typescript") + "'" + `), fs = require("fs");
		fs.writeFileSync("main.mjs", ts.transpileModule(fs.readFileSync("main.ts", "utf8"), {compilerOptions: {module: "esnext", target: "es2022"}}).outputText)`
	c := newCustomer(t)
	for _, l := range []struct {
		language, file string
		commands       [][]string
	}{
		{"sh", "main.sh", [][]string{{"bash", "-eu", "main.sh"}}},
		{"ts", "main.ts", [][]string{{"node", "-e", strip}, {"node", "main.mjs"}}},
		{"python", "main.py", [][]string{{"python3", "main.py"}}},
		{"go", "main.go", [][]string{{"go", "run", "main.go"}}},
	} {
		t.Run(l.language, func(t *testing.T) {
			t.Parallel()
			if samples[l.language] == "" {
				t.Fatal("the guide has no such sample")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, l.file), []byte(samples[l.language]), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			run := func(key string) (out []byte, err error) {
				for _, command := range l.commands {
					cmd := exec.CommandContext(ctx, command[0], command[1:]...)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+key)
					if out, err = cmd.CombinedOutput(); err != nil {
						break
					}
				}
				return out, err
			}
			if out, err := run("svc_test_mistyped"); err == nil || !strings.Contains(string(out), "invalid_api_key") {
				t.Errorf("with a bad key it does not end with the error: %v\n%s", err, out)
			}
			out, err := run(c.test.Secret)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "generated") || !strings.Contains(string(out), "http") {
				t.Errorf("it ends with no generated item and its media:\n%s", out)
			}
		})
	}
}
