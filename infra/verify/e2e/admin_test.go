//go:build !deployed

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// admin runs the operator's command, and returns its output.
func admin(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "../../operate/admin"}, args...)...)
	cmd.Env = append(os.Environ(), strings.Fields(running.Environment())...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
