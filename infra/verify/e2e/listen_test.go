//go:build !deployed

package e2e

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestListen runs the command that forwards events to a developer's machine without a webhook.
func TestListen(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	hooks := newReceiver(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	program := filepath.Join(t.TempDir(), "cli")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program,
		"../../../clients/cli").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(ctx, program, "listen", "--forward-to", hooks.URL+"/hooks", "--events", "content.*")
	cmd.Env = append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+key)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	secret := ""
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "Forwarding the events") {
		if s, ok := strings.CutPrefix(lines.Text(), "Signing secret: "); ok {
			secret = s
		}
	}
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe",
	}), http.StatusAccepted)
	if !lines.Scan() || !strings.Contains(lines.Text(), "content.generated") ||
		!strings.Contains(lines.Text(), item.ID+"  204  ") {
		t.Fatalf("printed: %q, %v", lines.Text(), lines.Err())
	}
	sent := hooks.about(item.ID)
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil || len(sent) != 1 {
		t.Fatalf("%d requests, secret: %v", len(sent), err)
	}
	if err := verifier.Verify(sent[0].body, sent[0].header); err != nil {
		t.Error(err)
	}
	if e := sent[0].event; e.Type != "content.generated" || e.AccountID != c.id || len(e.Data.Object.Media) != 2 {
		t.Errorf("%+v", e)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("printed after Ctrl-C: %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended by Ctrl-C with %v", err)
	}
}
