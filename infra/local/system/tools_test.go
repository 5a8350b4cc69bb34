package system

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs makes a PATH with only the given scripts, by their names.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

func TestCheckTools(t *testing.T) {
	good := map[string]string{"go": "echo go1.26.8", "node": "echo v20.20.2", "npm": "echo 10.8.2",
		"python3": "echo Python 3.11.7"}
	for name, c := range map[string]struct{ program, script, says string }{
		"all there": {},
		"no node": {"node", "", "node is not installed: npm runs on it; get a newer one from https://nodejs.org " +
			"(20.0 or newer)"},
		"no python": {"python3", "", "python3 is not installed: the local AWS runs on it; get it from " +
			"https://www.python.org (3.10 or newer)"},
		"old node": {"node", "echo v18.19.0", "node is too old (18.19): npm runs on it; get a newer one from " +
			"https://nodejs.org (20.0 or newer)"},
		"old python": {"python3", "echo Python 3.9.18", "python3 is too old (3.9): the local AWS runs on it; get " +
			"it from https://www.python.org (3.10 or newer)"},
		"old go": {"go", "echo go1.25.3", "go is too old (1.25): it builds the functions; get it from " +
			"https://go.dev/dl (1.26 or newer)"},
		"new major":     {"node", "echo v24.1.0", ""},
		"no version":    {"npm", "echo hello", `npm does not tell its version, but "hello\n"`},
		"broken":        {"npm", "exit 1", "npm does not tell its version: exit status 1"},
		"release of go": {"go", "echo go1.27rc1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			scripts := map[string]string{}
			for program, script := range good {
				if program == c.program {
					script = c.script
				}
				if script != "" {
					scripts[program] = script
				}
			}
			programs(t, scripts)
			err := CheckTools(t.Context())
			if c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestInstallOnlyWhatChanged(t *testing.T) {
	root := t.TempDir()
	pins := filepath.Join(root, "infra", "tools")
	for _, name := range []string{"webhooks", "runtime"} {
		if err := os.MkdirAll(filepath.Join(pins, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pin := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(pins, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "requirements.txt"} {
		pin(name, "1")
		pin("webhooks/"+name, "1")
		pin("runtime/"+name, "1")
	}
	calls := filepath.Join(root, "calls")
	// The module venv makes the folder's python, which is then called for pip with the
	// requirements as its last argument.
	programs(t, map[string]string{
		"npm": `echo npm >> ` + calls,
		"python3": `echo venv >> ` + calls +
			`; /bin/mkdir -p "$3/bin"; printf '#!/bin/sh\nfor last; do :; done; test -f "$last" && echo pip >> ` +
			calls + `\n' > "$3/bin/python"; /bin/chmod +x "$3/bin/python"`,
	})
	t.Chdir(root) // As for the command, which runs in the checkout.
	install := func(want string) {
		t.Helper()
		_ = os.Remove(calls)
		said := 0
		if err := Install(t.Context(), ".", func(string) { said++ }, Base); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(calls)
		if got := strings.Join(strings.Fields(string(data)), " "); got != want {
			t.Errorf("called %q, want %q", got, want)
		}
		if (said > 0) != (want != "") {
			t.Errorf("said %d things about %q", said, want)
		}
	}
	install("npm npm venv pip npm venv pip")
	install("")
	pin("requirements.txt", "2")
	install("venv pip")
	pin("package-lock.json", "2")
	install("npm")
	pin("webhooks/requirements.txt", "2")
	install("venv pip")
	pin("runtime/package.json", "2")
	install("npm")
	install("")
}

func TestAFailedInstallIsTriedAgain(t *testing.T) {
	root := t.TempDir()
	pins := filepath.Join(root, "infra", "tools")
	pins = filepath.Join(pins, "runtime") // of the first set
	if err := os.MkdirAll(pins, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc", "requirements.txt"} {
		if err := os.WriteFile(filepath.Join(pins, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	programs(t, map[string]string{"npm": "echo no network; exit 1"})
	for try := range 2 {
		err := Install(t.Context(), root, func(string) {}, Base)
		if err == nil || !strings.Contains(err.Error(), "installing Node (npm) failed") ||
			!strings.Contains(err.Error(), "no network") {
			t.Errorf("try %d: got %v", try, fmt.Sprint(err))
		}
	}
}
