package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// guide is the page that describes the sandbox.
var guide = filepath.Join("..", "..", "pkg", "service", "docs", "guides", "testing.md")

// program builds the binary as `make sandbox` does, once.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "sandbox")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = &exec.Error{Name: "go build: " + string(out), Err: err}
	}
	return path, err
})

func built(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// The bounds that callers rely on.
const (
	maxBytes = 69 << 20
	maxReady = 300 * time.Millisecond
)

func TestTheProgramIsSmallAndReadySoon(t *testing.T) {
	path := built(t)
	if info, err := os.Stat(path); err != nil || info.Size() > maxBytes {
		t.Errorf("the binary has %v bytes, %v", info.Size(), err)
	}
	used, took := time.Hour, time.Hour // the least of five runs
	for range 5 {
		port := freePort(t)
		cmd := exec.Command(path, "--port", port)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for look := 0; ; look++ {
			resp, err := http.Get("http://127.0.0.1:" + port + "/healthz")
			if err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
			if look > 10_000 {
				t.Fatal("it is never ready")
			}
			<-time.After(5 * time.Millisecond)
		}
		took = min(took, time.Since(began))
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		used = min(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	// Other tests that use the processors lengthen the start, but not its CPU time. A start that waits is longer still.
	if used > maxReady || took > 10*maxReady {
		t.Errorf("it is ready after %v, and uses %v of CPU time", took, used)
	}
}

// The examples of the guide run beside the binary, as they are.
func TestTheExamplesOfTheGuide(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	globals, err := filepath.Abs(filepath.Join("testdata", "jest.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, b := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks[b[1]] += b[2]
	}
	dir := t.TempDir()
	if err := os.Link(built(t), filepath.Join(dir, "sandbox")); err != nil {
		t.Fatal(err)
	}
	for _, example := range []struct {
		language, file string
		command        []string
		tests          string
	}{
		{"js", "items.test.js", []string{"node", "--require", globals, "--test-reporter=tap", "items.test.js"}, "# pass 3"},
		{"python", "test_items.py", []string{"python3", "-m", "unittest", "test_items"}, "Ran 4 tests"},
	} {
		t.Run(example.language, func(t *testing.T) {
			text := []byte(blocks[example.language])
			if err := os.WriteFile(filepath.Join(dir, example.file), text, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, example.command[0], example.command[1:]...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte(example.tests)) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	// The lines in the guide are those of the program.
	for line := range strings.Lines((greeting{URL: "http://localhost:8080", Account: "acc_…", Test: "svc_test_…", Live: "svc_live_…"}).lines()) {
		if !strings.Contains(blocks["sh"], line) {
			t.Errorf("the guide lacks the line %s", line)
		}
	}
}

// The guide describes each flag.
func TestTheGuideDescribesEachFlag(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var help strings.Builder
	if code := run(t.Context(), []string{"--help"}, os.Getenv, &help, &help); code != 0 {
		t.Fatal(code, help.String())
	}
	flags := regexp.MustCompile(`(?m)^  -(\w+)`).FindAllStringSubmatch(help.String(), -1)
	if len(flags) < 9 {
		t.Errorf("the help has %d flags", len(flags))
	}
	for _, f := range flags {
		if !bytes.Contains(text, []byte("`--"+f[1]+"`")) {
			t.Errorf("the guide lacks --%s", f[1])
		}
	}
}
