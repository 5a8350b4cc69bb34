package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
)

// get reads a path without a key.
func get(t *testing.T, path string) (*http.Response, []byte) {
	t.Helper()
	return ask(t, http.MethodGet, path)
}

// ask makes a call with only the given headers, and returns the response unchanged.
func ask(t *testing.T, method, path string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, running.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
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

// TestResponsesAreCompressed requests the document and a list with and without support for
// gzip.
func TestResponsesAreCompressed(t *testing.T) {
	c := newCustomer(t)
	for path, least := range map[string]int{"/openapi.json": 5, "/openapi.yaml": 5, "/v1/catalog/models": 3} {
		fetch := func(accept string) (*http.Response, []byte) {
			// With this header set, the client does not decompress the body.
			resp, body := ask(t, http.MethodGet, path, "Accept-Encoding", accept, "Authorization",
				"Bearer "+c.test.Secret)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %d, %v", path, resp.StatusCode, resp.Header)
			}
			return resp, body
		}
		plain, whole := fetch("identity")
		packed, small := fetch("gzip")
		if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %v, %v", path, plain.Header, packed.Header)
		}
		t.Logf("%s: %d bytes, %d compressed", path, len(whole), len(small))
		if least*len(small) > len(whole) {
			t.Errorf("%s: %d bytes of %d", path, len(small), len(whole))
		}
		r, err := gzip.NewReader(bytes.NewReader(small))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		withoutID := regexp.MustCompile(`"request_id":"[^"]*"`)
		if !bytes.Equal(withoutID.ReplaceAll(unpacked, nil), withoutID.ReplaceAll(whole, nil)) {
			t.Errorf("%s differs when it is compressed", path)
		}
	}
}

// TestPublicPages reads the pages that need no key.
func TestPublicPages(t *testing.T) {
	for path, want := range map[string]struct {
		kind string
		body []byte
	}{
		"/openapi.json":      {"application/json", clients.OpenAPIJSON},
		"/openapi.yaml":      {"yaml", nil},
		"/api-docs/explorer": {"text/html", nil},
		"/":                  {"text/html", nil},

		"/api-docs/reference":               {"text/html", nil},
		"/api-docs/reference/createFactory": {"text/html", nil},
		"/api-docs/search?q=webhook":        {"text/html", nil},
		"/robots.txt":                       {"text/plain", nil},
		"/sitemap.xml":                      {"application/xml", nil},

		"/llms.txt":                             {"text/markdown", nil},
		"/llms-full.txt":                        {"text/markdown", nil},
		"/api-docs/guides/quick-start.md":       {"text/markdown", nil},
		"/api-docs/guides/quick-start":          {"text/html", nil},
		"/api-docs/errors":                      {"text/html", nil},
		"/api-docs/errors/insufficient_balance": {"text/html", nil},

		"/healthz": {"application/json", nil},
	} {
		resp, body := get(t, path)
		if resp.StatusCode != http.StatusOK || !strings.Contains(resp.Header.Get("Content-Type"), want.kind) ||
			resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
		if want.body != nil && !bytes.Equal(body, want.body) {
			t.Errorf("%s is not the committed document", path)
		}
		head, nothing := ask(t, http.MethodHead, path)
		if head.StatusCode != http.StatusOK || head.Header.Get("Content-Type") != resp.Header.Get("Content-Type") ||
			len(nothing) > 0 || head.ContentLength != int64(len(body)) {
			t.Errorf("HEAD %s: %d %v, %d bytes", path, head.StatusCode, head.Header, len(nothing))
		}
		for _, method := range []string{http.MethodPost, http.MethodOptions} {
			refused, body := ask(t, method, path)
			if refused.StatusCode != http.StatusMethodNotAllowed || refused.Header.Get("Allow") != "GET, HEAD" ||
				!bytes.Contains(body, []byte(`"method_not_allowed"`)) {
				t.Errorf("%s %s: %d %v %s", method, path, refused.StatusCode, refused.Header, body)
			}
		}
	}
	for path, want := range map[string]string{"/docs": "/api-docs/reference", "/api-docs": "/api-docs/reference",
		"/docs/errors": "/api-docs/errors", "/search?q=keys": "/api-docs/search"} {
		if resp, _ := get(t, path); resp.StatusCode != http.StatusOK || resp.Request.URL.Path != want {
			t.Errorf("%s leads to %s: %d", path, resp.Request.URL, resp.StatusCode)
		}
	}
	// A browser gets a page for a path that there is not, but below /v1.
	for path, kind := range map[string]string{"/nothing": "text/html", "/docs/nothing": "text/html",
		"/v1/nothing": "application/json"} {
		resp, body := ask(t, http.MethodGet, path, "Accept", "text/html,*/*;q=0.8")
		if path != "/v1/nothing" && resp.StatusCode != http.StatusNotFound ||
			!strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %v %s", path, resp.StatusCode, resp.Header, body)
		}
	}
	_, page := get(t, "/api-docs/explorer")
	_, rest, _ := strings.Cut(string(page), `data-script="`)
	script, _, ok := strings.Cut(rest, ` `)
	if !ok || strings.Contains(script, "//") {
		t.Fatalf("the explorer loads %q", script)
	}
	if !strings.HasPrefix(script, "/") {
		script = "/api-docs/" + strings.TrimPrefix(script, "./")
	}
	if resp, body := get(t, script); resp.StatusCode != http.StatusOK || len(body) < 1<<20 ||
		!strings.Contains(resp.Header.Get("Content-Type"), "javascript") {
		t.Errorf("%s: %d, %d bytes, %v", script, resp.StatusCode, len(body), resp.Header)
	}
}

// TestErrorsNameTheirPage follows the doc_url of errors that functions, the authorizer, the
// gateway and the pages return.
func TestErrorsNameTheirPage(t *testing.T) {
	c := newCustomer(t)
	for _, made := range []struct{ key, method, path, code string }{
		{c.test.Secret, "POST", "/v1/factories", "validation_failed"},
		{c.test.Secret, "GET", "/v1/nothing", "unknown_path"},
		{"svc_test_x", "GET", "/v1/me", "invalid_api_key"},
		{"", "GET", "/v1/me", "missing_api_key"},
		{"", "GET", "/nothing", "unknown_path"},
		{"", "POST", "/healthz", "method_not_allowed"},
	} {
		_, body := fetch(t, made.key, made.method, made.path, map[string]string{"POST": "{}"}[made.method])
		var envelope struct {
			Error struct {
				Code   string
				DocURL string `json:"doc_url"`
			}
		}
		if err := json.Unmarshal([]byte(body), &envelope); err != nil {
			t.Fatal(err)
		}
		url := envelope.Error.DocURL
		if want := running.BaseURL + "/api-docs/errors/" + made.code; envelope.Error.Code != made.code || url != want {
			t.Errorf("%s %s: %s names %q, want %q", made.method, made.path, envelope.Error.Code, url, want)
			continue
		}
		if resp, page := get(t, strings.TrimPrefix(url, running.BaseURL)); resp.StatusCode != http.StatusOK ||
			!bytes.Contains(page, []byte(made.code)) {
			t.Errorf("%s: %d", url, resp.StatusCode)
		}
	}
}
