package main_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/content-automation/api/infra/local/terminal"
)

func TestPort(t *testing.T) {
	for value, want := range map[string]int{"": 8080, "1": 1, "8181": 8181, "65535": 65535} {
		t.Setenv("PORT", value)
		if got, err := terminal.Port(); err != nil || got != want {
			t.Errorf("PORT=%s is %d, %v", value, got, err)
		}
	}
	for _, value := range []string{"0", "65536", "-1", "http", "8080 "} {
		t.Setenv("PORT", value)
		if _, err := terminal.Port(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", value)) {
			t.Errorf("PORT=%s: %v", value, err)
		}
	}
}

func TestProviders(t *testing.T) {
	for value, want := range map[string]bool{"": false, "fake": false, "real": true} {
		t.Setenv("PROVIDERS", value)
		if got, err := terminal.RealProviders(); err != nil || got != want {
			t.Errorf("PROVIDERS=%s: real ones: %v, %v", value, got, err)
		}
	}
	t.Setenv("PROVIDERS", "both")
	if _, err := terminal.RealProviders(); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("got %v", err)
	}
	for providers, want := range map[string]string{"http://127.0.0.1:9": "Providers fakes at http://127.0.0.1:9",
		"": "Providers real ones, which cost money; give their credentials to `go run ./infra/operate/admin providers set`"} {
		var out strings.Builder
		terminal.System{Providers: providers}.Greet(&out, terminal.Demo{})
		if !strings.Contains(out.String(), want) {
			t.Errorf("it says %q, want %q", out.String(), want)
		}
	}
}

func TestFaultsOfThePortAreSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EADDRINUSE: "Port 80 is in use: stop what uses it, or choose another one with `make run PORT=81`.",
		syscall.EACCES: "Port 80 needs rights that you do not have: choose one from 1024 up with `make run " +
			"PORT=8080`.",
	} {
		err := fmt.Errorf("starting: %w", &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", cause)})
		if got := terminal.Sentence(err, 80); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := terminal.Sentence(errors.New("node is not installed"), 80); got != "Error: node is not installed" {
		t.Errorf("got %q", got)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "env"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	running := terminal.System{BaseURL: "http://localhost:8080", Environment: "TABLE_NAME=state\n", Dir: dir}
	remove, err := running.WriteFiles(terminal.Demo{Test: "t", Live: "l"})
	if files, _ := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v", files, err)
	}
	for name, want := range map[string]string{
		"env": "BASE_URL=http://localhost:8080\nSVC_TEST_KEY=t\nSVC_LIVE_KEY=l\nSVC_API_KEY=$SVC_TEST_KEY\nexport " +
			"BASE_URL SVC_API_KEY\n",
		"aws-env": "TABLE_NAME=state\n",
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
	remove()
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v are left, %v", files, err)
	}
}
