package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRewriteLeavesTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Bench\n\n<!-- written by make bench -->\nold\n<!-- end -->\n\nWhy.\n")
	for range 2 { // the second time it is as it was
		if err := Rewrite(path, WrittenBy("make bench"), "| new |\n"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if want := "# Bench\n\n<!-- written by make bench -->\n\n| new |\n\n<!-- end -->\n\nWhy.\n"; err != nil || string(text) != want {
			t.Errorf("it reads %q, %v", text, err)
		}
	}
	// The place may begin within what was written before.
	write("<!-- written by make bench -->\n\nkept\n\n### Part\n\nold\n<!-- end -->\n")
	if err := Rewrite(path, "### Part\n", "new"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "<!-- written by make bench -->\n\nkept\n\n### Part\n\nnew\n<!-- end -->\n" {
		t.Errorf("it reads %q, %v", text, err)
	}
	for _, text := range []string{"# Bench\n<!-- written by make bench -->\n", "<!-- written by make chaos -->\n\n<!-- end -->\n"} {
		write(text)
		if err := Rewrite(path, WrittenBy("make bench"), "x"); err == nil || !strings.Contains(err.Error(), "no place for the text") {
			t.Errorf("got %v", err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("it was changed to %q, %v", now, err)
		}
	}
}

func TestTheMachineIsNamed(t *testing.T) {
	m := Machine{"linux", "amd64", "go1.26", 4}
	if got, want := "Measured on "+m.String()+".", "Measured on a machine with 4 cores (linux/amd64) with go1.26."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if here := ThisMachine(); here.Cores < 1 || here.OS == "" {
		t.Errorf("this machine is %+v", here)
	}
}
