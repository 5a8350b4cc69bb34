package safehttp

import "testing"

// TestRooted is an internal test because the effect of a missing dot depends on the search domains of the machine.
func TestRooted(t *testing.T) {
	for host, want := range map[string]string{
		"hooks.acme.dev": "hooks.acme.dev.",
		"localhost":      "localhost",
		"127.0.0.1":      "127.0.0.1",
		"::1":            "::1",
	} {
		if got := rootName(host); got != want {
			t.Errorf("rooted(%q) = %q, want %q", host, got, want)
		}
	}
}
