package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/local/system"
)

func TestStartsAreMeasuredInTurns(t *testing.T) {
	dir := t.TempDir()
	if err := system.Compile(t.Context(), "../../..", system.Machine(), filepath.Join(dir, "bin"), "./infra/measure/bench/baseline/hello"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bin", "hello")
	all, err := measureStarts(t.Context(), []program{{"one", path}, {"other", path}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.times) != 3 || s.bytes < 1e6 {
			t.Errorf("%s: %d bytes started in %v", s.name, s.bytes, s.times)
		}
		for _, took := range s.times {
			if took <= 0 || took > startLimit {
				t.Errorf("%s started in %v", s.name, took)
			}
		}
	}
	if all[0].name != "one" || all[1].name != "other" {
		t.Errorf("in the order %s, %s", all[0].name, all[1].name)
	}
}

func TestAProgramThatDoesNotStart(t *testing.T) {
	for script, want := range map[string]string{
		"echo TABLE_NAME is missing >&2; exit 3": "exit status 3\nTABLE_NAME is missing",
		"exit 0":                                 "broken does not start: exit status 0",
		// Nothing of this machine's own reaches a function.
		`echo "[$HOME$BENCH_SECRET]"; exit 1`: "\n[]",
	} {
		path := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("BENCH_SECRET", "x")
		_, err := measureStarts(t.Context(), []program{{"broken", path}}, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", script, err)
		}
	}
}
