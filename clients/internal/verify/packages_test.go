//go:build clients

package verify

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// handwritten bounds the lines of the TypeScript client that are not generated.
const handwritten = 850

func TestTypeScriptInAnEmptyProject(t *testing.T) {
	t.Parallel()
	modules := filepath.Join(tools, "sdk-node", "node_modules")
	lines := 0
	sources, _ := filepath.Glob(filepath.Join(root, "clients/typescript/src/*.ts"))
	for _, file := range sources {
		if text, err := os.ReadFile(file); err == nil && !strings.HasSuffix(file, ".gen.ts") {
			lines += strings.Count(string(text), "\n")
		}
	}
	if lines == 0 || lines > handwritten {
		t.Errorf("%d lines are written by hand", lines)
	}
	packed := t.TempDir()
	source := copied(t, "clients/typescript", filepath.Join(packed, "source"))
	command(t, source, []string{"TSC=" + filepath.Join(modules, "typescript/bin/tsc")}, "node", "build.mjs")
	command(t, source, nil, "npm", "pack", "--silent", "--pack-destination", packed)
	archive := filepath.Join(packed, "content-automation-api-1.0.0.tgz")
	command(t, source, nil, filepath.Join(modules, ".bin/publint"), "--strict", ".")
	command(t, source, nil, filepath.Join(modules, ".bin/attw"), "--profile", "node16", "--no-emoji", archive)

	project := filepath.Join(packed, "project")
	write(t, filepath.Join(project, "package.json"), `{"name": "empty", "private": true, "type": "module"}`)
	command(t, project, nil, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", archive)
	for _, name := range []string{"express", "@types"} {
		if err := os.Symlink(filepath.Join(modules, name), filepath.Join(project, "node_modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	copied(t, "clients/typescript/examples", filepath.Join(project, "examples"))
	copied(t, "clients/typescript/test", filepath.Join(project, "test"))
	write(t, filepath.Join(project, "tsconfig.json"), `{"compilerOptions": {"module": "NodeNext", "target": "ES2022", "strict": true,
		"exactOptionalPropertyTypes": true, "noEmit": true, "types": ["node"], "skipLibCheck": true}, "include": ["examples", "test/*.ts"]}`)
	samples(t, filepath.Join(project, "examples"))
	command(t, project, nil, "node", filepath.Join(modules, "typescript/bin/tsc"), "-p", ".")
	installed := "node_modules/@content-automation/api/dist/"
	for _, kind := range []string{"esm", "cjs"} {
		entry := installed + kind + "/index.js"
		t.Log(kind, command(t, project, nil, "node", "test/scenarios.mjs", table, entry, kind))
		command(t, project, []string{"ENTRY=" + entry}, "node", "--test", "test/features.mjs")
	}
	node20, _ := filepath.Glob(filepath.Join(modules, "node20-linux-*", "bin", "node"))
	runtimes := map[string][]string{"node20": node20, "bun": {filepath.Join(modules, ".bin", "bun")}}
	// Deno is pinned for this system only.
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		deno := filepath.Join(tools, "deno-node", "node_modules", "@deno", "linux-x64-glibc", "deno")
		runtimes["deno"] = []string{deno, "run", "--quiet", "--no-lock", "--allow-net", "--allow-read", "--allow-env"}
	}
	for name, program := range runtimes {
		if len(program) == 0 {
			t.Fatalf("%s is not installed", name)
		}
		line := append(program, "test/scenarios.mjs", table, installed+"esm/index.js", name)
		t.Log(name, command(t, project, nil, line[0], line[1:]...))
	}
	t.Log(command(t, project, nil, "node", "test/size.mjs", modules, installed+"esm/index.js"))
	examples(t, project, nil, func(name string) []string { return []string{"node", "examples/" + name + ".ts"} })
	receive(t, project, nil, "0", "node", "examples/webhook.ts")
}

func TestPythonInAnEmptyProject(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(tools, "sdk-python", "bin")
	python := filepath.Join(bin, "python")
	dir := t.TempDir()
	source := copied(t, "clients/python", filepath.Join(dir, "source"))
	command(t, source, nil, python, "-m", "mypy", "src")
	command(t, source, nil, filepath.Join(tools, "sdk-node/node_modules/.bin/pyright"), "--pythonpath", python, "src")
	command(t, source, nil, python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--no-build-isolation", "--wheel-dir", dir, ".")
	wheel := filepath.Join(dir, "content_automation-1.0.0-py3-none-any.whl")
	project := filepath.Join(dir, "project")
	command(t, dir, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", project, wheel)
	env := []string{"PYTHONPATH=" + project, "PYTHONDONTWRITEBYTECODE="}
	copied(t, "clients/python/examples", filepath.Join(project, "examples"))
	samples(t, filepath.Join(project, "examples"))
	command(t, project, env, python, "-m", "mypy", "--strict", "examples/post.py", "examples/week.py",
		"examples/upload.py", "examples/journey.py", "examples/shop.py", "examples/samples.py")
	copied(t, "clients/python/tests", filepath.Join(project, "tests"))
	command(t, project, env, python, "-m", "mypy", "--strict", "tests/typed.py")
	command(t, source, env, python, "tests/features.py")
	t.Log(command(t, source, env, python, "tests/scenarios.py", table))
	best := 1.0
	for range 5 {
		out := command(t, project, env, python, "-c", "import time; t = time.perf_counter(); import content_automation; print(time.perf_counter() - t)")
		if took, err := strconv.ParseFloat(regexp.MustCompile(`[\d.e-]+`).FindString(out), 64); err == nil {
			best = min(best, took)
		}
	}
	if best > 0.2 {
		t.Errorf("an import takes %.3f s", best)
	}
	t.Logf("an import takes %.3f s", best)
	examples(t, project, env, func(name string) []string { return []string{python, "examples/" + name + ".py"} })
	receive(t, filepath.Join(project, "examples"), env, "0", python, "-c", `
import socket, sys, os
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print("127.0.0.1:%d" % s.getsockname()[1], flush=True)
sys.path.insert(0, ".")
import uvicorn, webhook
uvicorn.Server(uvicorn.Config(webhook.app, log_level="error")).run(sockets=[s])`)
}

// TestN8nPackage builds and lints the package of the n8n node with the tools of n8n, as the verification of n8n does.
func TestN8nPackage(t *testing.T) {
	t.Parallel()
	folder := copied(t, "clients/n8n", filepath.Join(t.TempDir(), "package"))
	modules := filepath.Join(tools, "n8n-lint-node", "node_modules")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, do := range []string{"build", "lint"} {
		// A warning is in the sum of problems, too.
		out := command(t, folder, []string{"CI=1"}, filepath.Join(modules, ".bin", "n8n-node"), do)
		if strings.Contains(out, "problem") {
			t.Errorf("%s: %s", do, out)
		}
	}
	t.Log(command(t, folder, []string{"PACKAGE=" + folder}, "node", "--test",
		filepath.Join(root, "clients/internal/verify/n8n/signature.test.mjs")))
	t.Log(command(t, folder, append(serve(t).env(), "PACKAGE="+folder), "node", "--test",
		filepath.Join(root, "clients/internal/verify/n8n/waits.test.mjs")))
	packed := command(t, folder, nil, "npm", "pack", "--dry-run", "--json")
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "workflows/row-to-media.json",
		"dist/icons/contentAutomation.svg", "dist/credentials/ContentAutomationApi.credentials.js",
		"dist/nodes/ContentAutomationTrigger/ContentAutomationTrigger.node.json"} {
		if !strings.Contains(packed, `"path": "`+name+`"`) {
			t.Errorf("the package lacks %s", name)
		}
	}
}
