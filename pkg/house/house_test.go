package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const module = "github.com/content-automation/api"

// listed is a package as listed by `go list`.
type listed struct {
	ImportPath, Dir, Name                              string
	GoFiles, TestGoFiles, XTestGoFiles, IgnoredGoFiles []string
	Imports, TestImports, XTestImports, Deps           []string
}

// short is the import path within the module.
func (p listed) short() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// under reports whether the package lies in one of the folders.
func (p listed) under(folders ...string) bool {
	return slices.ContainsFunc(folders,
		func(f string) bool { return p.short() == f || strings.HasPrefix(p.short(), f+"/") })
}

// packages lists the packages of the module.
func packages(t *testing.T) []listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var list = sync.OnceValues(func() ([]listed, error) {
	cmd := exec.Command("go", "list",
		"-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
})

// file is a file of Go code.
type file struct {
	path string // within the module
	test bool
	tree *ast.File
	set  *token.FileSet
}

func (f file) generated() bool { return ast.IsGenerated(f.tree) }

// lines counts the lines of the file.
func (f file) lines() int { return f.set.File(f.tree.FileStart).LineCount() }

// parsed has the files that a test has parsed, by their paths.
var parsed = map[string]file{}

// files parses the files of the packages, each once for all tests.
func files(t *testing.T, of ...listed) []file {
	t.Helper()
	var all []file
	for _, p := range of {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles, p.IgnoredGoFiles) {
			path := filepath.Join(p.short(), name)
			f, ok := parsed[path]
			if !ok {
				f = file{path: path, test: strings.HasSuffix(name, "_test.go"), set: token.NewFileSet()}
				var err error
				if f.tree, err = parser.ParseFile(f.set, filepath.Join(p.Dir, name), nil,
					parser.ParseComments|parser.SkipObjectResolution); err != nil {
					t.Fatal(err)
				}
				parsed[path] = f
			}
			all = append(all, f)
		}
	}
	return all
}

func TestTheRulesSeeTheWholeModule(t *testing.T) {
	var paths []string
	for _, p := range packages(t) {
		paths = append(paths, p.short())
	}
	for _, want := range []string{"pkg/house", "pkg/store", "infra/verify/harness/storetest", "functions/api", "infra",
		"infra/operate/admin", "clients"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not among the packages %v", want, paths)
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	for _, p := range packages(t) {
		explained := slices.ContainsFunc(files(t, p), func(f file) bool { return f.tree.Doc.Text() != "" })
		if !explained {
			t.Errorf("%s has no doc comment", p.short())
		}
	}
}

// longestFunction is the number of lines that a function may have. A file is as long as its noun needs.
const longestFunction = 80

// longer are the functions outside pkg that are longer still, with the lines that each may have at most.
var longer = map[string]int{
	"infra/app/stack/data.go newMediaBucket":          91,
	"infra/app/stack/lambda.go environment":           99,
	"infra/app/stack/lambda.go permissions":           112,
	"infra/local/system/system.go bringUp":            90,
	"infra/measure/metered/examples.go Examples":      400,
	"infra/measure/metered/world.go fill":             130,
	"infra/operate/admin/people.go connectionCommand": 112,
	"infra/operate/halt/function.go function":         95,
	"infra/verify/simulate/check.go check":            142,
}

func TestFunctionsStayShort(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		if n := f.lines(); strings.HasPrefix(f.path, "functions/") && filepath.Base(f.path) == "main.go" && n > 60 {
			t.Errorf("%s has %d lines, more than 60: what it does belongs into pkg", f.path, n)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test || f.generated() {
				continue
			}
			n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1
			if n > max(longestFunction, longer[f.path+" "+fn.Name.Name]) {
				t.Errorf("%s of %s has %d lines, more than %d", fn.Name.Name, f.path, n, longestFunction)
			}
		}
	}
}

func TestAFunctionIsOneFile(t *testing.T) {
	for _, p := range packages(t) {
		if p.under("functions") && (p.Name != "main" || !slices.Equal(p.GoFiles, []string{"main.go"})) {
			t.Errorf("%s is package %s of %v", p.short(), p.Name, p.GoFiles)
		}
	}
}

