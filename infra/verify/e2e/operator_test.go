//go:build deployed

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// TestTheOperatorSeesAllDeadLetters runs the operator's command as in docs/operating.md, with
// the environment that `make run` writes.
func TestTheOperatorSeesAllDeadLetters(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "run", "../../operate/admin", "dead-letters", "list")
	cmd.Env = append(os.Environ(), strings.Fields(running.Environment())...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range topology.DeadLetters() {
		if !strings.Contains("\n"+string(out), "\n"+name+": ") {
			t.Errorf("%s is not in\n%s", name, out)
		}
	}
}
