package system

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// grandchild waits for the pid that a script has written to a file.
func grandchild(t *testing.T, file string) int {
	t.Helper()
	var pid int
	poll.Until(t, "the grandchild tells its pid", func() bool {
		data, err := os.ReadFile(file)
		if err != nil || !strings.HasSuffix(string(data), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	return pid
}

func TestEndTakesTheWholeGroup(t *testing.T) {
	for name, script := range map[string]string{
		"that ends when asked":     "sleep 600 & echo $! > pid; wait",
		"that does not":            "trap '' TERM; sleep 600 & echo $! > pid; while :; do wait; done",
		"whose leader went before": "sleep 600 & echo $! > pid",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p, err := start(dir, filepath.Join(dir, "log"), environment(nil), "sh", "-c", script)
			if err != nil {
				t.Fatal(err)
			}
			pid := grandchild(t, filepath.Join(dir, "pid"))
			if !alive(pid) {
				t.Fatal("the grandchild is not there")
			}
			p.end(100 * time.Millisecond)
			p.end(time.Hour) // A second time does nothing, and does not wait.
			poll.Until(t, "the grandchild ends", func() bool { return !running(pid) })
		})
	}
}

// running reports whether a process runs. A process that has ended but was not yet waited for
// does not count.
func running(pid int) bool {
	if !alive(pid) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return alive(pid)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestRunEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, dir, filepath.Join(dir, "log"), environment(nil), "sh", "-c",
			"sleep 600 & echo $! > pid; wait")
	}()
	pid := grandchild(t, filepath.Join(dir, "pid"))
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	poll.Until(t, "the grandchild ends", func() bool { return !running(pid) })
}

func TestAFailureTellsTheEndOfTheLog(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	err := run(t.Context(), dir, log, environment(nil), "sh", "-c", "for i in $(seq 30); do echo line $i; done; echo "+
		"why >&2; exit 3")
	err = logged(err, "trying", log)
	if err == nil || !strings.HasPrefix(err.Error(), "trying failed (exit status 3)") ||
		!strings.HasSuffix(err.Error(), "why") ||
		strings.Contains(err.Error(), "line 10\n") || !strings.Contains(err.Error(), log) {
		t.Errorf("got %v", err)
	}
}

func TestChildrenDoNotSeeCredentials(t *testing.T) {
	t.Setenv("AWS_PROFILE", "production")
	t.Setenv("SOME_TOKEN", "secret")
	t.Setenv("HTTPS_PROXY", "http://proxy.example")
	seen := map[string]string{}
	for _, pair := range environment(map[string]string{"AWS_REGION": "us-east-1"}) {
		name, value, _ := strings.Cut(pair, "=")
		seen[name] = value
	}
	if seen["AWS_PROFILE"] != "" || seen["SOME_TOKEN"] != "" {
		t.Errorf("a child sees %v", seen)
	}
	if seen["PATH"] == "" || seen["AWS_REGION"] != "us-east-1" || seen["HTTPS_PROXY"] != "http://proxy.example" ||
		!strings.Contains(seen["NO_PROXY"], "127.0.0.1") {
		t.Errorf("a child lacks something: %v", seen)
	}
	for _, pair := range withTools() {
		if strings.HasPrefix(pair, "AWS_") {
			t.Errorf("an installer sees %s", pair)
		}
	}
}
