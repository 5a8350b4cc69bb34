package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/content-automation/api/infra/local/system"
)

func TestPort(t *testing.T) {
	for value, want := range map[string]int{"": 8080, "1": 1, "8181": 8181, "65535": 65535} {
		if got, err := portFrom(value); err != nil || got != want {
			t.Errorf("PORT=%s is %d, %v", value, got, err)
		}
	}
	for _, value := range []string{"0", "65536", "-1", "http", "8080 "} {
		if _, err := portFrom(value); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", value)) {
			t.Errorf("PORT=%s: %v", value, err)
		}
	}
}

func TestFaultsOfThePortAreSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EADDRINUSE: "Port 80 is in use: stop what uses it, or choose another one with `make run PORT=81`.",
		syscall.EACCES:     "Port 80 needs rights that you do not have: choose one from 1024 up with `make run PORT=8080`.",
	} {
		err := fmt.Errorf("starting: %w", &system.PortError{Port: 80, Cause: &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", cause)}})
		if got := sentence(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := sentence(errors.New("node is not installed")); got != "Error: node is not installed" {
		t.Errorf("got %q", got)
	}
}

func TestEnvIsForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "env")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := writeEnv(&system.System{BaseURL: "http://localhost:8080", Logs: filepath.Join(dir, "system")}, demo{test: "t", live: "l"})
	if err != nil || got != file {
		t.Fatalf("got %s, %v", got, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "BASE_URL=http://localhost:8080\nSVC_TEST_KEY=t\nSVC_LIVE_KEY=l\n" {
		t.Errorf("it holds %q, %v", text, err)
	}
}

func TestUnknownCommand(t *testing.T) {
	if err := command(t.Context(), []string{"walk"}); err == nil || !strings.Contains(err.Error(), `"walk"`) {
		t.Errorf("got %v", err)
	}
	if err := command(t.Context(), []string{"build", "-arch", "mips"}); err == nil || !strings.Contains(err.Error(), "mips") {
		t.Errorf("got %v", err)
	}
}
