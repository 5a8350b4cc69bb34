package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// figure is something that is counted. Less is better.
type figure struct {
	name string
	// bound is what it may be at most today, and aim what it shall be.
	bound, aim int
	count      func(*sources) int
}

var figures = []figure{
	{"lines of pkg outside tests and test support", 188720, 100_000, (*sources).lines},
	{"lines of test support in pkg", 3, 0, (*sources).support},
	{"packages of pkg", 171, 150, (*sources).packages},
	{"programs in functions", 7, 7, (*sources).programs},
	{"methods of the largest type of pkg, with those of embedded types", 116, 60, (*sources).methods},
	// The contract has 65 members of a content item, which are flat.
	{"members of the largest struct of pkg/area, with those of embedded types", 67, 65, (*sources).members},
	{"members of the record of a content item, with those of embedded types", 27, 27, (*sources).record},
	{"types of pkg with a method Step", 12, 12, (*sources).steps},
	{"lines of functions of pkg that take steps of tasks", 4160, 3_800, (*sources).handlers},
	{"structs of pkg/area/content with a member Caption", 3, 3, (*sources).captions},
	{"uses between files of pkg/area/content/item that go round", 2, 0, (*sources).knots},
	{"places that make a generate.Worker", 1, 1, (*sources).workers},
	{"lines of pkg/area/webhook", 4700, 4_600, (*sources).webhook},
	{"lines of pkg/httpapi/input", 500, 500, (*sources).input},
	{"lines of more than 120 columns, struct tags included", 0, 0, (*sources).wide},
	{"comments of at most six words", 1985, 0, (*sources).brief},
	{"words of docs", 32_000, 32_000, func(s *sources) int { return s.words("docs/*.md") }},
	{"words of the README", 950, 950, func(s *sources) int { return s.words("README.md") }},
}

// printFigures counts what makes this repository easy or hard to read, and prints each figure with its bound and its
// aim. A test holds the bounds; a change that makes a figure better lowers its bound.
func printFigures() error {
	s, err := read(".")
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "today\tbound\taim\t \t")
	for _, f := range figures {
		fmt.Fprintf(table, "%d\t%d\t%d\t %s\t\n", f.count(s), f.bound, f.aim, f.name)
	}
	return table.Flush()
}

// file is a file of Go outside of tests.
type file struct {
	path string
	text string
	tree *ast.File
}

// tokens are the places in all files.
var tokens = token.NewFileSet()

// folder is the path of the folder of a file.
func (f file) folder() string { return filepath.ToSlash(filepath.Dir(f.path)) }

// supports reports whether a file of pkg is there for tests and measurements alone.
func (f file) supports() bool {
	return strings.Contains(f.folder(), "test/") || strings.HasSuffix(f.folder(), "test") ||
		strings.HasPrefix(f.path, "pkg/house/")
}

// sources are the files of this repository.
type sources struct {
	root string
	all  []file
}

// words counts the words of the pages that match a pattern.
func (s *sources) words(pattern string) (n int) {
	pages, err := filepath.Glob(filepath.Join(s.root, pattern))
	if err != nil {
		panic(err) // the patterns are those of this file
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			panic(err) // it was listed just now
		}
		n += len(strings.Fields(string(text)))
	}
	return n
}

