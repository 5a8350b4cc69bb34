package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/local/system"
)

func TestAMissingEngineIsASentence(t *testing.T) {
	if got, want := sentence(fmt.Errorf("starting: %w", system.ErrNoEngine)),
		"SAM runs functions in containers, and no Docker engine answers: start Docker, or use `make stack`, which "+
			"needs none."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := sentence(errors.New("node is not installed")); got != "Error: node is not installed" {
		t.Errorf("got %q", got)
	}
}

func TestUnknownCommand(t *testing.T) {
	if err := command(t.Context(), []string{"walk"}); err == nil || !strings.Contains(err.Error(), `"walk"`) {
		t.Errorf("got %v", err)
	}
	if err := command(t.Context(), []string{"build", "-arch", "mips"}); err == nil ||
		!strings.Contains(err.Error(), "mips") {
		t.Errorf("got %v", err)
	}
}
