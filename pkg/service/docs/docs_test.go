package docs_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/service/docs"
)

const requestID = "1763812345678-6f9a4e7e"

// builtIn is the handler as it is deployed.
func builtIn() http.Handler {
	return docs.New(docs.Options{JSON: clients.OpenAPIJSON, Assets: docs.Assets()})
}

func call(h http.Handler, method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.Header.Set(docs.RequestIDHeader, requestID)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestOpenAPIDocuments(t *testing.T) {
	for path, want := range map[string]struct {
		kind string
		body []byte
	}{
		"/openapi.json": {"application/json", clients.OpenAPIJSON},
		"/openapi.yaml": {"application/yaml", file(t, "../../../clients/openapi.yaml")},
	} {
		resp := call(builtIn(), http.MethodGet, path)
		if body := bodyOf(t, resp); resp.StatusCode != 200 || !bytes.Equal(body, want.body) ||
			resp.Header.Get("Content-Type") != want.kind {
			t.Errorf("%s: %d %s, %d bytes; want 200 %s, %d bytes", path, resp.StatusCode,
				resp.Header.Get("Content-Type"), len(body), want.kind, len(want.body))
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: tools of other origins may not read it", path)
		}
	}
}

// TestExplorerPage reads the page as a browser does: it takes nothing from
// elsewhere, and all that it takes from here is here.
func TestExplorerPage(t *testing.T) {
	h := builtIn()
	resp := call(h, http.MethodGet, "/api-docs/explorer")
	if resp.StatusCode != 200 {
		t.Fatalf("status %d: is the explorer built in? Run make explorer-assets", resp.StatusCode)
	}
	if kind := resp.Header.Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Errorf("Content-Type %q", kind)
	}
	root, err := html.Parse(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var scripts, large []string
	for n := range root.Descendants() {
		inline := n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style") && n.FirstChild != nil
		if inline {
			t.Errorf("<%s> with content: the policy would not run it", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on") || a.Key == "style":
				t.Errorf("inline %s on <%s>", a.Key, n.Data)
			case strings.Contains(a.Val, "//"):
				t.Errorf("<%s %s=%q> leads to another host", n.Data, a.Key, a.Val)
			case n.Data == "script" && a.Key == "src":
				scripts = append(scripts, a.Val)
			case a.Key == "data-script":
				large = strings.Fields(a.Val)
			}
		}
	}
	if len(scripts) != 2 || len(large) != 2 {
		t.Fatalf("scripts %q, want ours; for a click %q, want the explorer's and its style", scripts, large)
	}
	for _, src := range append(scripts, large[0]) {
		resp := call(h, http.MethodGet, "/api-docs/"+src)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%s: %d %s", src, resp.StatusCode, resp.Header.Get("Content-Type"))
		}
		if caching := resp.Header.Get("Cache-Control"); caching != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", src, caching)
		}
	}
	if !strings.HasPrefix(large[0], "assets/scalar-1.") {
		t.Errorf("%s: want the version in its name", large[0])
	}
	policy := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self';", "connect-src 'self';",
		"font-src 'self' data:;", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	if strings.Contains(policy, "http") || strings.Contains(policy, "*") || strings.Contains(policy, "unsafe-eval") {
		t.Errorf("policy %q allows other hosts or eval", policy)
	}
}

// TestExplorerStartsWithoutOtherHosts looks at the settings in our script that
// keep the explorer to itself.
func TestExplorerStartsWithoutOtherHosts(t *testing.T) {
	h := builtIn()
	page := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/explorer")))
	_, rest, found := strings.Cut(page, "assets/explorer-")
	if !found {
		t.Fatal("the page does not load our script")
	}
	name, _, _ := strings.Cut(rest, `"`)
	script := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/assets/explorer-"+name)))
	for _, want := range []string{"telemetry: false", "withDefaultFonts: false", "agent: { disabled: true }",
		"mcp: { disabled: true }", "hideClientButton: true", "showDeveloperTools: 'never'", "persistAuth: false"} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %q", want)
		}
	}
	for _, not := range []string{"http:", "https:", "proxyUrl", "pluginUrls"} {
		if strings.Contains(script, not) {
			t.Errorf("the script has %q", not)
		}
	}
}

func TestExplorerScriptIsWhole(t *testing.T) {
	h := builtIn()
	page := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/explorer")))
	_, rest, _ := strings.Cut(page, `data-script="assets/scalar-`)
	name, _, _ := strings.Cut(rest, ` `)
	resp := call(h, http.MethodGet, "/api-docs/assets/scalar-"+name)
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("status %d, Content-Encoding %q, want gzip", resp.StatusCode, resp.Header.Get("Content-Encoding"))
	}
	packed := bodyOf(t, resp)
	if limit := 6 << 20 * 3 / 4; len(packed) > limit {
		t.Errorf("%d bytes; as base64 they do not fit into an answer of a function", len(packed))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	script, err := io.ReadAll(z)
	if err != nil || !bytes.Contains(script, []byte("createApiReference")) ||
		!bytes.HasPrefix(script, []byte("/*! @scalar/api-reference "+strings.TrimSuffix(name, ".js")+" ")) {
		t.Errorf("unpacked to %d bytes (%v) that are not the explorer's script", len(script), err)
	}
}

func TestExplorerNotBuiltIn(t *testing.T) {
	h := docs.New(docs.Options{JSON: clients.OpenAPIJSON,
		Assets: fstest.MapFS{"assets/.gitignore": {}}})
	for range 2 {
		resp := call(h, http.MethodGet, "/api-docs/explorer", "If-None-Match", "*")
		if body := string(bodyOf(t, resp)); resp.StatusCode != 503 || !strings.Contains(body, "make explorer-assets") {
			t.Errorf("%d %q, want 503 and what to do", resp.StatusCode, body)
		}
		if resp.Header.Get("Cache-Control") != "no-store" {
			t.Error("the failure may be cached")
		}
	}
	if resp := call(h, http.MethodGet, "/openapi.json"); resp.StatusCode != 200 {
		t.Errorf("/openapi.json: %d, want it served all the same", resp.StatusCode)
	}
}

