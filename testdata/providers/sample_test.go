package main_test

import (
	"bytes"
	"io/fs"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/testdata/providers/sample"
)

func TestAFileHasTheLengthThatIsAskedFor(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 2500 * time.Millisecond, 10 * time.Second, 40 * time.Second} {
		for _, kind := range []string{sample.Video, sample.Music, sample.Voice} {
			name, content, err := sample.Lasting(kind, "", 1, length)
			if err != nil {
				t.Fatalf("%s of %s: %v", kind, length, err)
			}
			info, failed := probe.Bytes(content)
			if failed != nil || (info.Duration-length).Abs() > 60*time.Millisecond {
				t.Errorf("%s of %s: %+v, %v", name, length, info, failed)
			}
		}
	}
	_, one, _ := sample.Lasting(sample.Video, "16:9", 1, time.Second)
	if _, other, _ := sample.Lasting(sample.Video, "16:9", 2, time.Second); bytes.Equal(one, other) {
		t.Error("two clips are the same")
	}
}

// pictures is the number of pictures of 1:1.
const pictures = 6

func TestThereIsAFileOfEveryShape(t *testing.T) {
	used := map[string]bool{sample.VoiceMP3: true}
	for _, kind := range []string{sample.Image, sample.Video, sample.Avatar, sample.Music, sample.Voice} {
		for _, ratio := range append([]string{""}, sample.Ratios(kind)...) {
			for n := range uint(pictures) {
				name, content, err := sample.File(kind, ratio, n)
				if err != nil || len(content) == 0 {
					t.Errorf("%s of %q: %d bytes, %v", kind, ratio, len(content), err)
				}
				used[name] = true
			}
		}
	}
	if info, err := fs.Stat(sample.Files, sample.VoiceMP3); err != nil || info.Size() == 0 {
		t.Errorf("%s: %v", sample.VoiceMP3, err)
	}
	entries, err := fs.ReadDir(sample.Files, ".")
	if err != nil || len(entries) != len(used) {
		t.Errorf("%d of %d files are used: %v", len(used), len(entries), err)
	}
}

func TestOfOthersThereIsNone(t *testing.T) {
	for kind, ratio := range map[string]string{"text": "", sample.Video: "7:1", sample.Image: "../../x"} {
		if name, _, err := sample.File(kind, ratio, 0); err == nil {
			t.Errorf("%s of %q is %s", kind, ratio, name)
		}
	}
}

func TestSlidesOfACarouselDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range uint(pictures) {
		seen[sample.Name(sample.Image, "1:1", 1<<32-2+i)] = true
	}
	if len(seen) != pictures {
		t.Errorf("%d different pictures of %d: %v", len(seen), pictures, seen)
	}
}

func TestFilesStaySmall(t *testing.T) {
	entries, err := fs.ReadDir(sample.Files, ".")
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
