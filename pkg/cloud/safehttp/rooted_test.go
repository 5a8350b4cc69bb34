package safehttp

import "testing"

// TestRooted looks inside because what a missing dot would do depends on the
// search domains of the machine.
func TestRooted(t *testing.T) {
	for host, want := range map[string]string{
		"hooks.acme.dev": "hooks.acme.dev.",
		"localhost":      "localhost",
		"127.0.0.1":      "127.0.0.1",
		"::1":            "::1",
	} {
		if got := rooted(host); got != want {
			t.Errorf("rooted(%q) = %q, want %q", host, got, want)
		}
	}
}
