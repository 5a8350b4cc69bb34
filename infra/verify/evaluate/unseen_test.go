package main

import (
	"os"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/craft/guard"
)

// The least part of the unseen faults that is caught, in percent. No clean text is refused.
const leastCaught = 85

// The guards refuse no clean text that they were not written with, and most of the faults.
func TestTheGuardsOnUnseenTexts(t *testing.T) {
	all, err := readAnswers(unseen)
	if err != nil {
		t.Fatal(err)
	}
	caught, faults, good := 0, 0, map[string]int{}
	for _, v := range verdictsOf(all) {
		switch {
		case v.good():
			if good[v.file]++; v.refused() {
				t.Errorf("%s:%d is refused: %s\n%s", v.file, v.line, guard.Reasons(v.found), v.text)
			}
		default:
			if faults++; v.refused() {
				caught++
			}
		}
	}
	if 100*caught < leastCaught*faults {
		t.Errorf("%d of %d faults are caught", caught, faults)
	}
	if faults < 300 || len(good) < 18 {
		t.Errorf("there are %d faults in %d languages", faults, len(good))
	}
}

// The guards catch at least four of five faults that were written before their rules, and hold at most one of 40 clean
// texts.
func TestTheGuardsOnKindsOfFaults(t *testing.T) {
	all, err := readAnswers(kinds)
	if err != nil {
		t.Fatal(err)
	}
	caught, faults, held, good := 0, map[string]int{}, 0, 0
	for _, v := range verdictsOf(all) {
		switch {
		case !v.good():
			if faults[v.file]++; v.refused() {
				caught++
			}
		default:
			if good++; v.refused() {
				held++
			}
		}
	}
	n := 0
	for _, of := range faults {
		n += of
	}
	if n < 240 || good < 240 || len(faults) < 18 {
		t.Fatalf("there are %d faults in %d languages and %d clean texts", n, len(faults), good)
	}
	if 5*caught < 4*n || 40*held > good {
		t.Errorf("%d of %d faults are caught, and %d of %d clean texts held", caught, n, held, good)
	}
}

// A fact of an input in another language is held in at most 2 of 80 texts.
func TestTheGuardsOnFactsInAnotherLanguage(t *testing.T) {
	all, err := readAnswers(translated)
	if err != nil {
		t.Fatal(err)
	}
	held := []string{}
	for _, v := range verdictsOf(all) {
		if v.refused() {
			held = append(held, v.text+": "+guard.Reasons(v.found))
		}
	}
	if len(all) < 80 || 40*len(held) > len(all) {
		t.Errorf("%d of %d are held:\n%s", len(held), len(all), strings.Join(held, "\n"))
	}
}

// The tables are those of the texts.
func TestTheTablesOfUnseenTextsAreCurrent(t *testing.T) {
	for _, directory := range tables {
		table, err := tableOf(directory)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("testdata/" + directory + ".md")
		if err != nil || !strings.Contains(string(got), tableBegins+table+tableEnds) {
			t.Errorf("run make evaluate: testdata/%s.md is not current: %v", directory, err)
		}
	}
}
