package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/record/event"
)

// The code outside of this package and of the document names each type.
func TestSomethingSendsEachType(t *testing.T) {
	named := map[string]bool{}
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if dir := filepath.Dir(path); dir == filepath.Join(root, "record", "event") ||
			dir == filepath.Join(root, "service", "api") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok && p.Name == "event" {
					named[s.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	constants := constantsOf(t)
	for _, known := range event.Types {
		if !named[constants[known.Type]] {
			t.Errorf("nothing sends %s", known.Type)
		}
	}
}

// constantsOf returns the name of the constant of each type.
func constantsOf(t *testing.T) map[event.Type]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[event.Type]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if l, ok := v.Values[0].(*ast.BasicLit); ok && l.Kind == token.STRING {
				value, _ := strconv.Unquote(l.Value)
				names[event.Type(value)] = v.Names[0].Name
			}
		}
		return true
	})
	return names
}
