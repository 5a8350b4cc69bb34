package main

import (
	"slices"
	"testing"
)

// Each planted fault of a reply is found, alone, and no good reply has one. There is a planted one of each fault.
func TestFaultsOfTheArchitectAreFound(t *testing.T) {
	all, err := readReplies()
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]int{}
	for _, r := range all {
		want := []string{}
		if r.fault != "" {
			want = append(want, r.fault)
		}
		if found := r.faults(); !slices.Equal(append([]string{}, found...), want) {
			t.Errorf("%s:%d has %v, want %v:\n%s", r.file, r.line, found, want, r.text)
		}
		planted[r.fault]++
	}
	for _, fault := range []string{"", faultAsks, faultFigures, faultPlaceholder, faultForm, faultDone} {
		if planted[fault] < 2 {
			t.Errorf("there are %d replies with the fault %q", planted[fault], fault)
		}
	}
}
