package system

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// A second build, from a copy of the sources in another folder, with an empty cache and
// without a repository around it, leads to the same binaries: whoever has the sources of
// a release can prove what was deployed.
func TestFunctionsAreReproducible(t *testing.T) {
	root, copied := filepath.Join("..", "..", ".."), t.TempDir()
	for _, name := range []string{"functions", "pkg", "clients"} {
		if err := os.CopyFS(filepath.Join(copied, name), os.DirFS(filepath.Join(root, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(copied, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first := build(t, root)
	t.Setenv("GOCACHE", t.TempDir())
	second := build(t, copied)
	if len(first) == 0 || len(second) != len(first) {
		t.Fatalf("%d functions, then %d", len(first), len(second))
	}
	for name, sum := range first {
		if second[name] != sum {
			t.Errorf("%s differs", name)
		}
	}
}

// build builds the functions of a checkout, and returns the hash of each.
func build(t *testing.T, root string) map[string][sha256.Size]byte {
	t.Helper()
	folder := t.TempDir()
	if err := Compile(t.Context(), root, Machine(), folder, "./functions/..."); err != nil {
		t.Fatal(err)
	}
	binaries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][sha256.Size]byte{}
	for _, binary := range binaries {
		data, err := os.ReadFile(filepath.Join(folder, binary.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sums[binary.Name()] = sha256.Sum256(data)
	}
	return sums
}
