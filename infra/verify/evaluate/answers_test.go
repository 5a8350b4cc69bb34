package main

import (
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/craft/guard"
)

// All planted faults are caught, for the right reason, and no good answer is refused.
func TestTheGuardsCatchPlantedFaultsAndNothingElse(t *testing.T) {
	all, err := readAnswers(seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdictsOf(all) {
		switch {
		case v.good() && len(v.found) > 0:
			t.Errorf("%s:%d (%s) is refused: %s\n%s", v.file, v.line, v.brief, guard.Reasons(v.found), v.text)
		case !v.good() && !v.caught():
			t.Errorf("%s:%d (%s) passes with %s %q: %q\n%s", v.file, v.line, v.brief, v.code, v.part,
				guard.Reasons(v.found), v.text)
		}
	}
}

// A planted fault is the only fault of its answer: other findings would be wrong.
func TestAPlantedFaultIsFoundAlone(t *testing.T) {
	all, err := readAnswers(seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdictsOf(all) {
		for _, f := range v.found {
			if promised := f.Kind == "promise" || f.Kind == "superlative"; promised && v.code == guard.Forbidden {
				continue // a channel may forbid the words of a promise
			}
			if !v.good() && f.Code != v.code {
				t.Errorf("%s:%d has %s, and is refused for: %s", v.file, v.line, v.code, f)
			}
		}
	}
}

// The answers cover each guard in each of at least six languages, with as many good ones as faults.
func TestTheAnswersCoverTheGuards(t *testing.T) {
	all, err := readAnswers(seen)
	if err != nil {
		t.Fatal(err)
	}
	good, faults := map[string]int{}, map[string]int{}
	texts := map[string]bool{}
	codes := map[string][]guard.Code{}
	for _, a := range all {
		if texts[a.text] || a.text == "" {
			t.Errorf("%s:%d is empty or written twice", a.file, a.line)
		}
		if texts[a.text] = true; a.good() {
			good[a.file]++
			continue
		}
		faults[a.file]++
		codes[a.file] = append(codes[a.file], a.code)
	}
	if len(good) < 6 {
		t.Errorf("there are %d languages", len(good))
	}
	sumGood, sumFaults := 0, 0
	for file := range good {
		sumGood, sumFaults = sumGood+good[file], sumFaults+faults[file]
		for _, code := range guard.Codes() {
			if code != guard.Flagged && !slices.Contains(codes[file], code) {
				t.Errorf("%s has no answer with %s", file, code)
			}
		}
	}
	if sumFaults < 200 || sumGood < sumFaults {
		t.Errorf("there are %d good answers, and %d with a fault", sumGood, sumFaults)
	}
}