// read reads the files of Go below a folder, without tests.
func read(root string) (*sources, error) {
	s := &sources{root: root}
	for _, room := range []string{"pkg", "functions", "infra"} {
		err := filepath.WalkDir(filepath.Join(root, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			tree, err := parser.ParseFile(tokens, path, text, parser.ParseComments)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			s.all = append(s.all, file{filepath.ToSlash(name), string(text), tree})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// in returns the files below a folder.
func (s *sources) in(folder string) (found []file) {
	for _, f := range s.all {
		if strings.HasPrefix(f.path, folder+"/") {
			found = append(found, f)
		}
	}
	return found
}

func length(files []file) (n int) {
	for _, f := range files {
		n += strings.Count(f.text, "\n")
	}
	return n
}

func (s *sources) lines() int { return length(s.in("pkg")) - s.support() }

func (s *sources) support() (n int) {
	for _, f := range s.in("pkg") {
		if f.supports() {
			n += length([]file{f})
		}
	}
	return n
}

func (s *sources) webhook() (n int) {
	for _, f := range s.in("pkg/area/webhook") {
		if !f.supports() {
			n += length([]file{f})
		}
	}
	return n
}

func (s *sources) input() int { return length(s.in("pkg/httpapi/input")) }

func (s *sources) packages() int {
	folders := map[string]bool{}
	for _, f := range s.in("pkg") {
		folders[f.folder()] = true
	}
	return len(folders)
}

func (s *sources) programs() (n int) {
	for _, f := range s.in("functions") {
		if filepath.Base(f.path) == "main.go" {
			n++
		}
	}
	return n
}

// typeName returns the name of a type that is declared in this repository, with the folder of its package. It is empty
// for other types.
func typeName(f file, t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return typeName(f, t.X)
	case *ast.IndexExpr:
		return typeName(f, t.X)
	case *ast.IndexListExpr:
		return typeName(f, t.X)
	case *ast.Ident:
		return f.folder() + "." + t.Name
	case *ast.SelectorExpr:
		of, _ := t.X.(*ast.Ident)
		for _, i := range f.tree.Imports {
			folder, here := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
			if here && of != nil && (i.Name != nil && i.Name.Name == of.Name || path.Base(folder) == of.Name) {
				return folder + "." + t.Sel.Name
			}
		}
	}
	return ""
}

// module is the path before that of each package.
const module = "github.com/content-automation/api/"

// declared is a type with the file of its declaration.
type declared struct {
	file file
	as   ast.Expr
}

// types returns the types of pkg by their names, and the names of their own methods.
func (s *sources) types() (all map[string]declared, methods map[string][]string) {
	all, methods = map[string]declared{}, map[string][]string{}
	for _, f := range s.in("pkg") {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				all[typeName(f, n.Name)] = declared{f, n.Type}
			case *ast.FuncDecl:
				if n.Recv != nil {
					of := typeName(f, n.Recv.List[0].Type)
					methods[of] = append(methods[of], n.Name.Name)
				}
				return false
			}
			return true
		})
	}
	return all, methods
}

// methods counts those of embedded types, too: they can be called on the type.
func (s *sources) methods() (most int) {
	all, own := s.types()
	var add func(name string, found map[string]bool)
	add = func(name string, found map[string]bool) {
		for _, m := range own[name] {
			found[m] = true
		}
		var parts *ast.FieldList
		switch t := all[name].as.(type) {
		case *ast.StructType:
			parts = t.Fields
		case *ast.InterfaceType:
			parts = t.Methods
		default:
			return
		}
		for _, m := range parts.List {
			if _, method := m.Type.(*ast.FuncType); method && len(m.Names) > 0 {
				found[m.Names[0].Name] = true
			} else if len(m.Names) == 0 {
				add(typeName(all[name].file, m.Type), found)
			}
		}
	}
	for name := range all {
		found := map[string]bool{}
		add(name, found)
		most = max(most, len(found))
	}
	return most
}

// width returns the number of members of a struct, with those of embedded structs in place of the structs.
func width(all map[string]declared, f file, t *ast.StructType) (n int) {
	for _, m := range t.Fields.List {
		of := all[typeName(f, m.Type)]
		if embedded, ok := of.as.(*ast.StructType); ok && len(m.Names) == 0 {
			n += width(all, of.file, embedded)
		} else {
			n += max(1, len(m.Names))
		}
	}
	return n
}

func (s *sources) record() int {
	all, _ := s.types()
	r := all["pkg/area/content/item.Record"]
	return width(all, r.file, r.as.(*ast.StructType))
}

func (s *sources) members() (most int) {
	all, _ := s.types()
	for _, f := range s.in("pkg/area") {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if t, ok := n.(*ast.StructType); ok {
				most = max(most, width(all, f, t))
			}
			return true
		})
	}
	return most
}

