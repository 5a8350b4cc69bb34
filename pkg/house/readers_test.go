package house

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// parsers are the functions that make something of bytes, by the ends of their packages' import paths.
var parsers = map[string]*regexp.Regexp{
	"encoding/xml": regexp.MustCompile(`^(NewDecoder|Unmarshal)$`), "encoding/csv": regexp.MustCompile(`^NewReader$`),
	"net/html": regexp.MustCompile(`^(NewTokenizer|Parse)`), "archive/zip": regexp.MustCompile(`^(NewReader|Open)`),
	"archive/tar": regexp.MustCompile(`^NewReader$`), "compress/gzip": regexp.MustCompile(`^NewReader$`),
	"compress/zlib": regexp.MustCompile(`^NewReader`), "compress/flate": regexp.MustCompile(`^NewReader`),
	"image": regexp.MustCompile(`^Decode`), "image/png": regexp.MustCompile(`^Decode`),
	"image/jpeg": regexp.MustCompile(`^Decode`), "image/gif": regexp.MustCompile(`^Decode`),
	"image/webp": regexp.MustCompile(`^Decode`), "crypto/x509": regexp.MustCompile(`^Parse`),
	"encoding/pem": regexp.MustCompile(`^Decode$`), "encoding/asn1": regexp.MustCompile(`^Unmarshal`),
	"encoding/gob": regexp.MustCompile(`^NewDecoder$`), "encoding/json": regexp.MustCompile(`^NewDecoder$`),
	"json/jsontext": regexp.MustCompile(`^NewDecoder$`), "mmcdole/gofeed": regexp.MustCompile(`^NewParser$`),
	"go-readability/v2": regexp.MustCompile(`^(From|New|Parse)`), "mp4ff/mp4": regexp.MustCompile(`^Decode`),
}

// own are the files that read no bytes of strangers, or bytes that are bounded elsewhere, with the reason.
var own = map[string]string{
	"pkg/adapter/crm/crm.go":      "texts of answers of CRMs, which pkg/adapter/crm has bounded",
	"pkg/adapter/provider/":       "answers of providers, which pkg/adapter/wire has bounded",
	"pkg/area/advice/proposal.go": "an answer of a model, which pkg/adapter/wire has bounded",
	"pkg/auth/signin/signin.go":   "the keys of the operator's own pool, up to 256 KB",
	"pkg/base/text/html.go":       "texts of feeds and articles, whose readers have bounded them",
	"pkg/cloud/":                  "secrets and keys of the operator",
	"pkg/generate/catalog/":       "files of this program",
	"pkg/generate/composer/":      "files that this program has made, and those that pkg/media/probe has accepted",
	"pkg/httpapi/conditional.go":  "answers of this program",
	"pkg/httpapi/jsontree/":       "bodies up to 256 KB: pkg/service/api TestB9BodiesOfTheLargestSize",
	"pkg/media/compose/text/":     "a file of this program",
	"pkg/record/event/event.go":   "samples of this program",
	"pkg/service/api/":            "the document of this program",
	"pkg/service/docs/":           "the document of this program",
	"pkg/service/worker/":         "settings of the operator",
	"pkg/store/":                  "items of the table, which this program has written",
}

// Whatever reads the bytes of strangers has a budget, and the table of them in testdata/threats.md is that of the code.
func TestReadersOfForeignBytesHaveABudget(t *testing.T) {
	const budgets = module + "/pkg/base/budget"
	readers, names := 0, map[string]string{}
	for _, p := range packages(t) {
		if !p.under("pkg") || p.under("pkg/base/budget") {
			continue
		}
		bounded := slices.Contains(p.Imports, budgets)
		for _, f := range files(t, p) {
			if f.test {
				continue
			}
			for _, call := range parses(f.tree) {
				readers++
				exempt := false
				for place := range own {
					exempt = exempt || strings.HasPrefix(f.path, place)
				}
				if !bounded && !exempt {
					t.Errorf("%s calls %s and has no budget: take one of pkg/base/budget", f.path, call)
				}
			}
			for _, name := range named(f.tree) {
				names[name] = f.path
			}
		}
	}
	if readers < 20 || len(names) < 10 {
		t.Errorf("found %d readers and %d budgets", readers, len(names))
	}
	_, table, _ := strings.Cut(document(t, "pkg/house/testdata/threats.md"), "\n## Budgets\n")
	table, _, _ = strings.Cut(table, "\n## ")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+?) \|`).FindAllStringSubmatch(table, -1) {
		listed[row[1]] = true
	}
	for name, path := range names {
		if !listed[name] {
			t.Errorf("pkg/house/testdata/threats.md has no row for the budget %q of %s", name, path)
		}
	}
}

// parses returns the calls and values of a file that are parsers.
func parses(tree *ast.File) (all []string) {
	of := map[string]*regexp.Regexp{}
	for _, spec := range tree.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen it
		for end, names := range parsers {
			if path == end || strings.HasSuffix(path, "/"+end) {
				name := path[strings.LastIndex(path, "/")+1:]
				if name == "v2" {
					name = "readability"
				}
				if spec.Name != nil {
					name = spec.Name.Name
				}
				of[name] = names
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && of[x.Name] != nil && of[x.Name].MatchString(s.Sel.Name) {
				all = append(all, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return all
}

// named returns the names of the budgets of a file.
func named(tree *ast.File) (all []string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		c, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if s, ok := c.Type.(*ast.SelectorExpr); !ok || s.Sel.Name != "Budget" {
			return true
		}
		for _, e := range c.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Name" {
					if text, ok := kv.Value.(*ast.BasicLit); ok {
						name, _ := strconv.Unquote(text.Value) // the parser has seen it
						all = append(all, name)
					}
				}
			}
		}
		return true
	})
	return all
}
