package worker_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
)

// The table has each function that runs one of its programs, in the order of the topology.
func TestTheTableHasEveryFunction(t *testing.T) {
	var deployed, rows []string
	for _, f := range topology.Functions {
		if p := f.Program(); p == "work" || p == "compose" {
			deployed = append(deployed, f.Name)
		}
	}
	for _, f := range worker.All {
		rows = append(rows, f.Name)
	}
	if !slices.Equal(deployed, rows) {
		t.Errorf("the table has %v, and deployed are %v", rows, deployed)
	}
}

// Each kind of task that the code declares is taken by a function, and each function that
// consumes a queue of tasks takes some.
func TestEveryKindOfTaskIsTaken(t *testing.T) {
	var taken []string
	tasks := map[string]bool{}
	for _, f := range worker.All {
		if tasks[f.Name] = f.Tasks != nil; !tasks[f.Name] {
			continue
		}
		for kind := range f.Tasks(worker.Env{}) {
			taken = append(taken, string(kind))
		}
	}
	declared := declaredKinds(t)
	if len(declared) < 15 {
		t.Fatalf("found %d kinds alone: %v", len(declared), declared)
	}
	for _, kind := range declared {
		if !slices.Contains(taken, kind) {
			t.Errorf("no function takes the tasks of kind %q", kind)
		}
	}
	for kind := range slices.Values(taken) {
		if !slices.Contains(declared, kind) {
			t.Errorf("the kind %q is declared by no constant", kind)
		}
	}
	for _, f := range topology.Functions {
		consumes := slices.ContainsFunc(f.Consumes,
			func(q topology.Queue) bool { return slices.Contains(topology.Tasks, q) })
		if consumes != tasks[f.Name] {
			t.Errorf("%s: consumes queues of tasks: %t, has handlers: %t", f.Name, consumes, tasks[f.Name])
		}
	}
}

// declaredKinds returns the constants of type task.Kind in the code of the service.
func declaredKinds(t *testing.T) (kinds []string) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for _, value := range v.Values {
					if text, ok := kindOf(v.Type, value); ok {
						kinds = append(kinds, text)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

// kindOf returns the text of a constant of type task.Kind, written as its type or as a
// conversion.
func kindOf(typ, value ast.Expr) (string, bool) {
	if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
		typ, value = call.Fun, call.Args[0]
	}
	s, ok := typ.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Kind" {
		return "", false
	}
	if x, ok := s.X.(*ast.Ident); !ok || x.Name != "task" {
		return "", false
	}
	text, ok := value.(*ast.BasicLit)
	if !ok {
		return "", false
	}
	kind, err := strconv.Unquote(text.Value)
	return kind, err == nil
}
