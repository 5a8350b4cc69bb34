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

// The table is that of the texts.
func TestTheTableOfUnseenTextsIsCurrent(t *testing.T) {
	table, err := unseenReport()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("testdata/unseen.md")
	if err != nil || !strings.Contains(string(got), tableBegins+table+tableEnds) {
		t.Errorf("run make evaluate: testdata/unseen.md is not current: %v", err)
	}
}
