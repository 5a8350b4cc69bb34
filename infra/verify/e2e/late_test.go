//go:build !deployed

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestQuickStartWithALateReceiver checks that the quick start waits for its receiver.
func TestQuickStartWithALateReceiver(t *testing.T) {
	t.Parallel()
	late := filepath.Join(t.TempDir(), "late")
	if err := os.WriteFile(late, []byte("#!/bin/sh\nsleep 40\nexec "+buildReceiver(t)+` "$@"`+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	quickStart(t, newCustomer(t), late, freePort(t))
}
