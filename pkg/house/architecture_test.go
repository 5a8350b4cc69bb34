package house

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// place is a path of this repository in a document, with the function that the document names in it. The path may end
// with the name of a type of its package, such as pkg/area/crm.Record.
var place = regexp.MustCompile("`((?:pkg|infra|functions|clients|testdata)/[A-Za-z0-9_./-]+)`(?: `([A-Za-z]+)`)?")

// The documents name files and functions that exist.
func TestTheDocumentsNameWhatExists(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		places := place.FindAllStringSubmatch(string(text), -1)
		if filepath.Base(page) == "architecture.md" && len(places) < 20 {
			t.Errorf("the page that newcomers read first names %d places", len(places))
		}
		for _, p := range places {
			if strings.HasPrefix(p[1], "clients/go/v") { // a tag
				continue
			}
			name, kind := p[1], ""
			if at := strings.LastIndex(name, "."); !there(name) && at > strings.LastIndex(name, "/") {
				name, kind = name[:at], name[at+1:]
			}
			switch {
			case !there(name):
				t.Errorf("%s: there is no %s", filepath.Base(page), p[1])
			case kind != "" && !declares(t, name, `type `+kind+`\b|\t`+kind+` struct`):
				t.Errorf("%s: %s has no type %s", filepath.Base(page), name, kind)
			case p[2] != "" && strings.HasSuffix(name, ".go") && !declares(t, name, `func (\([^)]*\) )?`+p[2]+`\(`):
				t.Errorf("%s: %s has no function %s", filepath.Base(page), name, p[2])
			}
		}
	}
}

// there reports whether this repository has a file or a folder.
func there(name string) bool {
	_, err := os.Stat(filepath.Join("..", "..", name))
	return err == nil
}

// declares reports whether a file, or a file of a folder, has a line that begins with a pattern.
func declares(t *testing.T, name, begin string) bool {
	files := []string{filepath.Join("..", "..", name)}
	if !strings.HasSuffix(name, ".go") {
		var err error
		if files, err = filepath.Glob(filepath.Join("..", "..", name, "*.go")); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^(?:` + begin + `)`).Match(source) {
			return true
		}
	}
	return false
}

// room is a path of this repository in a comment, such as pkg/store/item.go or pkg/area/crm.Record.
var room = regexp.MustCompile(`(^|[\s(])((?:pkg|infra|functions)/[\w/-]+)(\.[a-z]+)?`)

// Comments name files and folders that exist.
func TestCommentsNameWhatExists(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		for _, c := range f.tree.Comments {
			for _, m := range room.FindAllStringSubmatch(c.Text(), -1) {
				if !there(m[2]) && !there(m[2]+m[3]) {
					t.Errorf("%s: a comment names %s, which does not exist", f.path, m[2]+m[3])
				}
			}
		}
	}
}

// An archived module is behind one file, so that it can be replaced there: docs/architecture.md says by what.
func TestOneFileImportsTheArchivedModule(t *testing.T) {
	var found []string
	for _, folder := range []string{"pkg", "infra", "functions", "clients", "testdata"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(name string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() && e.Name() == "node_modules" {
				return cmp.Or(err, filepath.SkipDir)
			}
			if e.IsDir() || !strings.HasSuffix(name, ".go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
				return strings.HasPrefix(i.Path.Value, `"github.com/awslabs/aws-lambda-go-api-proxy`)
			}) {
				found = append(found, filepath.ToSlash(name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"../../pkg/cloud/proxy/proxy.go"}; !slices.Equal(found, want) {
		t.Errorf("%v import aws-lambda-go-api-proxy, want %v", found, want)
	}
}
