package sample

import (
	"bytes"
	"io/fs"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/probe"
)

func TestAFileHasTheLengthThatIsAskedFor(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 2500 * time.Millisecond, 10 * time.Second, 40 * time.Second} {
		for _, kind := range []string{Video, Music, Voice} {
			name, content, err := Lasting(kind, "", 1, length)
			if err != nil {
				t.Fatalf("%s of %s: %v", kind, length, err)
			}
			info, failed := probe.Bytes(content)
			if failed != nil || (info.Duration-length).Abs() > 60*time.Millisecond {
				t.Errorf("%s of %s: %+v, %v", name, length, info, failed)
			}
		}
	}
	_, one, _ := Lasting(Video, "16:9", 1, time.Second)
	if _, other, _ := Lasting(Video, "16:9", 2, time.Second); bytes.Equal(one, other) {
		t.Error("two clips are the same")
	}
}

func TestThereIsAFileOfEveryShape(t *testing.T) {
	used := map[string]bool{VoiceMP3: true}
	for _, kind := range []string{Image, Video, Avatar, Music, Voice} {
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
	for kind, ratio := range map[string]string{"text": "", Video: "7:1", Image: "../../x"} {
		if name, _, err := File(kind, ratio, 0); err == nil {
			t.Errorf("%s of %q is %s", kind, ratio, name)
		}
	}
}

func TestSlidesOfACarouselDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range uint(len(squares)) {
		seen[Name(Image, "1:1", 1<<32-2+i)] = true
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
