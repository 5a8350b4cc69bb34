package adapter_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/media/compose"
)

// passing are the codes of errors that do not end work. Where retries end, the failure is
// provider_unavailable.
var passing = []string{"already_completed", "no_answer", "not_ready", "provider_busy", "provider_quota",
	"result_unreadable", "text_unreadable"}

// TestFailureCodesAreThoseOfTheCode compares the list with the errors that the providers
// and pkg/generate return.
func TestFailureCodesAreThoseOfTheCode(t *testing.T) {
	written := map[string]bool{
		provider.CodeContentPolicy: true,
		// pkg/generate derives these from errs.Code.
		string(errs.ProviderUnavailable): true, string(errs.Timeout): true, string(errs.UnsupportedMedia): true,
		string(errs.InsufficientBalance): true, string(errs.SpendLimitReached): true,
		string(provider.FailedComposition): true,
		// Compositions fail with these.
		string(compose.CodeTooLarge): true, string(compose.CodeTooShort): true, string(compose.CodeSilent): true,
		string(compose.CodeScript): true,
		// The area of content fails with it.
		string(provider.FailedSources): true,
	}
	for _, code := range guard.Codes() { // with which the area of content refuses texts
		written[string(code)] = true
	}
	for _, root := range []string{"provider", "../generate"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "catalog" { // whose pointers are no codes
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				path == "provider/error.go" {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			maps.Copy(written, codesIn(t, path, content))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	listed := map[string]bool{}
	for _, code := range provider.FailureCodes() {
		listed[string(code)] = true
		if !written[string(code)] {
			t.Errorf("%s is listed, and returned nowhere", code)
		}
		if e := provider.FailureOf(code); e == nil || e.Code != string(code) || e.Message == "" {
			t.Errorf("%s: %+v", code, e)
		}
	}
	for code := range written {
		if !listed[code] && !slices.Contains(passing, code) {
			t.Errorf("%s is returned, and not listed", code)
		}
	}
	if provider.FailureOf("none") != nil {
		t.Error("an unknown code has a failure")
	}
}

// codesIn returns the codes of the errors that a file makes: the member Code of a
// literal, and the first argument of a function that makes such an error.
func codesIn(t *testing.T, path string, content []byte) map[string]bool {
	file, err := parser.ParseFile(token.NewFileSet(), path, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if code, err := strconv.Unquote(lit.Value); err == nil {
				codes[code] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
				add(n.Value)
			}
		case *ast.CallExpr:
			if len(n.Args) < 2 {
				break
			}
			name, _ := n.Fun.(*ast.Ident)
			lit, _ := n.Args[0].(*ast.BasicLit)
			kind, _ := n.Args[0].(*ast.SelectorExpr)
			switch {
			case name != nil && slices.Contains([]string{"invalid", "badInput"}, name.Name) && lit != nil &&
				!strings.Contains(lit.Value, " "):
				add(lit)
			case kind != nil && slices.Contains([]string{"BadInput", "Rejected"}, kind.Sel.Name):
				add(n.Args[1])
			}
		case *ast.ValueSpec:
			if strings.HasPrefix(n.Names[0].Name, "code") && len(n.Values) == 1 {
				add(n.Values[0])
			}
		}
		return true
	})
	return codes
}
