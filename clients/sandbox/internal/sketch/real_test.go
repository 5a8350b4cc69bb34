package sketch

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/testdata/breadth"
)

var update = flag.Bool("update", false, "record what ffmpeg composes in testdata/real.json; needs BREADTH=all")

// fact is what sketches and real compositions have in common.
type fact struct {
	Role     media.Role
	MIMEType string
	Width    int `json:",omitempty"`
	Height   int `json:",omitempty"`
	Duration time.Duration
}

func factOf(f compose.File, info probe.Info) fact {
	return fact{f.Role, info.MIMEType, info.Width, info.Height, info.Duration}
}

// like reports whether two files are alike: their lengths may differ by a frame and a half.
func (f fact) like(other fact) bool {
	off := (f.Duration - other.Duration).Abs()
	f.Duration = other.Duration
	return f == other && off <= 50*time.Millisecond
}

const recorded = "testdata/real.json"

// realCompositions returns what ffmpeg composes of each work, as it was recorded. A whole run composes them, and
// compares the record.
func realCompositions(t *testing.T, works map[string]compose.Work) map[string][]fact {
	t.Helper()
	data, err := os.ReadFile(recorded)
	was := map[string][]fact{}
	if err == nil {
		err = json.Unmarshal(data, &was)
	}
	if err != nil && !*update {
		t.Fatal(err)
	}
	if !breadth.All() {
		return was
	}
	e, err := compose.New(compose.Settings{FFmpeg: filepath.Join(tools, "ffmpeg"),
		Fonts: filepath.Join(tools, "fonts"), Scratch: t.TempDir(), Threads: 2})
	if err != nil {
		t.Fatalf("%v (make media-tools installs what is missing)", err)
	}
	is := map[string][]fact{}
	for name, w := range works {
		files, err := composed(t, e, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			is[name] = append(is[name], factOf(f, probed(t, f)))
		}
	}
	if *update {
		data, _ := json.MarshalIndent(is, "", "\t") // it has no value that cannot be encoded
		if err := os.WriteFile(recorded, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return is
	}
	for name := range works {
		checkLike(t, "the record of "+name, was[name], is[name])
	}
	return is
}

func checkLike(t *testing.T, what string, got, want []fact) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d files, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !got[i].like(want[i]) {
			t.Errorf("%s is %+v, and should be like %+v", what, got[i], want[i])
		}
	}
}
