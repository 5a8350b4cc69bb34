package main

import (
	"testing"

	"github.com/content-automation/api/pkg/craft/guard"
)

// The time of one check, as an average of the answers with their briefs.
func BenchmarkGuards(b *testing.B) {
	all, err := readAnswers(seen)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		a := all[i%len(all)]
		guard.Check(a.fields(), a.Rules)
	}
}
