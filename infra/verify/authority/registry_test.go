package authority

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	record "github.com/content-automation/api/pkg/record/authority"
)

var update = flag.Bool("update", false, "write the tables of testdata")

const root = "../../.."

// keepers returns the types of the code that keep an authority, or the actor behind it, in a stored document.
func keepers(t *testing.T) (keep, actors []string) {
	t.Helper()
	err := filepath.WalkDir(root+"/pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			doc, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range doc.Fields.List {
				name := filepath.ToSlash(folder) + "." + spec.Name.Name
				switch kind := typeOf(field.Type); {
				case field.Tag == nil || !strings.Contains(field.Tag.Value, "json:"):
				case kind == "authority.Authority" && !slices.Contains(keep, name):
					keep = append(keep, name)
				case kind == "auth.Actor":
					actors = append(actors, name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keep, actors
}

func typeOf(e ast.Expr) string {
	switch of := e.(type) {
	case *ast.StarExpr:
		e = of.X
	case *ast.MapType:
		e = of.Value
	case *ast.ArrayType:
		e = of.Elt
	}
	if s, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// Whatever keeps the rights of a caller for later is in the registry, and keeps them as an Authority.
func TestWhatActsLaterIsRegistered(t *testing.T) {
	keep, actors := keepers(t)
	var known []string
	for _, k := range record.Kinds {
		known = append(known, k.Document)
	}
	for _, name := range keep {
		if !slices.Contains(known, name) {
			t.Errorf("%s keeps an authority: add it to authority.Kinds, with what changes it and what becomes of it", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(keep, name) {
			t.Errorf("authority.Kinds has %s, which keeps no authority", name)
		}
	}
	if want := []string{"pkg/record/authority.Authority"}; !slices.Equal(actors, want) {
		t.Errorf("%v keep an actor in a stored document: keep an authority.Authority in its place", actors)
	}
}

// acting are the documents of the registry in the table, by their keys.
func (w *world) acting() map[string]doc {
	w.t.Helper()
	all := map[string]doc{}
	for _, row := range storetest.Rows(w.t, w.State) {
		i := slices.IndexFunc(record.Kinds, func(k record.Kind) bool { return k.Item != "" && k.Item == row["kind"] })
		if i < 0 {
			continue
		}
		d := doc{kind: record.Kinds[i]}
		for _, into := range []any{&d.members, &d.by} {
			if err := json.Unmarshal([]byte(row["doc"]), into); err != nil {
				w.t.Fatal(err)
			}
		}
		all[row["pk"]] = d
	}
	return all
}

// doc is a document with an authority.
type doc struct {
	kind    record.Kind
	members map[string]any
	by      struct{ Authority record.Authority }
}

// moved returns the members in which the content of two documents differs. What was taken away gives nothing to do.
func (d doc) moved(after doc) (names []string) {
	for _, name := range d.kind.Content {
		if now := after.members[name]; now != nil && !reflect.DeepEqual(d.members[name], now) {
			names = append(names, name)
		}
	}
	return names
}

// Whoever changes the content of what a stronger caller has made answers for it from then on, or is refused.
func TestAWeakerCallerAnswersForItsChanges(t *testing.T) {
	w := newWorld(t)
	changed := map[string]bool{}
	for _, operation := range w.operations() {
		route := w.Routes[operation]
		if reads(route) || route.Scope == auth.PersonScope {
			continue
		}
		weak := w.key([]auth.Scope{route.Scope})
		r := w.prepare(operation)
		before := w.acting()
		a := w.send(r, weak.Secret)
		for at, now := range w.acting() {
			was, existed := before[at]
			mine := now.by.Authority.Actor.ID == weak.ID
			switch moved := was.moved(now); {
			case !existed && !mine:
				t.Errorf("%s makes %s for %s: %d %s", operation, at, now.by.Authority.Actor.ID, a.Status, a.Body)
			case existed && len(moved) > 0 && !mine:
				t.Errorf("%s changes %v of %s, which acts for %s", operation, moved, at, now.by.Authority.Actor.ID)
			case mine && len(slices.DeleteFunc(slices.Clone(now.by.Authority.Scopes), func(s auth.Scope) bool {
				return s == route.Scope
			})) > 0:
				t.Errorf("%s gives %s the scopes %v", operation, at, now.by.Authority.Scopes)
			case mine:
				changed[operation] = true
			}
		}
		// An account has a limited number of keys.
		if _, err := w.Call(t.Context(), metered.Request{Operation: "revokeApiKey", ID: weak.ID}); err != nil &&
			operation != "revokeApiKey" {
			t.Fatal(err)
		}
	}
	if len(changed) < 5 {
		t.Errorf("only %v have changed something", changed)
	}
}

// testdata/kinds.md has the table of the registry, and the registry names operations of the document.
func TestTheTableIsThatOfTheRegistry(t *testing.T) {
	w := newWorld(t)
	var b bytes.Buffer
	b.WriteString("| What acts later | What it does | Needs when it acts | Who changes it | When its authority has ended |\n" +
		"|---|---|---|---|---|\n")
	for _, k := range record.Kinds {
		var needs, changes []string
		for _, scope := range k.RequiredScopes {
			needs = append(needs, "`"+string(scope)+"`")
		}
		for _, operation := range k.Changes {
			route, ok := w.Routes[operation]
			if !ok {
				t.Errorf("%s: there is no operation %s", k.Name, operation)
			}
			changes = append(changes, fmt.Sprintf("`%s` (%s)", operation, route.Scope))
		}
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %s | %s | %s |\n", k.Name, k.Document, k.Acts, strings.Join(needs, ", "),
			strings.Join(changes, ", "), k.EndEffect)
	}
	const name, begin, end = "testdata/kinds.md", "<!-- begin -->\n", "<!-- end -->\n"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(old), begin)
	_, after, ok := strings.Cut(rest, end)
	text := before + begin + b.String() + end + after
	switch {
	case !ok:
		t.Fatalf("%s has no table", name)
	case *update:
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	case text != string(old):
		t.Errorf("%s is out of date: run go test ./infra/verify/authority -update", name)
	}
}
