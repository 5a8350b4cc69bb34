package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestScriptsAreShortAndNarrow holds what is written by hand in JavaScript and TypeScript for the n8n node to the
// bounds of Go files.
func TestScriptsAreShortAndNarrow(t *testing.T) {
	seen := 0
	for _, folder := range []string{"clients/n8n", "clients/internal/verify/n8n"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := d.Name()
			if name == "node_modules" || name == "dist" {
				return fs.SkipDir
			}
			if strings.HasSuffix(name, ".gen.ts") || !strings.HasSuffix(name, "ts") && !strings.HasSuffix(name, "js") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			seen++
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if len(lines) > 400 {
				t.Errorf("%s has %d lines, more than 400", path, len(lines))
			}
			for n, line := range lines {
				if utf8.RuneCountInString(line) > width {
					t.Errorf("%s:%d has more than %d columns", path, n+1, width)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Errorf("%d files were read", seen)
	}
}
