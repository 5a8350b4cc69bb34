package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// comments returns the first paragraphs of the comments of all types below a folder and of the fields of structs,
// without the period at the end, by names such as "pkg/media.File" and "pkg/media.File.URL".
func comments(root string) (map[string]string, error) {
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GenDecl:
				if t, ok := n.Specs[0].(*ast.TypeSpec); ok && len(n.Specs) == 1 {
					note(texts, folder+"."+t.Name.Name, n.Doc)
				}
			case *ast.TypeSpec:
				note(texts, folder+"."+n.Name.Name, n.Doc)
				if s, ok := n.Type.(*ast.StructType); ok {
					ofStruct(texts, folder+"."+n.Name.Name, s)
				}
			}
			return true
		})
		return nil
	})
	return texts, err
}

func ofStruct(texts map[string]string, name string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			note(texts, name+"."+n.Name, f.Doc)
		}
	}
}

// note keeps the first paragraph of a comment, if there is one.
func note(texts map[string]string, name string, comment *ast.CommentGroup) {
	first, _, _ := strings.Cut(comment.Text(), "\n\n")
	if text := strings.TrimSuffix(strings.Join(strings.Fields(first), " "), "."); text != "" {
		texts[name] = text
	}
}
