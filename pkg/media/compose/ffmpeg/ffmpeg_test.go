package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func tool(t *testing.T) Tool {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "..", ".tools", "media", "ffmpeg"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v (make media-tools installs it)", err)
	}
	return Tool{Path: path, Threads: 1}
}

// gray is frames without an end.
var gray = Input{
	Format: "rawvideo", Options: []string{"-pixel_format", "gray", "-video_size", "64x64", "-framerate", "30"},
	Feed: func(w io.Writer) error {
		for frame := make([]byte, 64*64); ; {
			if _, err := w.Write(frame); err != nil {
				return err
			}
		}
	},
}

func TestARunReportsWhatItDid(t *testing.T) {
	var told []int
	report, err := tool(t).Run(t.Context(), Job{
		Dir: t.TempDir(), Inputs: []Input{gray}, Filter: "[0:v]null[out]",
		Output:   []string{"-map", "[out]", "-frames:v", "90", "-c:v", "libx264", "-f", "mp4", "out.mp4"},
		Progress: func(n int) { told = append(told, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Frames != 90 || len(told) == 0 || told[len(told)-1] != 90 {
		t.Errorf("90 frames are %d, told as %v", report.Frames, told)
	}
	if report.Usage.CPU <= 0 || report.Usage.Peak < 1<<20 || report.Usage.Runs != 1 {
		t.Errorf("it used %+v", report.Usage)
	}
}

func TestACanceledRunEndsItsProcess(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	ended := make(chan error, 1)
	endless := gray
	endless.Feed = func(w io.Writer) error {
		err := gray.Feed(w)
		ended <- err // ffmpeg reads no more
		return err
	}
	_, err := tool(t).Run(ctx, Job{
		Dir: t.TempDir(), Inputs: []Input{endless}, Filter: "[0:v]null[out]",
		Output: []string{"-map", "[out]", "-f", "null", "-"},
		Progress: func(n int) {
			if n > 0 {
				cancel(why)
			}
		},
	})
	if !IsKind(err, Canceled) || !errors.Is(err, why) {
		t.Errorf("the error is %v", err)
	}
	if err := <-ended; err == nil {
		t.Error("the feed ended by itself")
	}
	if _, err := tool(t).Run(ctx, Job{}); !IsKind(err, Canceled) {
		t.Errorf("after that, the error is %v", err)
	}
}

func TestFailuresSayWhoseTheyAre(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.mp4")
	if err := os.WriteFile(broken, []byte("\x00\x00\x00\x18ftypmp42 and nothing else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		job  Job
		want Kind
	}{
		"a broken input": {Job{Inputs: []Input{{Path: broken, Format: "mov"}}}, Unreadable},
		"a wrong format": {Job{Inputs: []Input{{Path: broken, Format: "mp3"}}}, Unreadable},
		"no room": {Job{Inputs: []Input{gray}, Output: []string{"-frames:v", "1", "-f", "rawvideo",
			"/dev/full"}}, Internal},
		"a filter of nothing": {Job{Inputs: []Input{gray}, Filter: "[0:v]nonesuch[out]",
			Output: []string{"-map", "[out]", "-f", "null", "-"}}, Internal},
	} {
		c.job.Dir = dir
		_, err := tool(t).Run(t.Context(), c.job)
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.want || e.Log == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Tool{Path: "/nonesuch"}).Run(t.Context(), Job{}); !IsKind(err, Internal) {
		t.Errorf("no ffmpeg at all: %v", err)
	}
}

func TestNothingIsFetchedFromTheNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	called := make(chan struct{}, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
			called <- struct{}{}
		}
	}()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2]string{
		"concat": {"concat", fmt.Sprintf("ffconcat version 1.0\nfile http://%s/a.ts\n", l.Addr())},
		"dash": {"dash", fmt.Sprintf(
			`<MPD><Period><AdaptationSet><Representation><BaseURL>http://%s/a.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`, l.Addr())},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tool(t).Run(t.Context(), Job{Dir: dir, Inputs: []Input{{Path: path, Format: c[0]}}}); err == nil {
			t.Errorf("a playlist (%s) of an address is read", name)
		}
	}
	select {
	case <-called:
		t.Error("an address was called")
	case <-time.After(10 * time.Millisecond):
	}
}

func TestArgumentsAreNoCommands(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "-i; touch $(x) `y` http:.raw")
	if err := os.WriteFile(name, make([]byte, 64*64), 0o600); err != nil {
		t.Fatal(err)
	}
	in := Input{Path: name, Format: gray.Format, Options: gray.Options}
	if report, err := tool(t).Run(t.Context(), Job{Dir: dir, Inputs: []Input{in}}); err != nil || report.Frames != 1 {
		t.Errorf("%d frames, %v", report.Frames, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder has %v", left)
	}
}

func TestTheLogKeepsItsEnd(t *testing.T) {
	log := &tail{max: 10}
	for range 1000 {
		io.WriteString(log, strings.Repeat("x", 100))
	}
	io.WriteString(log, "the end")
	if got := log.String(); got != "xxxthe end" {
		t.Errorf("it keeps %q", got)
	}
}

func TestLogsAreRead(t *testing.T) {
	const said = `[info] Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:a.mp4':
[info]   Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p(tv, bt709, progressive), 1080x1920
[info]   Stream #0:1[0x2](eng): Audio: aac (LC) (mp4a / 0x6134706D), 48000 Hz, stereo, fltp, 160 kb/s (default)
`
	if got := SoundOf(said); got != "aac" {
		t.Errorf("the sound is %q", got)
	}
	if got := SoundOf("[info] Input #0, png_pipe\n[info] Output #0, null\n[info]   Stream #0:0: Audio: pcm_s16le"); got != "" {
		t.Errorf("the sound of an output is %q", got)
	}
	if l, ok := LoudnessOf("[info] Summary:\n  Integrated loudness:\n    I:         -19.5 LUFS\n  True peak:\n    " +
		"Peak:       -0.3 dBFS"); !ok || l != (Loudness{-19.5, -0.3}) {
		t.Errorf("the loudness is %+v, %v", l, ok)
	}
	if l, ok := LoudnessOf("Summary:\n I: -70.0 LUFS\n Peak: -inf dBFS"); !ok || l.Integrated > Silent ||
		l.Peak != -200 {
		t.Errorf("the loudness of silence is %+v, %v", l, ok)
	}
	// A peak that was not measured is within no bound.
	if l, ok := LoudnessOf("Summary:\n I: -19.5 LUFS"); !ok || l.Integrated != -19.5 || l.Peak <= 0 || l.Peak > 0 {
		t.Errorf("without a peak, the loudness is %+v, %v", l, ok)
	}
}
