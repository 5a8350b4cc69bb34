package main

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// The tables are beside the tests; the page has the summary.
const (
	tables = "testdata/tables.md"
	page   = "../../docs/measured.md"
)

// whole are the counts of the command. They are made before all tests, as the command makes them first: what a process
// remembers of an earlier world would change the ids, and with them the sizes of compressed records.
var whole struct {
	measured
	err error
}

// counts returns the counts of the command.
func counts(t *testing.T) measured {
	t.Helper()
	if whole.err != nil {
		t.Fatal(whole.err)
	}
	return whole.measured
}

func TestTheDocumentHasWhatTheCommandCounts(t *testing.T) {
	report, err := counts(t).report()
	if err != nil {
		t.Fatal(err)
	}
	if len(report) != len(sections) {
		t.Errorf("%d sections of %v and a summary", len(report), sections)
	}
	for name, text := range report {
		path := tables
		if name == summary {
			path = page
		}
		document, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := replace(string(document), name, text)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		is, wanted := strings.Split(string(document), "\n"), strings.Split(want, "\n")
		for i, line := range wanted {
			if i >= len(is) || is[i] != line {
				t.Errorf("%s is out of date from line %d, which is\n%s\nRun make measure "+
					"ONLY=units,cost,scale,standing.", path, i+1, line)
				break
			}
		}
	}
}

// TestTablesNameFunctionsOfTheTopology checks that the functions that tables name are deployed.
func TestTablesNameFunctionsOfTheTopology(t *testing.T) {
	known := func(name string) bool {
		return slices.ContainsFunc(topology.Functions, func(f topology.Function) bool { return f.Name == name })
	}
	document, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, pattern := range []string{
		`(?m)^\| \w+ \| ([\w-]+) \| \d \+ \d+ \+ \d \|`, // operations
		"The concurrency of a queue of `([\\w-]+)`",
	} {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(document), -1) {
			if found++; !known(m[1]) {
				t.Errorf("there is no function %s", m[1])
			}
		}
	}
	if least := len(counts(t).operations); found <= least {
		t.Errorf("%d names are checked, of more than %d", found, least)
	}
	for _, f := range counts(t).generations {
		for name := range f.whole.runs {
			if !known(name) {
				t.Errorf("there is no function %s", name)
			}
		}
	}
}

func TestReplaceLeavesTheRest(t *testing.T) {
	document := "# Measured\n\n<!-- make measure: cost -->\nold\n<!-- end of cost -->\n\nWhy.\n"
	want := "# Measured\n\n<!-- make measure: cost -->\n\n| new |\n\n<!-- end of cost -->\n\nWhy.\n"
	for range 2 { // The second time changes nothing.
		var err error
		if document, err = replace(document, "cost", "| new |\n"); err != nil || document != want {
			t.Fatalf("%q, %v", document, err)
		}
	}
	for _, text := range []string{"# Measured\n", "<!-- make measure: cost -->\n",
		"<!-- end of cost -->\n<!-- make measure: cost -->\n"} {
		if _, err := replace(text, "cost", "x"); err == nil {
			t.Errorf("%q has a place", text)
		}
	}
}

func TestAnUnknownSectionIsRefused(t *testing.T) {
	err := run(context.Background(), []string{"-only", "cost,speed"}, os.Stdout)
	if err == nil || !strings.Contains(err.Error(), `"speed"`) {
		t.Errorf("got %v", err)
	}
}