func (s *sources) steps() (n int) {
	_, methods := s.types()
	for _, names := range methods {
		if slices.Contains(names, "Step") {
			n++
		}
	}
	return n
}

// handlers counts the lines of the functions of which a step of a task is a parameter, and of the methods of types with
// a method Step.
func (s *sources) handlers() (n int) {
	_, methods := s.types()
	for _, f := range s.in("pkg") {
		if f.folder() == "pkg/task" || f.supports() {
			continue
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			takes := fn.Recv != nil && slices.Contains(methods[typeName(f, fn.Recv.List[0].Type)], "Step")
			for _, p := range fn.Type.Params.List {
				of := typeName(f, p.Type)
				takes = takes || of == "pkg/task.Step" || of == "pkg/task.Run"
			}
			if takes {
				n += tokens.Position(fn.End()).Line - tokens.Position(fn.Pos()).Line + 1
			}
		}
	}
	return n
}

// structs calls do for each struct type below a folder.
func (s *sources) structs(folder string, do func(*ast.StructType)) {
	for _, f := range s.in(folder) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if t, ok := n.(*ast.StructType); ok {
				do(t)
			}
			return true
		})
	}
}

// knots returns the number of pairs of files of which the first uses the second, and the second the first, perhaps by
// way of others.
func (s *sources) knots() (n int) {
	uses := map[string]map[string]bool{}
	var trees []*ast.File
	for _, f := range s.in("pkg/area/content/item") {
		trees, uses[filepath.Base(f.path)] = append(trees, f.tree), map[string]bool{}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// What is imported is not read, and its errors do not matter.
	conf := types.Config{Importer: none{}, Error: func(error) {}}
	pkg, _ := conf.Check("item", tokens, trees, info)
	name := func(p token.Pos) string { return filepath.Base(tokens.Position(p).Filename) }
	for at, used := range info.Uses {
		method, ok := used.(*types.Func)
		ok = ok && method.Signature().Recv() != nil
		if used.Pkg() == pkg && (ok || used.Parent() == pkg.Scope()) {
			uses[name(at.Pos())][name(used.Pos())] = true
		}
	}
	var reaches func(from, to string, seen map[string]bool) bool
	reaches = func(from, to string, seen map[string]bool) bool {
		for next := range uses[from] {
			if seen[next] {
				continue
			}
			if seen[next] = true; next == to || reaches(next, to, seen) {
				return true
			}
		}
		return false
	}
	for from, all := range uses {
		for to := range all {
			if from != to && reaches(to, from, map[string]bool{}) {
				n++
			}
		}
	}
	return n
}

// none imports nothing.
type none struct{}

func (none) Import(string) (*types.Package, error) { return nil, errors.New("nothing is imported") }

func (s *sources) captions() (n int) {
	s.structs("pkg/area/content", func(t *ast.StructType) {
		for _, m := range t.Fields.List {
			for _, name := range m.Names {
				if name.Name == "Caption" {
					n++
				}
			}
		}
	})
	return n
}

func (s *sources) workers() (n int) {
	for _, f := range s.all {
		if !f.supports() && f.folder() != "infra/verify/suite" {
			n += strings.Count(f.text, "generate.Worker{")
		}
	}
	return n
}

func (s *sources) wide() (n int) {
	for _, f := range s.in("pkg") {
		for line := range strings.SplitSeq(strings.ReplaceAll(f.text, "\t", "    "), "\n") {
			if len([]rune(line)) > 120 {
				n++
			}
		}
	}
	return n
}

// directive is a comment for a tool.
var directive = regexp.MustCompile(`^//(go:|nolint|lint:|[a-z]+:)`)

// brief leaves out the comments of fields with tags: callers read them as descriptions of members.
func (s *sources) brief() (n int) {
	for _, f := range s.in("pkg") {
		shown := map[*ast.CommentGroup]bool{}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				shown[field.Doc] = true
			}
			return true
		})
		for _, c := range f.tree.Comments {
			if !shown[c] && len(c.List) == 1 && !directive.MatchString(c.List[0].Text) &&
				len(strings.Fields(c.Text())) <= 6 {
				n++
			}
		}
	}
	return n
}
