package main

import "testing"

// TestTheClientsAreThoseOfTheDocument fails if a generated file is stale.
func TestTheClientsAreThoseOfTheDocument(t *testing.T) {
	if err := run("../../..", true); err != nil {
		t.Error(err)
	}
}
