package system

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// pinnedEngine makes a checkout with the pins of the engine, and changes into it.
func pinnedEngine(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	pins := filepath.Join(root, "infra", "tools", "dynamodb")
	if err := os.MkdirAll(pins, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pom.xml", "Engine.java"} {
		if err := os.WriteFile(filepath.Join(pins, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTheEngineIsInstalledOnceAndStartedEachTime(t *testing.T) {
	root := pinnedEngine(t)
	calls := filepath.Join(root, "calls")
	programs(t, map[string]string{
		"mvn":   `echo mvn >> ` + calls,
		"javac": `echo javac >> ` + calls,
		"java":  `echo java >> ` + calls + `; echo http://127.0.0.1:7; read line; echo end >> ` + calls,
	})
	for range 2 {
		e, err := StartEngine(t.Context(), root, false, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if e.Address != "http://127.0.0.1:7" {
			t.Errorf("the address is %q", e.Address)
		}
		e.Stop()
		if err := syscall.Kill(e.cmd.Process.Pid, 0); err == nil {
			t.Error("the engine runs after it was stopped")
		}
	}
	data, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(string(data)), " "); got != "mvn javac java end java end" {
		t.Errorf("called %s", got)
	}
}

func TestAnEngineThatDoesNotStartSaysWhy(t *testing.T) {
	root := pinnedEngine(t)
	programs(t, map[string]string{"mvn": "", "javac": "", "java": "echo there is no library >&2; exit 1"})
	if _, err := StartEngine(t.Context(), root, false, func(string) {}); err == nil ||
		!strings.Contains(err.Error(), "there is no library") {
		t.Errorf("got %v", err)
	}
}

func TestCheckEngine(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		if err := CheckEngine(t.Context()); err == nil || !strings.Contains(err.Error(), runtime.GOARCH) {
			t.Errorf("got %v", err)
		}
		return
	}
	all := map[string]string{"java": "echo openjdk 17.0.15", "javac": "echo javac 17.0.15",
		"mvn": "echo Apache Maven 3.8.7"}
	programs(t, all)
	if err := CheckEngine(t.Context()); err != nil {
		t.Error(err)
	}
	all["javac"] = "echo javac 11.0.2"
	programs(t, all)
	if err := CheckEngine(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "javac is too old (11.0)") {
		t.Errorf("got %v", err)
	}
	delete(all, "java")
	programs(t, all)
	if err := CheckEngine(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "java is not installed") {
		t.Errorf("got %v", err)
	}
}
