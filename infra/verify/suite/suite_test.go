package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOutputIsCounted(t *testing.T) {
	var log bytes.Buffer
	c := &counter{log: &log}
	const text = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"why it failed\n"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestA/part"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
go: some other line
{"Action":"pass","Package":"q","Test":"TestC"}`
	for _, piece := range []string{text[:50], text[50:]} {
		if _, err := c.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	c.end()
	if c.passed != 2 || c.failed != 1 || log.String() != text {
		t.Errorf("%d passed, %d failed: %s", c.passed, c.failed, &log)
	}
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := failures(&out, name); err != nil || !strings.Contains(out.String(), "why it failed") ||
		!strings.Contains(out.String(), "p TestA") || !strings.Contains(out.String(), "some other line") {
		t.Errorf("%v: %s", err, &out)
	}
}

func TestStagesRunInTheirLanes(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	code := run(t.Context(), &out, []stage{
		{name: "good", command: shell("echo fine")},
		{name: "absent", needs: "no-such-program", command: shell("exit 1")},
		{name: "bad", lane: 1, command: shell("echo it is broken; exit 3"), env: []string{"X=1"}},
	})
	text := out.String()
	for _, want := range []string{"good", "not run: no-such-program is not installed", "it is broken",
		"1 passed, 1 failed\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	if code != 1 {
		t.Errorf("the status is %d", code)
	}
	if code := run(t.Context(), &out, []stage{{name: "good", command: shell("true")}}); code != 0 {
		t.Errorf("the status of success is %d", code)
	}
	for _, s := range stages {
		if s.lane < 0 || s.lane > alone {
			t.Errorf("no lane runs the stage %s", s.name)
		}
	}
}

// A first stage ends before the lanes begin, and a stage of the lane alone begins when they have ended. If a first
// stage fails, the others do not begin.
func TestStagesWaitForEachOther(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	list := []stage{{name: "early", command: shell("cat made")}, {name: "make", first: true, command: shell("echo x >made")},
		{name: "last", lane: alone, command: shell("cat beside")}, {name: "beside", lane: 1, command: shell("sleep 0.1; cp made beside")}}
	if code := run(t.Context(), &out, list); code != 0 {
		t.Errorf("the status is %d: %s", code, &out)
	}
	out.Reset()
	list[1].command = shell("exit 1")
	if code := run(t.Context(), &out, list); code != 1 || strings.Contains(out.String(), "early") {
		t.Errorf("the status is %d: %s", code, &out)
	}
}

// A stage that is ended leaves no process behind.
func TestAllProcessesOfAStageEnd(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(logs, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	go func() {
		for {
			if b, err := os.ReadFile("pid"); err == nil && bytes.HasSuffix(b, []byte("\n")) {
				end()
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	}()
	s := stage{name: "endless", command: shell("sleep 1000 & echo $! >pid; wait")}
	if o := s.run(ctx); o.err == nil {
		t.Error("it has ended by itself")
	}
	b, err := os.ReadFile("pid")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for syscall.Kill(pid, 0) == nil { // until it is gone
		<-time.After(5 * time.Millisecond)
	}
}

// The stages are those of the commands that docs/tests.md describes.
func TestStagesAreDescribed(t *testing.T) {
	document, err := os.ReadFile("../../../docs/tests.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stages {
		if !strings.Contains(string(document), "| `"+s.name+"` |") {
			t.Errorf("docs/tests.md does not describe the stage %s", s.name)
		}
	}
	short, all, check := chosen(false, false, ""), chosen(true, false, ""), chosen(false, true, "")
	if len(all) != len(stages) || len(short) >= len(all) || len(check) != 8 {
		t.Errorf("%d of %d stages are short, %d run with -all, and %d with -check", len(short), len(stages), len(all), len(check))
	}
	if one := chosen(false, false, "race"); len(one) != 1 || one[0].name != "race" {
		t.Errorf("-only race runs %v", one)
	}
}

// Each end-to-end test that make test leaves out exists, so that the long stage runs it.
func TestLongTestsExist(t *testing.T) {
	files, err := filepath.Glob("../e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var code strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(b)
	}
	names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(longTests, "^Test("), ")$"), "|")
	for _, name := range names {
		if !strings.Contains(code.String(), "\nfunc Test"+name+"(") {
			t.Errorf("there is no Test%s", name)
		}
	}
	if len(names) < 5 {
		t.Errorf("the names are %v", names)
	}
}