func TestEnvelopeAnswers(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		status       int
		data         string
		code         string
	}{
		{"GET", "/healthz", 200, `{"status":"ok"}`, ""},
		{"GET", "/api-docs/errors/no_such_code", 404, "null", "unknown_path"},
		{"GET", "/api-docs/guides/..%2fpage.html", 404, "null", "unknown_path"},
		{"POST", "/api-docs/guides/quick-start", 405, "null", "method_not_allowed"},
		{"GET", "/healthz/", 404, "null", "unknown_path"},
		{"GET", "/openapi.json/x", 404, "null", "unknown_path"},
		{"GET", "/api-docs/assets/", 404, "null", "unknown_path"},
		{"GET", "/api-docs/assets/.gitignore", 404, "null", "unknown_path"},
		{"GET", "/api-docs/assets/..%2f..%2fdocs.go", 404, "null", "unknown_path"},
		{"GET", "/api-docs/assets/scalar-0.0.0.js", 404, "null", "unknown_path"},
		{"POST", "/nothing", 404, "null", "unknown_path"},
		{"POST", "/openapi.json", 405, "null", "method_not_allowed"},
		{"DELETE", "/healthz", 405, "null", "method_not_allowed"},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			resp := call(builtIn(), tc.method, tc.path)
			var e struct {
				Data  json.RawMessage
				Error *struct {
					Code, Message, Type string
					DocURL              string `json:"doc_url"`
				}
				RequestID *string `json:"request_id"`
			}
			if err := json.Unmarshal(bodyOf(t, resp), &e); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status || string(e.Data) != tc.data || e.RequestID == nil ||
				*e.RequestID != requestID {
				t.Errorf("%d %+v", resp.StatusCode, e)
			}
			switch {
			case tc.code == "" && e.Error != nil:
				t.Errorf("error %+v, want null", e.Error)
			case tc.code != "" && (e.Error == nil || e.Error.Code != tc.code || e.Error.Message == "" ||
				e.Error.Type != "invalid_request_error" ||
				e.Error.DocURL != "https://example.com/api-docs/errors/"+tc.code):
				t.Errorf("error %+v, want %s", e.Error, tc.code)
			}
			if resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", resp.Header)
			}
			if tc.status == 405 && resp.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("Allow %q", resp.Header.Get("Allow"))
			}
		})
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/", "/api-docs/explorer",
		"/api-docs/guides/webhooks", "/api-docs/errors", "/healthz", "/nothing"} {
		for _, method := range []string{"GET", "HEAD", "PUT"} {
			resp := call(builtIn(), method, path)
			// What has an entity tag may be kept, and is compared before each use.
			caching := "no-store"
			if resp.Header.Get("ETag") != "" {
				caching = "no-cache"
			}
			for name, want := range map[string]string{
				"X-Request-Id": requestID, "X-Content-Type-Options": "nosniff", "Cache-Control": caching,
				"Strict-Transport-Security": "max-age=63072000; includeSubDomains", "X-Frame-Options": "DENY",
				"Referrer-Policy": "no-referrer",
			} {
				if got := resp.Header.Get(name); got != want {
					t.Errorf("%s %s: %s %q, want %q", method, path, name, got, want)
				}
			}
			if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy,
				"frame-ancestors 'none'") {
				t.Errorf("%s %s: policy %q", method, path, policy)
			}
			if body := bodyOf(t, resp); method == "HEAD" &&
				!bytes.Equal(body, bodyOf(t, call(builtIn(), http.MethodGet, path))) {
				t.Errorf("HEAD %s is answered other than GET, so that the gateway tells another length", path)
			}
		}
	}
}

func TestNotModified(t *testing.T) {
	h := builtIn()
	for _, path := range []string{"/openapi.json", "/openapi.yaml", "/api-docs/explorer", "/api-docs/errors/timeout"} {
		etag := call(h, http.MethodGet, path).Header.Get("ETag")
		if len(etag) < 10 || etag[0] != '"' {
			t.Fatalf("%s: ETag %q", path, etag)
		}
		// A browser sends the tag only if it may keep the page.
		for _, sent := range []string{"", etag} {
			if got := call(h, http.MethodGet, path, "If-None-Match", sent).Header.Get("Cache-Control"); got != "no-cache" {
				t.Errorf("%s: Cache-Control %q", path, got)
			}
		}
		for sent, want := range map[string]int{
			etag: 304, "W/" + etag: 304, `"a", ` + etag: 304, "*": 304,
			`"a"`: 200, "W/": 200, strings.Trim(etag, `"`): 200, "": 200,
		} {
			resp := call(h, http.MethodGet, path, "If-None-Match", sent)
			body := bodyOf(t, resp)
			if resp.StatusCode != want || (want == 304) != (len(body) == 0) || resp.Header.Get("ETag") != etag {
				t.Errorf("%s with If-None-Match %q: %d, %d bytes, ETag %q; want %d", path, sent, resp.StatusCode,
					len(body), resp.Header.Get("ETag"), want)
			}
		}
	}
	changed := docs.New(docs.Options{JSON: []byte("{}"), Assets: docs.Assets()})
	if a, b := call(h, "GET", "/openapi.json").Header.Get("ETag"),
		call(changed, "GET", "/openapi.json").Header.Get("ETag"); a == b {
		t.Error("another document has the same ETag")
	}
}

// file returns the content of a file.
func file(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
