package text

import (
	"bytes"
	"fmt"
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

// chosen are the emoji of the table of colors: with translucent and scaled layers, gradients, skin tones and flags.
var chosen = strings.Fields("🏳️‍🌈 👩 😰 😨 🌚 💗 👨‍🚀 👩‍🎓 👷‍♀️ 🎅 🧛‍♀️ 🧖‍♀️ 🫂 🪶 🐠 🧊 🌁 🌄 🌇 🌠 ☄️ 🎇 🔮 🪄 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f " +
	"🇩🇪 🇧🇷 🎣 ☕ ❤️ 😀 🔥 ✨ 🪩 🫧 💎 🌊 🥶")

// colorsOf returns the mean colors of the n-th emoji of a sheet, in 16 parts.
func colorsOf(sheet []byte, n int) string {
	const side = cell / 4
	x, y := origin(n)
	var all []string
	for part := range 16 {
		left, top := int(x)-6+part%4*side, int(y)-98+part/4*side
		var sum [3]int
		for row := top; row < top+side; row++ {
			for i := (row*sheetSize + left) * 3; i < (row*sheetSize+left+side)*3; i++ {
				sum[i%3] += int(sheet[i])
			}
		}
		all = append(all, fmt.Sprintf("%d %d %d", sum[0]/side/side, sum[1]/side/side, sum[2]/side/side))
	}
	return strings.Join(all, "\t")
}

// Some emoji have the colors with which Skia draws them, in each part. The long tests compare all, pixel by pixel.
func TestEmojiHaveTheColorsOfSkia(t *testing.T) {
	f := fonts(t)
	table, err := os.ReadFile(filepath.Join("testdata", "skia.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(table)) {
		emoji, colors, _ := strings.Cut(strings.TrimSpace(line), "\t")
		want[emoji] = colors
	}
	if len(want) != len(chosen) {
		t.Errorf("the table has %d emoji, not %d", len(want), len(chosen))
	}
	sheet := drawSheet(t, f, chosen)
	for n, e := range chosen {
		ours, theirs := strings.Fields(colorsOf(sheet, n)), strings.Fields(want[e])
		for i := range ours {
			a, b := 0, 0
			if _, err := fmt.Sscan(ours[i], &a); err != nil || len(theirs) != len(ours) {
				t.Fatalf("%s: %q, %v", e, theirs, err)
			}
			if _, err := fmt.Sscan(theirs[i], &b); err != nil || a-b > 20 || b-a > 20 {
				t.Errorf("%s: part %d is %v, not %v", e, i/3, ours[i/3*3:i/3*3+3], theirs[i/3*3:i/3*3+3])
				break
			}
		}
	}
}
