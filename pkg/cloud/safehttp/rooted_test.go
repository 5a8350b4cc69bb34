package safehttp_test

import (
	"testing"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

// The effect of a missing dot depends on the search domains of the machine.
func TestRooted(t *testing.T) {
	for host, want := range map[string]string{
		"hooks.acme.dev": "hooks.acme.dev.",
		"localhost":      "localhost",
		"127.0.0.1":      "127.0.0.1",
		"::1":            "::1",
	} {
		if got := safehttp.RootName(host); got != want {
			t.Errorf("rooted(%q) = %q, want %q", host, got, want)
		}
	}
}
