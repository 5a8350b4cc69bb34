package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/testdata/fakes"
)

// The whole way of a run with real models leads to a report: here against a fake of Bedrock, once without earlier texts
// and once with those of the first run.
func TestADryRunWritesAReport(t *testing.T) {
	server := httptest.NewServer(fakes.Providers(nil,
		func(context.Context, string, string, []byte) error { return nil }, nil, time.Now))
	defer server.Close()
	directory := t.TempDir()
	report, guards := filepath.Join(directory, "report.md"), directory
	for _, table := range tables {
		file := filepath.Join(guards, table+".md")
		if err := os.WriteFile(file, []byte("x\n"+tableBegins+tableEnds), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-report", report, "-guards", guards, "-writer", "nova-lite", "-endpoint", server.URL + "/bedrock",
		"-recorded", filepath.Join(directory, "recorded")}
	first, second := filepath.Join(directory, "first.json"), filepath.Join(directory, "second.json")
	for _, more := range [][]string{{"-texts", first}, {"-texts", second, "-before", first}} {
		if err := evaluate(t.Context(), append(args, more...)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"This was a dry run", "Writer: `nova-lite`", "pairs: the new text won", "The guards refused"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	// What was recorded is replayed without a network, and a folder without a recording says so.
	server.Close()
	for folder, want := range map[string]string{"recorded": "Writer: `nova-lite`", "empty": "Nothing was recorded"} {
		if err := evaluate(t.Context(), []string{"-report", report, "-guards", guards, "-recorded",
			filepath.Join(directory, folder)}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: the report lacks %q: %v", folder, want, err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(directory, "recorded", "*.json")); err != nil || len(files) < recorded {
		t.Errorf("%d files were recorded, %v", len(files), err)
	}
}
