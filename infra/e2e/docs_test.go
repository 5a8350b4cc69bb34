package e2e

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
)

// get reads a path without a key.
func get(t *testing.T, path string) (*http.Response, []byte) {
	t.Helper()
	return ask(t, http.MethodGet, path)
}

// ask makes a call without a key and returns the answer as it is.
func ask(t *testing.T, method, path string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, running.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// TestPublicPages reads what needs no key.
func TestPublicPages(t *testing.T) {
	for path, want := range map[string]struct {
		kind string
		body []byte
	}{
		"/openapi.json":      {"application/json", clients.OpenAPIJSON},
		"/openapi.yaml":      {"yaml", clients.OpenAPIYAML},
		"/api-docs/explorer": {"text/html", nil},
		"/healthz":           {"application/json", nil},
	} {
		resp, body := get(t, path)
		if resp.StatusCode != http.StatusOK || !strings.Contains(resp.Header.Get("Content-Type"), want.kind) || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
		if want.body != nil && !bytes.Equal(body, want.body) {
			t.Errorf("%s is not the committed document", path)
		}
		head, nothing := ask(t, http.MethodHead, path)
		if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != resp.Header.Get("Content-Type") || len(nothing) > 0 || head.ContentLength != int64(len(body)) {
			t.Errorf("HEAD %s: %d %v, %d bytes", path, head.StatusCode, head.Header, len(nothing))
		}
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			refused, body := ask(t, method, path)
			if refused.StatusCode != http.StatusMethodNotAllowed || refused.Header.Get("Allow") != "GET, HEAD" || !bytes.Contains(body, []byte(`"method_not_allowed"`)) {
				t.Errorf("%s %s: %d %v %s", method, path, refused.StatusCode, refused.Header, body)
			}
		}
	}
	_, page := get(t, "/api-docs/explorer")
	_, rest, _ := strings.Cut(string(page), `src="`)
	script, _, ok := strings.Cut(rest, `"`)
	if !ok || strings.Contains(script, "//") {
		t.Fatalf("the explorer loads %q", script)
	}
	if !strings.HasPrefix(script, "/") {
		script = "/api-docs/" + strings.TrimPrefix(script, "./")
	}
	if resp, body := get(t, script); resp.StatusCode != http.StatusOK || len(body) < 1<<20 || !strings.Contains(resp.Header.Get("Content-Type"), "javascript") {
		t.Errorf("%s: %d, %d bytes, %v", script, resp.StatusCode, len(body), resp.Header)
	}
}
