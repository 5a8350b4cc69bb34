//go:build long

package text

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Every emoji of the font looks as Skia draws it (infra/tools/emoji/judge.py): they differ by at most 20 levels.
// SHEETS is a folder for the sheets of both.
func TestEmojiLookAsSkiaDrawsThem(t *testing.T) {
	f := fonts(t)
	emoji, glyphs := known(t, f)
	dir := cmp.Or(os.Getenv("SHEETS"), t.TempDir())
	python := filepath.Join("..", "..", "..", "..", ".tools", "emoji-python", "bin", "python")
	over, worst, table := map[int]int{}, []string{}, ""
	for begin := 0; begin < len(emoji); begin += perSheet {
		end := min(begin+perSheet, len(emoji))
		var list []byte
		for n, glyph := range glyphs[begin:end] {
			x, y := origin(n)
			list = fmt.Appendf(list, "%d %f %f\n", glyph, x, y)
		}
		file, out := filepath.Join(dir, fmt.Sprintf("%d.txt", begin)), filepath.Join(dir, fmt.Sprintf("%d.rgb", begin))
		if err := os.WriteFile(file, list, 0o600); err != nil {
			t.Fatal(err)
		}
		judge := exec.Command(python, filepath.Join("..", "..", "..", "..", "infra", "tools", "emoji", "judge.py"),
			filepath.Join(media, "fonts", "NotoColorEmoji-Regular.ttf"), fmt.Sprint(sheetSize), fmt.Sprint(cellEm),
			fmt.Sprint(sheetGray), file, out)
		if said, err := judge.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s (.local/bin/local tools emoji installs Skia)", err, said)
		}
		theirs, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		ours := drawSheet(t, f, emoji[begin:end])
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.ours", begin)), ours, 0o600); err != nil {
			t.Fatal(err)
		}
		for n, e := range emoji[begin:end] {
			if slices.Contains(chosen, e) {
				table += e + "\t" + colorsOf(theirs, n) + "\n"
			}
		}
		for n, d := range differences(ours, theirs, end-begin) {
			for _, level := range []int{5, 10, 15, 20, 30} {
				if d > float64(level) {
					over[level]++
				}
			}
			if d > 20 {
				worst = append(worst, fmt.Sprintf("%s %.1f", emoji[begin+n], d))
			}
		}
	}
	if os.Getenv("EMOJI_TABLE") != "" {
		if err := os.WriteFile(filepath.Join("testdata", "skia.tsv"), []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("of %d emoji, so many differ by more than a number of levels: %v", len(emoji), over)
	if len(emoji) < 1900 || len(worst) > 0 {
		t.Errorf("%d of %d emoji differ by more than 20 levels: %v", len(worst), len(emoji),
			worst[:min(len(worst), 60)])
	}
}