// Some packages may be imported by the named ones only.
func TestImports(t *testing.T) {
	const (
		sdk    = "github.com/aws/aws-sdk-go-v2/service/"
		broken = "it is weak: use AES-GCM and SHA-256"
	)
	for _, rule := range []struct {
		imports, why string
		allowed      []string
		tests        bool // whether tests must keep to it, too
	}{
		{sdk + "dynamodb", "pkg/store is the only place that knows the shape of the tables",
			[]string{"pkg/store", "infra"}, true},
		{"github.com/aws/aws-sdk-go-v2/feature/dynamodb", "conditions are for the rules of credits, credentials, " +
			"counts of calls and work, and places of calls alone", []string{"pkg/store", "pkg/record/ledger", "pkg/auth/credential",
			"pkg/area/account", "pkg/task", "pkg/record/pace"}, true},
		{sdk + "s3", "pkg/media/objects is the only place that stores files",
			[]string{"pkg/media/objects", "infra"}, false},
		{"log", "log/slog is the log", []string{"infra/measure/baseline"}, false},
		{"github.com/aws/aws-sdk-go-v2/config", "a function's configuration is that of its environment: " +
			"pkg/cloud/awsenv", []string{"infra"}, false},
		{"crypto/md5", broken, nil, false},
		{"crypto/sha1", broken, nil, false},
		{"crypto/des", broken, nil, false},
		{"crypto/rc4", broken, nil, false},
		{"golang.org/x/crypto", "cryptography is that of the standard library", nil, false},
		{"unsafe", "Go keeps its memory safe without it, but for the library of C2PA, which has its texts and buffers in C",
			[]string{"pkg/media/provenance/c2pa"}, true},
		{"github.com/ebitengine/purego", "an executable that links it needs the C library of the system",
			[]string{"pkg/media/provenance/c2pa"}, false},
		{"os/exec", "a process may be told to read files or call addresses", []string{"pkg/media/compose/ffmpeg",
			"clients/cli", "infra"}, false},
		{"github.com/aws/jsii-runtime-go", "the CDK app alone needs it", []string{"infra"}, false},
		{"testing", "functions link no tests", []string{"infra/verify/harness", "infra/verify/simulate"}, false},
	} {
		for _, p := range packages(t) {
			imports := p.Imports
			if rule.tests {
				imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			}
			for _, path := range imports {
				if (path == rule.imports || strings.HasPrefix(path, rule.imports+"/") && rule.imports != "log") &&
					!p.under(rule.allowed...) {
					t.Errorf("%s imports %s: %s", p.short(), path, rule.why)
				}
			}
		}
	}
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			if inner, ok := strings.CutPrefix(path, module+"/"); ok && p.under("pkg") &&
				!strings.HasPrefix(inner, "pkg/") && !strings.HasPrefix(inner, "clients") {
				t.Errorf("%s imports %s: pkg knows nothing of what is built from it", p.short(), inner)
			}
		}
	}
}

// framework is the HTTP framework, which only the areas' operations need.
var framework = []string{"github.com/danielgtaylor/huma/v2", module + "/pkg/httpapi"}

// The authorizer runs before each call, and pays for each linked package, and for each pattern that is compiled before
// main, at every start.
func TestTheAuthorizerLinksLittle(t *testing.T) {
	all := map[string]listed{}
	for _, p := range packages(t) {
		all[p.ImportPath] = p
	}
	heavy := []string{"testing", "image", "time/tzdata", "github.com/danielgtaylor/huma/v2",
		"github.com/aws/aws-sdk-go-v2/config"}
	for _, dep := range all[module+"/functions/authorizer"].Deps {
		p, own := all[dep]
		if own && !p.under("functions/authorizer", "pkg/auth", "pkg/base", "pkg/cloud", "pkg/store") ||
			slices.Contains(heavy, dep) ||
			strings.HasPrefix(dep, "github.com/aws/aws-sdk-go-v2/service/") && !strings.Contains(dep, "dynamodb") &&
				!strings.Contains(dep, "/service/internal/") {
			t.Errorf("functions/authorizer links %s", dep)
		}
		for _, f := range files(t, p) {
			for _, d := range f.tree.Decls {
				if d, ok := d.(*ast.GenDecl); !ok || f.test || d.Tok != token.VAR {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
						t.Errorf("%s compiles a pattern before main: use sync.OnceValue", f.set.Position(n.Pos()))
					}
					_, later := n.(*ast.FuncLit)
					return !later
				})
			}
		}
	}
}

