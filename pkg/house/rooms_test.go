package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms are the folders of pkg, from the top. A package imports packages of its own room
// and of the rooms below it.
var rooms = []string{"service", "area", "generate", "httpapi", "record", "craft", "adapter", "auth", "task", "store", "media",
	"cloud", "base"}

// folder returns the first n elements of a package's path below pkg.
func folder(path string, n int) string {
	parts := strings.Split(strings.TrimPrefix(path, "pkg/"), "/")
	return strings.Join(parts[:min(n, len(parts))], "/")
}

// arrows returns the imports between folders of pkg, with one of the packages that make
// each. Tests are left out: they may use the harness of a room above.
func arrows(t *testing.T, depth int) map[[2]string]string {
	t.Helper()
	all := map[[2]string]string{}
	for _, p := range packages(t) {
		if !p.under("pkg") || p.under("pkg/house") {
			continue
		}
		for _, path := range p.Imports {
			inner, ok := strings.CutPrefix(path, module+"/")
			if !ok || !strings.HasPrefix(inner, "pkg/") {
				continue
			}
			from, to := folder(p.short(), depth), folder(inner, depth)
			if from != to {
				all[[2]string{from, to}] = p.short() + " → " + inner
			}
		}
	}
	return all
}

func TestImportsGoDown(t *testing.T) {
	used := map[string]bool{}
	for arrow, example := range arrows(t, 1) {
		from, to := slices.Index(rooms, arrow[0]), slices.Index(rooms, arrow[1])
		switch {
		case from < 0 || to < 0:
			t.Errorf("%s: pkg has the folders %v", example, rooms)
		case from > to:
			t.Errorf("%s: pkg/%s is below pkg/%s", example, arrow[0], arrow[1])
		}
		used[arrow[0]], used[arrow[1]] = true, true
	}
	if len(used) != len(rooms) {
		t.Errorf("the imports are of %d folders, not of the %d of %v", len(used), len(rooms), rooms)
	}
}

func TestNoTwoFoldersImportEachOther(t *testing.T) {
	all := arrows(t, 2)
	for arrow, example := range all {
		if back, ok := all[[2]string{arrow[1], arrow[0]}]; ok && !parent(arrow[0], arrow[1]) {
			t.Errorf("%s, and %s", example, back)
		}
	}
}

// parent reports whether one of two folders holds the other.
func parent(a, b string) bool { return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") }

// The doubles of platforms, providers and CRMs are judges: they are written from the documents of these, and neither
// they nor what they import know anything of the service. The tests of the platforms' doubles do not either.
func TestDoublesKnowNothingOfTheService(t *testing.T) {
	for least, args := range map[int][]string{12: {"-test", "./testdata/platforms/..."},
		20: {"./testdata/platforms/...", "./testdata/fakes/...", "./testdata/providers/..."}} {
		if doubles := importers(t, args...); doubles < least {
			t.Errorf("%v are %d doubles", args, doubles)
		}
	}
}

// importers refuses imports of pkg by packages and what they import, and returns the number of packages in testdata.
func importers(t *testing.T, args ...string) (doubles int) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Imports,Dir"}, args...)...)
	list.Dir = filepath.Join("..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return doubles
		} else if err != nil {
			t.Fatal(err)
		}
		if p.under("testdata") {
			doubles++
		}
		if !strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		for _, path := range p.Imports {
			if path == module+"/pkg" || strings.HasPrefix(path, module+"/pkg/") {
				t.Errorf("%s imports %s", p.short(), strings.TrimPrefix(path, module+"/"))
			}
		}
	}
}
