// Command gen writes the table of the characters that the fonts of finished media have: gen FOLDER FILE. Without the
// fonts, it leaves the table as it is.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"

	"github.com/content-automation/api/pkg/media/compose/script"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder, file string) error {
	if _, err := os.Stat(folder); os.IsNotExist(err) {
		fmt.Println("The fonts are not installed, so that their table stays as it is: make media-tools installs them.")
		return nil
	}
	var out []byte
	for _, name := range script.Files {
		var err error
		if out, err = add(out, filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return os.WriteFile(file, out, 0o644)
}

// The names of a font in its table of names.
const (
	nameOf    = 1
	versionOf = 5
)

// add appends the name, the version and the ranges of a font.
func add(out []byte, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	loader, err := opentype.NewLoader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	parsed, err := font.NewFont(loader)
	if err != nil {
		return nil, err
	}
	raw, err := loader.RawTable(opentype.MustNewTag("name"))
	if err != nil {
		return nil, err
	}
	names, _, err := tables.ParseName(raw)
	if err != nil {
		return nil, err
	}
	var chars []rune
	for all := parsed.Cmap.Iter(); all.Next(); {
		if r, glyph := all.Char(); glyph != 0 && r >= ' ' {
			chars = append(chars, r)
		}
	}
	slices.Sort(chars)
	chars = slices.Compact(chars)
	for _, s := range []string{names.Name(nameOf), names.Name(versionOf)} {
		out = append(binary.AppendUvarint(out, uint64(len(s))), s...)
	}
	var spans [][2]rune
	for _, r := range chars {
		if n := len(spans); n > 0 && spans[n-1][1] == r-1 {
			spans[n-1][1] = r
			continue
		}
		spans = append(spans, [2]rune{r, r})
	}
	out = binary.AppendUvarint(out, uint64(len(spans)))
	at := rune(0)
	for _, s := range spans {
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(s[0]-at)), uint64(s[1]-s[0]))
		at = s[1]
	}
	return out, nil
}
