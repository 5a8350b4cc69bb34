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

func TestProviders(t *testing.T) {
	for value, want := range map[string]bool{"": false, "fake": false, "real": true} {
		if got, err := realProviders(value); err != nil || got != want {
			t.Errorf("PROVIDERS=%s: real ones: %v, %v", value, got, err)
		}
	}
	if _, err := realProviders("both"); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("got %v", err)
	}
	if text := providers(&system.System{Providers: "http://127.0.0.1:9"}); !strings.Contains(text,
		"http://127.0.0.1:9") {
		t.Errorf("of fakes it says %q", text)
	}
	if text := providers(&system.System{}); !strings.Contains(text, "admin providers set") {
		t.Errorf("of real ones it says %q", text)
	}
}

func TestFaultsOfThePortAreSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EADDRINUSE: "Port 80 is in use: stop what uses it, or choose another one with `make run PORT=81`.",
		syscall.EACCES: "Port 80 needs rights that you do not have: choose one from 1024 up with `make run " +
			"PORT=8080`.",
	} {
		err := fmt.Errorf("starting: %w",
			&system.PortError{Port: 80, Cause: &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", cause)}})
		if got := sentence(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := sentence(fmt.Errorf("starting: %w", system.ErrNoEngine)),
		"SAM runs functions in containers, and no Docker engine answers: start Docker, or use `make run`, which needs none."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := sentence(errors.New("node is not installed")); got != "Error: node is not installed" {
		t.Errorf("got %q", got)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, envFile), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	running := &system.System{BaseURL: "http://localhost:8080", Endpoint: "http://127.0.0.1:4566", Region: "us-east-1",
		Table: "state", AuditTable: "audit", MediaBucket: "media", ProviderSecret: "arn:providers",
		PlatformSecret: "arn:platforms"}
	files, err := writeFiles(dir, running, demo{test: "t", live: "l"})
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v", files, err)
	}
	for name, want := range map[string]string{
		envFile: "BASE_URL=http://localhost:8080\nSVC_TEST_KEY=t\nSVC_LIVE_KEY=l\nSVC_API_KEY=$SVC_TEST_KEY\nexport " +
			"BASE_URL SVC_API_KEY\n",
		awsFile: "AWS_ENDPOINT_URL=http://127.0.0.1:4566\nAWS_REGION=us-east-1\nAWS_ACCESS_KEY_ID=test\nAWS_SECRET_ACCESS_KEY=test\nTABLE_NAME=state\nSTACK_NAME=local-local-us-east-1\nPROVIDER_SECRET=arn:providers\nPLATFORM_SECRET=arn:platforms\nAUDIT_TABLE_NAME=audit\nMEDIA_BUCKET=media\n",
	} {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the mode of %s is %v", name, info.Mode())
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	if err := command(t.Context(), []string{"walk"}); err == nil || !strings.Contains(err.Error(), `"walk"`) {
		t.Errorf("got %v", err)
	}
	if err := command(t.Context(), []string{"build", "-arch", "mips"}); err == nil ||
		!strings.Contains(err.Error(), "mips") {
		t.Errorf("got %v", err)
	}
}
