package main

import "testing"

// A figure gets better, or stays: who lowers one lowers its bound too.
func TestFigures(t *testing.T) {
	s, err := read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		switch n := f.count(s); {
		case n > f.bound:
			t.Errorf("%s: %d, more than %d", f.name, n, f.bound)
		case n == 0 && f.aim > 0:
			t.Errorf("%s: nothing is counted", f.name)
		case f.bound < f.aim:
			t.Errorf("%s: the bound %d is below the aim", f.name, f.bound)
		}
	}
}