// Packages below the areas serve no HTTP. The catalog's operations and the double of the worker lie below shared
// packages.
func TestSharedPackagesLinkNoHTTPFramework(t *testing.T) {
	shared := []string{
		"pkg/record/event", "pkg/record/ledger", "pkg/task/queue", "pkg/record/resource", "pkg/store", "pkg/task",
		"pkg/generate/catalog", "pkg/generate", "pkg/media", "pkg/adapter/provider", "pkg/record/apikey",
	}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		i := slices.IndexFunc(shared, func(folder string) bool { return p.under(folder) })
		if i < 0 || p.under("pkg/area/catalog") {
			continue
		}
		seen[shared[i]] = true
		for _, dep := range p.Deps {
			if slices.Contains(framework, dep) {
				t.Errorf("%s links %s", p.short(), dep)
			}
		}
	}
	for _, folder := range shared {
		if !seen[folder] {
			t.Errorf("there is no %s", folder)
		}
	}
}

func TestNobodySleeps(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Sleep" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s: time.Sleep: wait for what is to happen, with a deadline", f.set.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

var unfinished = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"},
	"|") + `)\b`)

func TestNothingIsLeftForLater(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		for _, group := range f.tree.Comments {
			if m := unfinished.FindString(group.Text()); m != "" {
				t.Errorf("%s: %s", f.set.Position(group.Pos()), m)
			}
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && f.test {
				if s, ok := call.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "SkipNow" || s.Sel.Name == "Skipf" ||
					s.Sel.Name == "Skip") {
					if x, ok := s.X.(*ast.Ident); ok && (x.Name == "t" || x.Name == "b") {
						t.Errorf("%s skips a test", f.set.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
}

func TestWhatIsExportedIsExplained(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		if f.test || f.tree.Name.Name == "main" {
			continue
		}
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) && d.Doc.Text() == "" {
					t.Errorf("%s: %s has no doc comment", f.set.Position(d.Pos()), d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if name := exported(s); name != "" && d.Doc.Text() == "" && explained(s) == "" {
						t.Errorf("%s: %s has no doc comment", f.set.Position(s.Pos()), name)
					}
				}
			}
		}
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// exported is the first exported name of a specification, if it has one.
func exported(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() {
				return n.Name
			}
		}
	}
	return ""
}

// explained returns the comment before or behind a specification.
func explained(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Doc.Text() + s.Comment.Text()
	case *ast.ValueSpec:
		return s.Doc.Text() + s.Comment.Text()
	default:
		return strconv.Quote("imports need no comment")
	}
}

// width is the widest line of code, in columns of which a tab takes four. A struct tag, and
// the text of a literal that cannot be broken, may be longer.
const width = 120

// TestMembersAreDescribedByComments wants the description of a member in the comment of its field, which the generator
// of the document reads: struct tags cannot be wrapped.
func TestMembersAreDescribedByComments(t *testing.T) {
	for _, f := range files(t, packages(t)...) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil && strings.Contains(field.Tag.Value, `doc:"`) {
				t.Errorf("%s: the tag doc belongs into a comment", f.set.Position(field.Pos()))
			}
			return true
		})
	}
}

func TestLinesAreNarrow(t *testing.T) {
	literal := regexp.MustCompile("`[^`]*`?|\"(?:[^\"\\\\]|\\\\.)*\"")
	for _, f := range files(t, packages(t)...) {
		if f.generated() {
			continue
		}
		source, err := os.ReadFile(filepath.Join("..", "..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		raw := map[int]bool{} // the lines of literals that have several
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok {
				for at, end := f.set.Position(l.Pos()).Line, f.set.Position(l.End()).Line; at < end; end-- {
					raw[at], raw[end] = true, true
				}
			}
			return true
		})
		for n, line := range strings.Split(string(source), "\n") {
			if raw[n+1] {
				continue
			}
			if line = strings.ReplaceAll(line, "\t", "    "); utf8.RuneCountInString(line) <= width {
				continue
			}
			if short := literal.ReplaceAllString(line, `""`); utf8.RuneCountInString(short) > width || short == line {
				t.Errorf("%s:%d has more than %d columns", f.path, n+1, width)
			}
		}
	}
}
