package terminal

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPort(t *testing.T) {
	for value, want := range map[string]int{"": 8080, "1": 1, "8181": 8181, "65535": 65535} {
		t.Setenv("PORT", value)
		if got, err := Port(); err != nil || got != want {
			t.Errorf("PORT=%s is %d, %v", value, got, err)
		}
	}
	for _, value := range []string{"0", "65536", "-1", "http", "8080 "} {
		t.Setenv("PORT", value)
		if _, err := Port(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", value)) {
			t.Errorf("PORT=%s: %v", value, err)
		}
	}
}

func TestProviders(t *testing.T) {
	for value, want := range map[string]bool{"": false, "fake": false, "real": true} {
		t.Setenv("PROVIDERS", value)
		if got, err := RealProviders(); err != nil || got != want {
			t.Errorf("PROVIDERS=%s: real ones: %v, %v", value, got, err)
		}
	}
	t.Setenv("PROVIDERS", "both")
	if _, err := RealProviders(); err == nil || !strings.Contains(err.Error(), `"both"`) {
		t.Errorf("got %v", err)
	}
	if text := (System{Providers: "http://127.0.0.1:9"}).providers(); !strings.Contains(text,
		"http://127.0.0.1:9") {
		t.Errorf("of fakes it says %q", text)
	}
	if text := (System{}).providers(); !strings.Contains(text, "admin providers set") {
		t.Errorf("of real ones it says %q", text)
	}
}

func TestFaultsOfThePortAreSentences(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EADDRINUSE: "Port 80 is in use: stop what uses it, or choose another one with `make run PORT=81`.",
		syscall.EACCES: "Port 80 needs rights that you do not have: choose one from 1024 up with `make run " +
			"PORT=8080`.",
	} {
		err := fmt.Errorf("starting: %w", &net.OpError{Op: "listen", Err: os.NewSyscallError("bind", cause)})
		if got := Sentence(err, 80); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Sentence(errors.New("node is not installed"), 80); got != "Error: node is not installed" {
		t.Errorf("got %q", got)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, envFile), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	running := System{BaseURL: "http://localhost:8080", Environment: "TABLE_NAME=state\n", Dir: dir}
	remove, err := running.WriteFiles(Demo{Test: "t", Live: "l"})
	if files, _ := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v", files, err)
	}
	for name, want := range map[string]string{
		envFile: "BASE_URL=http://localhost:8080\nSVC_TEST_KEY=t\nSVC_LIVE_KEY=l\nSVC_API_KEY=$SVC_TEST_KEY\nexport " +
			"BASE_URL SVC_API_KEY\n",
		awsFile: "TABLE_NAME=state\n",
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
