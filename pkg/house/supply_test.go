package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReleasesRunPinnedSteps checks that workflows name each action by the hash of its commit and install packages by
// hashes alone, and that no workflow names a registry.
func TestReleasesRunPinnedSteps(t *testing.T) {
	workflows, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) < 5 {
		t.Fatal(workflows, err)
	}
	pinned := regexp.MustCompile(`^[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	for _, path := range workflows {
		for n, line := range strings.Split(read(t, path), "\n") {
			step := strings.TrimSpace(line)
			_, action, uses := strings.Cut(step, "uses: ")
			switch {
			case uses && !pinned.MatchString(action):
				t.Errorf("%s:%d: %s is not pinned by the hash of a commit", path, n+1, action)
			case strings.Contains(step, "pip install") && !strings.Contains(step, "--require-hashes"),
				strings.Contains(step, "npm install"), strings.Contains(step, "npx "), strings.Contains(step, "@latest"):
				t.Errorf("%s:%d: %s installs packages without hashes", path, n+1, step)
			case strings.Contains(step, "registry-url"), strings.Contains(step, "version: '~>"):
				t.Errorf("%s:%d: %s", path, n+1, step)
			}
		}
	}
}

// TestPackagesOfToolsRunNoScripts checks that each folder of tools has a lock file, and that npm runs no scripts of
// packages there. The two exceptions do not work without.
func TestPackagesOfToolsRunNoScripts(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("..", "..", "infra", "tools", "*", "package.json"))
	if err != nil || len(folders) < 5 {
		t.Fatal(folders, err)
	}
	exceptions := []string{"mcp", "sdk"}
	for _, path := range append(folders, filepath.Join("..", "..", "infra", "tools", "package.json"),
		filepath.Join("..", "..", "infra", "verify", "console", "browser", "package.json"),
		filepath.Join("..", "..", "pkg", "service", "docs", "browser", "package.json")) {
		dir := filepath.Dir(path)
		if lock := read(t, filepath.Join(dir, "package-lock.json")); strings.Contains(lock, `"resolved": "http`) {
			t.Errorf("the lock file of %s names a registry", dir)
		}
		none := strings.Contains(read(t, filepath.Join(dir, ".npmrc")), "ignore-scripts=true")
		if none == slices.Contains(exceptions, filepath.Base(dir)) {
			t.Errorf("%s runs scripts of packages, or is an exception and runs none", dir)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
