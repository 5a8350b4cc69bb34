//go:build long

package text

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// known returns the emoji of the list that the font draws in color, one glyph each.
func known(t *testing.T, f *Fonts) (all []string, glyphs []int) {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("testdata", "emoji.txt"))
	if err != nil {
		t.Fatal(err)
	}
	face, err := f.face(script.Colored)
	if err != nil {
		t.Fatal(err)
	}
	for emoji := range strings.FieldsSeq(string(list)) {
		if glyph, ok := f.glyphOf(face, []rune(emoji)); ok && glyph != 0 {
			all, glyphs = append(all, emoji), append(glyphs, int(glyph))
		}
	}
	return all, glyphs
}

// differences returns the mean difference of two sheets in each cell, in levels, of the pixels that either has drawn.
func differences(ours, theirs []byte, cells int) []float64 {
	all := make([]float64, cells)
	for n := range all {
		x, y := origin(n)
		sum, drawn := 0.0, 0
		for row := int(y) - 98; row < int(y)-98+cell; row++ {
			at := (row*sheetSize + int(x) - 6) * 3
			for i := at; i < at+cell*3; i += 3 {
				a, b := ours[i:i+3], theirs[i:i+3]
				if gray(a) && gray(b) {
					continue
				}
				drawn++
				for k := range 3 {
					sum += math.Abs(float64(a[k])-float64(b[k])) / 3
				}
			}
		}
		all[n] = sum / max(float64(drawn), 1)
	}
	return all
}

func gray(p []byte) bool { return p[0] == sheetGray && p[1] == sheetGray && p[2] == sheetGray }
