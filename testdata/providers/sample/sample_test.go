package sample

import (
	"io/fs"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestThereIsAFileOfEveryShape(t *testing.T) {
	used := map[string]bool{VoiceMP3: true}
	for _, kind := range provider.Kinds() {
		if kind == provider.KindText {
			continue
		}
		for _, ratio := range append([]string{""}, Ratios(kind)...) {
			for n := range uint(len(squares)) {
				name, content, err := File(kind, ratio, n)
				if err != nil || len(content) == 0 {
					t.Errorf("%s of %q: %d bytes, %v", kind, ratio, len(content), err)
				}
				used[name] = true
			}
		}
	}
	if info, err := fs.Stat(Files, VoiceMP3); err != nil || info.Size() == 0 {
		t.Errorf("%s: %v", VoiceMP3, err)
	}
	entries, err := fs.ReadDir(Files, ".")
	if err != nil || len(entries) != len(used) {
		t.Errorf("%d of %d files are used: %v", len(used), len(entries), err)
	}
}

func TestOfOthersThereIsNone(t *testing.T) {
	for kind, ratio := range map[provider.Kind]string{provider.KindText: "", provider.KindVideo: "7:1",
		provider.KindImage: "../../x"} {
		if name, _, err := File(kind, ratio, 0); err == nil {
			t.Errorf("%s of %q is %s", kind, ratio, name)
		}
	}
}

func TestSlidesOfACarouselDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range uint(len(squares)) {
		seen[Name(provider.KindImage, "1:1", 1<<32-2+i)] = true
	}
	if len(seen) != len(squares) {
		t.Errorf("%d different pictures of %d: %v", len(seen), len(squares), seen)
	}
}

func TestFilesStaySmall(t *testing.T) {
	entries, err := fs.ReadDir(Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 64<<10 {
			t.Errorf("%s has %d bytes", e.Name(), info.Size())
		}
		total += info.Size()
	}
	if total > 600_000 {
		t.Errorf("%d bytes in all: they are part of a function that has to start fast", total)
	}
}
