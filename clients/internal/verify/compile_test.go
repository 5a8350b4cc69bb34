//go:build clients

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/content-automation/api/testdata/breadth"
)

// TestTheClientsCompile checks the types of the clients where they are, without a package of them, and builds the
// command for each system.
func TestTheClientsCompile(t *testing.T) {
	t.Run("typescript", func(t *testing.T) {
		modules, dir := filepath.Join(tools, "sdk-node", "node_modules"), t.TempDir()
		write(t, filepath.Join(dir, "tsconfig.json"), `{"compilerOptions": {"module": "NodeNext", "target": "ES2022", "strict": true,
			"exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "noEmit": true, "types": ["node"],
			"typeRoots": ["`+filepath.Join(modules, "@types")+`"], "rewriteRelativeImportExtensions": true,
			"paths": {"@content-automation/api": ["`+filepath.Join(root, "clients/typescript/src/index.ts")+`"]}},
			"include": ["`+filepath.Join(root, "clients/typescript/src")+`", "`+filepath.Join(root, "clients/typescript/test/types.ts")+`"]}`)
		command(t, dir, nil, "node", filepath.Join(modules, "typescript/bin/tsc"), "-p", ".")
	})
	t.Run("python", func(t *testing.T) {
		python := filepath.Join(tools, "sdk-python", "bin", "python")
		source := filepath.Join(root, "clients", "python")
		env := []string{"MYPYPATH=" + filepath.Join(source, "src"), "PYTHONPATH=" + filepath.Join(source, "src")}
		command(t, source, env, python, "-m", "mypy", "--cache-dir", t.TempDir(), "src")
		command(t, source, env, python, "-m", "mypy", "--strict", "--cache-dir", t.TempDir(), "tests/typed.py")
		command(t, source, nil, filepath.Join(tools, "sdk-node/node_modules/.bin/pyright"), "--pythonpath", python, "src")
	})
	t.Run("go", func(t *testing.T) { command(t, filepath.Join(root, "clients", "go"), nil, "go", "vet", "./...") })
	// No file of the command depends on the architecture, so one of each system is enough. What differs between systems
	// differs between Linux and Windows.
	systems := map[string]string{"windows": "amd64"}
	if breadth.All() {
		systems = map[string]string{"linux": "amd64", "darwin": "arm64", "windows": "amd64"}
	}
	for goos, arch := range systems {
		t.Run("the command, for "+goos, func(t *testing.T) {
			command(t, filepath.Join(root, "clients", "cli"), []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + arch},
				"go", "build", "-o", os.DevNull, ".")
		})
	}
}
