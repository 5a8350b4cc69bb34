package main

import (
	"os"
	"strings"
	"testing"
)

// The page has ten texts of each type, and is that of the present prompts.
func TestThePageIsThatOfThePrompts(t *testing.T) {
	got, err := page(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for of, part := range map[string]string{"blogger": "## blogger\n", "musician": "## musician\n"} {
		_, rest, _ := strings.Cut(got, part)
		rest, _, _ = strings.Cut(rest, "\n## ")
		if n := strings.Count(rest, "\n### "); n != 10 {
			t.Errorf("%s has %d texts", of, n)
		}
	}
	written, err := os.ReadFile("../../../../docs/prompts.md")
	if err != nil || string(written) != got {
		t.Errorf("docs/prompts.md is old: make prompts-page writes it (%v)", err)
	}
}
