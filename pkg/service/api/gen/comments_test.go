package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestTheDescriptionIsTheFirstParagraphOfAComment(t *testing.T) {
	dir := t.TempDir()
	source := `package p

type T struct {
	// The width of the picture,
	// in pixels.
	//
	// It is zero before the file was read.
	Width, Height int
	Depth int // not described
}
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := comments(dir)
	name := filepath.ToSlash(dir) + ".T."
	want := map[string]string{name + "Width": "The width of the picture, in pixels",
		name + "Height": "The width of the picture, in pixels"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("the comments are %v, %v", got, err)
	}
}
