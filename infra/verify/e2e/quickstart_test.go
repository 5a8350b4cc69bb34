package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

// TestQuickStart runs the README's quick start in a shell, line by line and unchanged, except for the file of the keys
// and the receiver's port. It must succeed again when it is repeated.
func TestQuickStart(t *testing.T) {
	c, port, receiver := newCustomer(t), freePort(t), buildReceiver(t)
	for range 2 {
		quickStart(t, c, receiver, port)
	}
}

// buildReceiver builds the receiver of the quick start, as `make run` does.
func buildReceiver(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "receiver")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", file, "../../../testdata/receiver").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// quickStart runs the quick start with a receiver on a port.
func quickStart(t *testing.T, c *customer, receiver, port string) {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```sh\n. .local/env\n")
	script, _, ended := strings.Cut(rest, "```")
	if !found || !ended || !strings.Contains(script, ".local/bin/receiver") {
		t.Fatal("the README has no quick start")
	}
	env := filepath.Join(t.TempDir(), "env")
	keys := fmt.Sprintf("BASE_URL=%s\nSVC_TEST_KEY=%s\nSVC_LIVE_KEY=%s\n", running.BaseURL, c.test.Secret,
		c.live.Secret)
	if err := os.WriteFile(env, []byte(keys), 0o600); err != nil {
		t.Fatal(err)
	}
	script = strings.ReplaceAll(script, "127.0.0.1:9090", "127.0.0.1:"+port)
	script = strings.ReplaceAll(script, ".local/bin/receiver", receiver+" -listen 127.0.0.1:"+port)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-eu")
	cmd.Stdin = strings.NewReader(". " + env + "\n" + script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	verified := regexp.MustCompile(
		`Verified: content\.generated about cnt_\w+ \(.+\)\n  image/jpeg (\S+)\n`).FindSubmatch(out)
	if verified == nil {
		t.Fatalf("it ended with:\n%s", out)
	}
	resp, err := http.Get(string(verified[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("the picture: %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := web.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}
