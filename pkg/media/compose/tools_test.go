package compose

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The notice names exactly the deployed tools, and each font has its licence beside it.
func TestTheNoticeNamesWhatIsInstalled(t *testing.T) {
	b := newBench(t)
	notice, err := os.ReadFile(filepath.Join("..", "..", "..", "NOTICE"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`ffmpeg version ([\d.]+)`).FindStringSubmatch(b.ffmpeg("-version"))
	if version == nil || !strings.Contains(string(notice), "ffmpeg "+version[1]+"\n") {
		t.Errorf("the notice does not name ffmpeg %v", version)
	}
	if !strings.Contains(b.ffmpeg("-version"), "--enable-version3") ||
		!strings.Contains(string(notice), "GNU General Public License, version 3") {
		t.Error("the notice does not name the licence of the build")
	}
	fonts, err := filepath.Glob(filepath.Join(tools, "fonts", "*.ttf"))
	if err != nil || len(fonts) < 9 {
		t.Fatalf("the fonts are %v, %v", fonts, err)
	}
	for _, font := range fonts {
		family, _, _ := strings.Cut(filepath.Base(font), "-")
		licence, err := os.ReadFile(filepath.Join(filepath.Dir(font), family+".OFL.txt"))
		if err != nil || !strings.Contains(strings.ToUpper(string(licence)), "SIL OPEN FONT LICENSE VERSION 1.1") {
			t.Errorf("%s has no licence beside it: %v", font, err)
		}
	}
}
