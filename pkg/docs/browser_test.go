//go:build explorer

package docs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/docs"
)

// browser finds Chromium. Without one the check fails: it was asked for.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Fatal("no Chromium found: install it (on Debian: apt-get install chromium), or set CHROMIUM to its path")
	return ""
}

// summaries returns those of all operations and webhooks of a document, which are
// the lines of the explorer's sidebar, and that of GET /v1/me.
func summaries(t *testing.T, document []byte) (all []string, me string) {
	t.Helper()
	var d struct {
		Paths, Webhooks map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	for _, group := range []map[string]map[string]json.RawMessage{d.Paths, d.Webhooks} {
		for path, item := range group {
			for method, operation := range item {
				if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
					continue
				}
				var o struct{ Summary string }
				if err := json.Unmarshal(operation, &o); err != nil || o.Summary == "" {
					t.Errorf("%s %s has no summary (%v)", method, path, err)
				}
				all = append(all, o.Summary)
				if path == "/v1/me" && method == "get" {
					me = o.Summary
				}
			}
		}
	}
	slices.Sort(all)
	return all, me
}

// TestExplorerInChromium uses the explorer as a developer does: it looks at the
// operations, pastes a key and tries one. At the root, and below the path of a
// gateway's stage.
func TestExplorerInChromium(t *testing.T) {
	chromium := browser(t)
	small, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, prefix string
		document     []byte
	}{
		{"small document", "", small},
		{"below a stage", "/stage", small},
		{"document of the API", "", clients.OpenAPIJSON},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var mu sync.Mutex
			var keys, paths []string
			pages := docs.New(docs.Options{JSON: tc.document, YAML: clients.OpenAPIYAML})
			srv := httptest.NewServer(http.StripPrefix(tc.prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/me" {
					pages.ServeHTTP(w, r)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				keys, paths = append(keys, r.Header.Get("Authorization")), append(paths, r.URL.Path)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"data":{"name":"Account of the pasted key"},"error":null,"request_id":"r-1"}`)
			})))
			defer srv.Close()

			pictures := filepath.Join("..", "..", ".local", "explorer", strings.ReplaceAll(tc.name, " ", "-"))
			if err := os.MkdirAll(pictures, 0o755); err != nil {
				t.Fatal(err)
			}
			want, me := summaries(t, tc.document)
			args := append([]string{"browser/check.mjs", chromium, srv.URL + tc.prefix + "/api-docs/explorer", pictures, me}, want...)
			cmd := exec.CommandContext(t.Context(), "node", args...)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("node: %v", err)
			}
			var seen struct {
				Elsewhere, Complaints, Missing []string
				Response, Stored, Kept         string
				Milliseconds                   int
			}
			if err := json.Unmarshal(out, &seen); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, url := range seen.Elsewhere {
				t.Errorf("the page asked another host: %s", url)
			}
			for _, complaint := range seen.Complaints {
				t.Errorf("the browser complains: %s", complaint)
			}
			for _, summary := range seen.Missing {
				t.Errorf("not shown: %q", summary)
			}
			if !strings.Contains(seen.Response, "Account of the pasted key") {
				t.Errorf("the answer is not shown: %q", seen.Response)
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(keys, []string{"Bearer svc_test_pasted"}) {
				t.Errorf("the API was called at %q with %q, want once with the pasted key", paths, keys)
			}
			if strings.Contains(seen.Stored, "svc_test_pasted") || seen.Kept != "" {
				t.Errorf("the key stays in the browser: stored %q, after a reload %q", seen.Stored, seen.Kept)
			}
			t.Logf("%d operations shown %d ms after the first request; pictures in %s", len(want), seen.Milliseconds, pictures)
		})
	}
}
