package text

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// Texts are as wide as HarfBuzz sets them, with kerning, ligatures and marks. infra/tools/emoji/widths.py writes the
// table; WIDTHS is another one.
func TestTextsAreAsWideAsHarfBuzzSetsThem(t *testing.T) {
	f := fonts(t)
	table, err := os.ReadFile(cmp.Or(os.Getenv("WIDTHS"), filepath.Join("testdata", "widths.tsv")))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(table)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		face, err := f.face(script.Family(slices.Index(script.Files[:], row[0])))
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.width(face, []rune(row[1])); max(got-want, want-got) > 0.002 {
			t.Errorf("%s: %q is %.4f ems wide, and HarfBuzz sets %.4f", row[0], row[1], got, want)
		}
		n++
	}
	if n < 300 {
		t.Errorf("the table has %d rows", n)
	}
}
