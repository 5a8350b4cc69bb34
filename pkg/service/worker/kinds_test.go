package worker_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area"
	advicejob "github.com/content-automation/api/pkg/area/advice/job"
	"github.com/content-automation/api/pkg/area/media/importer"
	"github.com/content-automation/api/pkg/area/training/job"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/service/worker"
	composewiring "github.com/content-automation/api/pkg/service/worker/compose"
	deliverwiring "github.com/content-automation/api/pkg/service/worker/deliver"
	diagnosewiring "github.com/content-automation/api/pkg/service/worker/diagnose"
	generatewiring "github.com/content-automation/api/pkg/service/worker/generate"
	"github.com/content-automation/api/pkg/service/worker/importmedia"
	"github.com/content-automation/api/pkg/service/worker/publish"
	"github.com/content-automation/api/pkg/service/worker/replay"
	"github.com/content-automation/api/pkg/service/worker/settle"
	"github.com/content-automation/api/pkg/service/worker/synccrm"
	"github.com/content-automation/api/pkg/service/worker/train"
)

// all are the handlers of each function that takes the steps of tasks.
var all = map[string]worker.Handlers{
	"compose":      composewiring.Handlers(composewiring.Config{}),
	"deliver":      deliverwiring.Handlers(&deliver.Deliverer{}),
	"deliver-slow": deliverwiring.Handlers(&deliver.Deliverer{}),
	"diagnose":     diagnosewiring.Handlers(&advicejob.Worker{}),
	"generate":     generatewiring.Handlers(&generate.Worker{}),
	"import-media": importmedia.Handlers(&importer.Worker{}),
	"publish":      publish.Handlers(publish.Config{}),
	"replay":       replay.Handlers(&dispatch.Dispatcher{}),
	"settle":       settle.Handlers(area.Env{}),
	"sync-crm":     synccrm.Handlers(area.Env{}),
	"train":        train.Handlers(&job.Worker{}),
}

// Each kind of task that the code declares is taken by a function, and each function that
// consumes a queue of tasks takes some.
func TestEveryKindOfTaskIsTaken(t *testing.T) {
	var taken []string
	for _, handlers := range all {
		for kind := range handlers {
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
		if consumes != (len(all[f.Name]) > 0) {
			t.Errorf("%s: consumes queues of tasks: %t, has handlers: %d", f.Name, consumes, len(all[f.Name]))
		}
	}
}

// The program of a function takes the handlers that the simulation and the measurements
// have of it, and the queues of its name.
func TestProgramsTakeTheHandlersOfTheirFunctions(t *testing.T) {
	for name := range all {
		source, err := os.ReadFile(filepath.Join("..", "..", "..", "functions", name, "main.go"))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, want := range []string{
			`"github.com/content-automation/api/pkg/service/worker/` + strings.ReplaceAll(strings.TrimSuffix(name, "-slow"), "-", "") + `"`,
			`worker.Consume("` + name + `", `,
		} {
			if !strings.Contains(string(source), want) {
				t.Errorf("functions/%s lacks %s", name, want)
			}
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
