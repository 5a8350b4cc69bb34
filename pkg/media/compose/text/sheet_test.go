package text

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/script"
)

// The sheets on which emoji are drawn: squares with cells, on a gray through which translucent layers are seen.
const (
	sheetSize = 2048
	cell      = 128
	cellEm    = 96
	perSheet  = (sheetSize / cell) * (sheetSize / cell)
	sheetGray = 208
)

var media = filepath.Join("..", "..", "..", "..", ".tools", "media")

// origin returns the origin of the n-th emoji of a sheet.
func origin(n int) (x, y float64) {
	row := sheetSize / cell
	return float64(n%row*cell + 6), float64(n/row*cell + 98)
}

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

// drawSheet draws emoji as finished media have them: by the shapes of libass.
func drawSheet(t *testing.T, f *Fonts, emoji []string) []byte {
	t.Helper()
	s := NewScript(sheetSize, sheetSize)
	latin, err := f.face(script.Latin)
	if err != nil {
		t.Fatal(err)
	}
	s.needs(latin)
	for n, e := range emoji {
		a, err := f.artOf([]rune(e))
		if err != nil {
			t.Fatal(err)
		}
		x, y := origin(n)
		for _, shape := range a {
			s.shape(shape, x, y, cellEm, Always)
		}
	}
	return render(t, s, sheetSize, sheetSize)
}

// render returns the pixels of a script on gray.
func render(t *testing.T, s *Script, width, height int) []byte {
	t.Helper()
	pixels, _ := rendered(t, s, width, height)
	return pixels
}

// rendered returns the pixels of a script on gray, and what libass says of it.
func rendered(t *testing.T, s *Script, width, height int) (pixels []byte, said string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.ass")
	if err := os.WriteFile(file, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, font := range s.Fonts() {
		path, err := filepath.Abs(font)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, filepath.Base(font)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(media, "ffmpeg"), "-v", "verbose", "-f", "lavfi", "-i",
		fmt.Sprintf("color=c=0x%02X%02X%02X:s=%dx%d:r=1,format=rgb24,subtitles=%s:fontsdir=%s", sheetGray, sheetGray,
			sheetGray, width, height, file, dir), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pixels, err := cmd.Output()
	if err != nil || len(pixels) != width*height*3 {
		t.Fatalf("%d bytes, %v: %s", len(pixels), err, stderr.String())
	}
	return pixels, stderr.String()
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
