//go:build !deployed

package e2e

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestTheRequestsForZapierAndMake runs the requests of the guide in a shell, in their order and unchanged.
func TestTheRequestsForZapierAndMake(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "pkg", "service", "docs", "guides", "zapier-and-make.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 7 {
		t.Fatalf("the guide has %d requests", len(blocks))
	}
	c := newCustomer(t)
	var mu sync.Mutex
	var hooks strings.Builder
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		hooks.Write(body)
	}))
	t.Cleanup(hook.Close)
	heard := func(text string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(hooks.String(), text)
		}
	}
	last := len(blocks) - 1
	state := filepath.Join(t.TempDir(), "state")
	env := append(os.Environ(), "BASE_URL="+running.BaseURL, "SVC_API_KEY="+c.test.Secret, "HOOK_URL="+hook.URL,
		"FACTORY="+c.factory(c.test.Secret))
	// run runs a request; the variables that it sets are there for the next.
	run := func(request string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", "-eu", "-o", "pipefail")
		cmd.Env = env
		cmd.Stdin = strings.NewReader("[ ! -e " + state + " ] || . " + state + "\n" + request +
			"\ndeclare -p WEBHOOK ITEM > " + state + " 2>/dev/null || true\n")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), `"error":{`) {
			t.Fatalf("%s: %v, %s", request, err, out)
		}
		return string(out)
	}
	for i, b := range blocks[:last] {
		out := run(b[1])
		if strings.Contains(b[1], "/test ") {
			poll.Until(t, "the sample comes", heard(`"type":"content.generated"`))
		}
		if i == last-1 && !strings.Contains(out, `"kind":"post"`) {
			t.Errorf("the item is not read: %s", out)
		}
	}
	poll.Until(t, "the event comes", heard(`"row":"1"`))
	if out := run(blocks[4][1] + "echo $ITEM"); !strings.HasPrefix(out, "cnt_") {
		t.Errorf("the step repeated: %s", out)
	}
	items := into[[]madeItem](call(t, c.test.Secret, "GET", "/v1/content-items", nil), http.StatusOK)
	if len(items) != 1 {
		t.Errorf("the repeated step made %d items", len(items))
	}
	run(blocks[last][1])
	if left := into[[]object](call(t, c.test.Secret, "GET", "/v1/webhooks", nil), http.StatusOK); len(left) != 0 {
		t.Errorf("webhooks are left: %v", left)
	}
}
