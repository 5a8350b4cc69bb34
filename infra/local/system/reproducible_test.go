package system

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A second build gives the same binary, even from a copy of the sources in another folder, with an empty cache and
// without a repository. With the sources of a release, anyone can therefore verify the deployed functions. One
// function, the quickest, is built, because all are built by the same command.
func TestFunctionsAreReproducible(t *testing.T) {
	const one = "docs"
	root, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
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
	// The same build as for the local system, which then finds them built.
	if err := Build(t.Context(), root, Machine(), appCommand, providersCommand, platformsCommand); err != nil {
		t.Fatal(err)
	}
	first := sums(t, filepath.Join(root, Machine().Dir(), "*", "bootstrap"))
	t.Setenv("GOCACHE", t.TempDir())
	folder := t.TempDir()
	if err := Compile(t.Context(), copied, Machine(), folder, "./functions/"+one); err != nil {
		t.Fatal(err)
	}
	second := sums(t, filepath.Join(folder, "*"))
	if len(second) != 1 || second[one] != first[one] || first[one] == [sha256.Size]byte{} {
		t.Errorf("%s has the hashes %x, then %x", one, first[one], second[one])
	}
}

// sums returns the hash of each binary by its name, or by its folder's name if it is bootstrap.
func sums(t *testing.T, pattern string) map[string][sha256.Size]byte {
	t.Helper()
	binaries, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string][sha256.Size]byte{}
	for _, binary := range binaries {
		data, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		sums[filepath.Base(strings.TrimSuffix(binary, "/bootstrap"))] = sha256.Sum256(data)
	}
	return sums
}
