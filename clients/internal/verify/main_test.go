//go:build clients || n8n

package verify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/clients/internal/faults"
)

// patience bounds a program.
const patience = 3 * time.Minute

var (
	root, tools, work string
	// table is the URL of the table of scenarios.
	table   string
	service *faults.Server
)

func TestMain(m *testing.M) {
	code, err := prepared(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// prepared runs the tests with the table of scenarios and the program of the sandbox.
func prepared(m *testing.M) (int, error) {
	var err error
	if root, err = filepath.Abs("../../.."); err != nil {
		return 0, err
	}
	tools = filepath.Join(root, ".tools")
	// The folder is below the root: the module of the Go client is found from there.
	if work, err = os.MkdirTemp("", "clients"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	if err := os.Setenv("PATH", filepath.Join(tools, "runtime-node", "node_modules", ".bin")+":"+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(work, "sandbox"), "./clients/sandbox")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	if service, err = faults.NewServer(); err != nil {
		return 0, err
	}
	server := httptest.NewUnstartedServer(service)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	table = server.URL
	return m.Run(), nil
}

// box is a running sandbox. Its clock moves with its calls, and work is done at once.
type box struct {
	URL string `json:"BASE_URL"`
	Key string `json:"SVC_TEST_KEY"`
}

func (b box) env() []string {
	return []string{"BASE_URL=" + b.URL, "SVC_API_KEY=" + b.Key, "BOT_TOKEN=123456789:EXAMPLE-EXAMPLE-EXAMPLE",
		"APP_PASSWORD=exam-ples-exam-ples"}
}

// sandbox starts a sandbox.
func sandbox(t *testing.T) (b box) {
	t.Helper()
	return serve(t, "--now", "2026-05-01T12:00:00Z")
}

// serve starts a sandbox with the clock of the machine, or with flags of its own.
func serve(t *testing.T, flags ...string) (b box) {
	t.Helper()
	line := append([]string{"--port", "0", "--json", "--seed", "1"}, flags...)
	out := start(t, root, nil, filepath.Join(work, "sandbox"), line...)
	if err := json.Unmarshal([]byte(out), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// start starts a program that runs until the test ends, and returns the first line that it prints.
func start(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var notes bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &notes, time.Second
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	first := make(chan string, 1)
	go func() {
		scanner := bufio.NewScanner(pipe)
		scanner.Scan()
		first <- scanner.Text()
		_, _ = io.Copy(io.Discard, pipe)
	}()
	select {
	case line := <-first:
		if line == "" {
			stop()
			_ = cmd.Wait()
			t.Fatalf("%s ended: %s", name, notes.String())
		}
		return line
	case <-time.After(patience):
		t.Fatalf("%s printed nothing", name)
	}
	return ""
}

// command runs a program, and returns what it prints.
func command(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// copied copies a folder of the repository.
func copied(t *testing.T, from, to string) string {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(filepath.Join(root, from))); err != nil {
		t.Fatal(err)
	}
	return to
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
