package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// comments returns the first paragraphs of the comments of all fields of the structs below a folder, without the period
// at the end, by names such as "pkg/media.File.URL".
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
		ast.Inspect(file, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				if s, ok := t.Type.(*ast.StructType); ok {
					ofStruct(texts, filepath.ToSlash(filepath.Dir(path))+"."+t.Name.Name, s)
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
		first, _, _ := strings.Cut(f.Doc.Text(), "\n\n")
		text := strings.TrimSuffix(strings.Join(strings.Fields(first), " "), ".")
		for _, n := range f.Names {
			if text != "" {
				texts[name+"."+n.Name] = text
			}
		}
	}
}
