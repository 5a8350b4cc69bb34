package system

import (
	"os"
	"path/filepath"
	"testing"
)

// module makes a checkout with functions in it.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestBuildWritesOnlyWhatChanged(t *testing.T) {
	root := module(t, map[string]string{
		"go.mod":              "module example.com/x\n\ngo 1.26\n",
		"functions/a/main.go": "package main\n\nfunc main() {}\n",
		"functions/b/main.go": "package main\n\nfunc main() { println(1) }\n",
		"tools/app/main.go":   "package main\n\nfunc main() { println(2) }\n",
	})
	build := func() {
		t.Helper()
		if err := Build(t.Context(), root, Machine(), "./tools/app"); err != nil {
			t.Fatal(err)
		}
	}
	bootstrap := func(name string) os.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(root, Machine().Dir(), name, "bootstrap"))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	build()
	a, b := bootstrap("a"), bootstrap("b")
	if a.Mode().Perm()&0o100 == 0 {
		t.Errorf("the bootstrap cannot be run: %v", a.Mode())
	}
	for range 2 { // The second build leaves it there.
		if _, err := os.Stat(filepath.Join(root, Machine().linked(), "app")); err != nil {
			t.Error(err)
		}
		build()
	}
	if entries, err := os.ReadDir(filepath.Join(root, Machine().Dir(), "a")); err != nil || len(entries) != 1 {
		t.Errorf("the asset holds %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(root, "functions", "b", "main.go"),
		[]byte("package main\n\nfunc main() { println(2) }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	build()
	if !os.SameFile(a, bootstrap("a")) {
		t.Error("a function that has not changed is written again")
	}
	if os.SameFile(b, bootstrap("b")) {
		t.Error("a function that has changed is not written")
	}
	if err := os.RemoveAll(filepath.Join(root, "functions", "a")); err != nil {
		t.Fatal(err)
	}
	build()
	if _, err := os.Stat(filepath.Join(root, Machine().Dir(), "a")); !os.IsNotExist(err) {
		t.Errorf("a function that is gone is still there: %v", err)
	}
}

func TestTargets(t *testing.T) {
	for architecture, want := range map[string]Target{"arm64": {"linux", "arm64"}, "x86_64": {"linux", "amd64"}} {
		got, err := Lambda(architecture)
		if err != nil || got != want || got.Architecture() != architecture ||
			got.Dir() != filepath.Join("build", architecture) {
			t.Errorf("%s is %v (%s, %s), %v", architecture, got, got.Architecture(), got.Dir(), err)
		}
	}
	if _, err := Lambda("mips"); err == nil {
		t.Error("mips will do")
	}
	if dir := (Target{"darwin", "arm64"}).Dir(); dir != filepath.Join("build", "darwin-arm64") {
		t.Errorf("builds for another system go to %s, among those to be deployed", dir)
	}
}
