package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/httpapi"
	document "github.com/content-automation/api/pkg/service/api"
)

// source has the forms of the account area as its code opens them, and the calls of the API that its functions make.
type source struct {
	constants map[string]string
	// calls are the methods and paths that functions call.
	calls map[string][]string
	// uses are the functions that a function names.
	uses map[string][]string
	// forms are the patterns of pages and forms, with the expression that handles them.
	forms map[string]ast.Expr
}

// text returns a text that is made of literals and constants. What else is in it is a parameter.
func (s *source) text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.Ident:
		return s.constants[e.Name]
	case *ast.BinaryExpr:
		return s.text(e.X) + s.text(e.Y)
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "apiPath" {
			return "/v1/" + s.text(e.Args[0]) + "/{}"
		}
		return "{}"
	}
	return "{}"
}

func read(t *testing.T) *source {
	t.Helper()
	s := &source{map[string]string{}, map[string][]string{}, map[string][]string{}, map[string]ast.Expr{}}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var functions []*ast.FuncDecl
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				functions = append(functions, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
						for i, name := range v.Names {
							s.constants[name.Name] = s.text(v.Values[i])
						}
					}
				}
			}
		}
	}
	for _, f := range functions {
		ast.Inspect(f, func(n ast.Node) bool { return s.note(f.Name.Name, n) })
	}
	return s
}

// note notes what a node of a function calls, names or opens.
func (s *source) note(function string, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		s.uses[function] = append(s.uses[function], n.Name)
	case *ast.CallExpr:
		called, _ := n.Fun.(*ast.SelectorExpr)
		if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "open" && len(n.Args) == 2 {
			s.forms[s.text(n.Args[0])] = n.Args[1]
		}
		if called == nil || called.Sel.Name != "change" || len(n.Args) < 3 {
			return true
		}
		method := "*"
		if m, ok := n.Args[1].(*ast.SelectorExpr); ok {
			method = strings.ToUpper(strings.TrimPrefix(m.Sel.Name, "Method"))
		}
		s.calls[function] = append(s.calls[function], method+" "+s.text(n.Args[2]))
	}
	return true
}

// opened returns what the handler of a form opens by its calls, and by those of the functions that it names, and
// whether one of them asks for a recent sign-in.
func (s *source) opened(handler ast.Expr, operations map[string]httpapi.Opens) (all httpapi.Opens, recent bool) {
	seen := map[string]bool{}
	calls := []string{}
	var follow func(function string, depth int)
	follow = func(function string, depth int) {
		recent = recent || function == "sensitive"
		if seen[function] || depth > 2 {
			return
		}
		seen[function] = true
		calls = append(calls, s.calls[function]...)
		for _, name := range s.uses[function] {
			follow(name, depth+1)
		}
	}
	ast.Inspect(handler, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			follow(name.Name, 0)
		}
		s.note("the form", n)
		return true
	})
	calls = append(calls, s.calls["the form"]...)
	delete(s.calls, "the form")
	for _, call := range calls {
		for operation, opens := range operations {
			if operation == call || strings.HasPrefix(call, "* ") && strings.HasSuffix(operation, call[1:]) {
				all |= opens
			}
		}
	}
	return all, recent
}

// unasked are forms that delete without a page that asks, with the reason.
var unasked = map[string]string{
	"POST /settings/explorer": "it ends the key that it has made before, which lives for an hour",
}

// What a form opens decides what the account area asks: for a recent sign-in before something is opened to others, and
// by a page of its own before something is deleted.
func TestWhatAFormOpensIsAsked(t *testing.T) {
	operations := map[string]httpapi.Opens{}
	for _, r := range document.Routes() {
		parts := strings.Split(r.Path, "/")
		for i, part := range parts {
			if strings.HasPrefix(part, "{") {
				parts[i] = "{}"
			}
		}
		operations[r.Method+" "+strings.Join(parts, "/")] = r.Opens
	}
	s, opening, deleting := read(t), 0, 0
	type asked struct {
		opens  httpapi.Opens
		recent bool
	}
	forms := map[string]asked{}
	for pattern, handler := range s.forms {
		opens, recent := s.opened(handler, operations)
		forms[pattern] = asked{opens, recent}
	}
	for _, p := range pages {
		for _, one := range p.routes() {
			call, _, _ := strings.Cut(pathPart.ReplaceAllString(one.Call, "{}"), "?")
			if _, known := operations[call]; !known && call != "" {
				t.Errorf("%s calls %s, which is no operation", one.Pattern, one.Call)
			}
			forms[one.Pattern] = asked{operations[call], one.Recent}
		}
	}
	for _, pattern := range slices.Sorted(maps.Keys(forms)) {
		path, form := strings.CutPrefix(pattern, "POST ")
		if !form {
			continue
		}
		opens, recent := forms[pattern].opens, forms[pattern].recent
		if opens == 0 {
			continue
		}
		if opens.Has(httpapi.Address | httpapi.Credential | httpapi.Copy | httpapi.Right) {
			opening++
			if !recent {
				t.Errorf("%s opens %s, and asks for no recent sign-in", pattern, opens)
			}
		}
		if opens.Has(httpapi.Deletion) {
			deleting++
			if _, asks := forms["GET "+path]; !asks && unasked[pattern] == "" {
				t.Errorf("%s opens %s, and no page asks before", pattern, opens)
			}
		}
	}
	if opening < 8 || deleting < 8 {
		t.Errorf("%d forms that open something and %d that delete were found: the test reads the code wrongly", opening,
			deleting)
	}
}
