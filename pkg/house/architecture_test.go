package house

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// place is a path of this repository in a document, with the function that the document names in it.
var place = regexp.MustCompile("`((?:pkg|infra|functions|clients|testdata)/[a-z0-9_./-]+)`(?: `([A-Za-z]+)`)?")

// The page that newcomers read first names files and functions that exist.
func TestTheArchitecturePageIsTrue(t *testing.T) {
	const name = "../../docs/architecture.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	places := place.FindAllStringSubmatch(string(text), -1)
	if len(places) < 20 {
		t.Errorf("it names %d places", len(places))
	}
	for _, p := range places {
		source, err := os.ReadFile(filepath.Join("..", "..", p[1]))
		switch {
		case os.IsNotExist(err):
			t.Errorf("there is no %s", p[1])
		case p[2] != "" && !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+p[2]+`\(`).Match(source):
			t.Errorf("%s has no function %s", p[1], p[2])
		}
	}
}
