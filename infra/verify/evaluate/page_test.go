package main

import (
	"strings"
	"testing"
)

func TestThePageHasTenTextsOfEachType(t *testing.T) {
	got, err := page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for of := range channels {
		_, rest, _ := strings.Cut(got, "## "+of+"\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		if n := strings.Count(rest, "\n### "); n != 10 {
			t.Errorf("%s has %d texts", of, n)
		}
	}
}
