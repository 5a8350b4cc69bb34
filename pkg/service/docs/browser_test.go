//go:build explorer

package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/service/docs"
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

// summaries returns the texts of the explorer's sidebar: the summaries of all operations, the names of all events,
// and the summary of GET /v1/me.
func summaries(t *testing.T, document []byte) (all []string, me string) {
	t.Helper()
	var d struct {
		Paths    map[string]map[string]json.RawMessage
		Webhooks map[string]any
	}
	if err := json.Unmarshal(document, &d); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.Paths {
		for method, operation := range item {
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
	all = slices.AppendSeq(all, maps.Keys(d.Webhooks))
	slices.Sort(all)
	return all, me
}

// seen is the report of the check in the browser.
type seen struct {
	Elsewhere, Complaints, Missing, Violations []string
	// Painted are the milliseconds until a page has content, and Early the pages that load the explorer unasked.
	Painted map[string]int
	Early   []string
	Chosen  []string // the languages of the tabs of other pages
	Tried   string
	Reached string

	Response, Found, Payload string
	Kept, OtherTab, Stored   string // where the key is
	Samples                  map[string]string
	Milliseconds             int
}

// use opens the pages in the browser.
func use(t *testing.T, chromium, address, pictures string, document []byte, whole bool) (s seen) {
	t.Helper()
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	want, me := summaries(t, document)
	args := append([]string{"browser/check.mjs", chromium, address, pictures, strconv.FormatBool(whole), me}, want...)
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%d operations and events shown %d ms after the first request; pictures in %s", len(want),
		s.Milliseconds, pictures)
	return s
}

// TestExplorerInChromium uses the explorer as a developer does: it looks at the
// operations, pastes a key and sends requests. At the root, and below the path of a
// gateway's stage. Before that it reads the pages, with and without scripts, and searches them.
func TestExplorerInChromium(t *testing.T) {
	chromium := browser(t)
	small, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, prefix string
		document     []byte
		whole        bool
	}{
		{"below a stage", "/stage", small, false},
		{"document of the API", "", clients.OpenAPIJSON, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var mu sync.Mutex
			var calls []*http.Request
			pages := docs.New(docs.Options{JSON: tc.document, Assets: docs.Assets()})
			srv := httptest.NewServer(http.StripPrefix(tc.prefix,
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !strings.HasPrefix(r.URL.Path, "/v1/") {
						pages.ServeHTTP(w, r)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					calls = append(calls, r)
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"data":{"name":"Account of the pasted key"},"error":null,"request_id":"r-1"}`)
				})))
			defer srv.Close()

			pictures := filepath.Join("..", "..", "..", ".local", "explorer", strings.ReplaceAll(tc.name, " ", "-"))
			s := use(t, chromium, srv.URL+tc.prefix+"/api-docs/", pictures, tc.document, tc.whole)
			for what, found := range map[string][]string{
				"the page asked another host": s.Elsewhere, "the browser complains": s.Complaints,
				"not shown": s.Missing, "hinders people": s.Violations, "loads the explorer unasked": s.Early,
			} {
				for _, one := range found {
					t.Errorf("%s: %s", what, one)
				}
			}
			for page, after := range s.Painted {
				if after > 500 {
					t.Errorf("%s has content after %d ms", page, after)
				}
			}
			if len(s.Painted) < 8 {
				t.Errorf("painted %v", s.Painted)
			}
			t.Logf("painted after %v ms; an operation could be tried after %s", s.Painted, s.Tried)
			if !strings.Contains(s.Response, "Account of the pasted key") {
				t.Errorf("the answer is not shown: %q", s.Response)
			}
			if s.Kept != "svc_test_pasted" || s.OtherTab != "" || strings.Contains(s.Stored, "svc_test_pasted") {
				t.Errorf("the key is %q after a reload, %q in another tab; stored is %q", s.Kept, s.OtherTab, s.Stored)
			}
			mu.Lock()
			defer mu.Unlock()
			checkCalls(t, calls)
			if tc.whole {
				checkWhole(t, s, calls, srv.URL)
			}
		})
	}
}

// checkCalls checks the calls of the explorer: each write has an idempotency key of its own, and reads send only the
// parameters that were chosen.
func checkCalls(t *testing.T, calls []*http.Request) {
	t.Helper()
	if len(calls) == 0 || calls[0].Header.Get("Authorization") != "Bearer svc_test_pasted" {
		t.Fatalf("%d calls, the first not with the pasted key", len(calls))
	}
	keys := map[string]bool{}
	for _, r := range calls {
		key := r.Header.Get("Idempotency-Key")
		if r.Method == http.MethodPost {
			if len(key) != 36 || keys[key] {
				t.Errorf("%s %s was sent with the Idempotency-Key %q", r.Method, r.URL, key)
			}
			keys[key] = true
		}
		if r.Method == http.MethodGet && (r.URL.RawQuery != "" || key != "") {
			t.Errorf("sent %s with the Idempotency-Key %q", r.URL, key)
		}
	}
}

// checkWhole checks the parts that only the document of the API has.
func checkWhole(t *testing.T, s seen, calls []*http.Request, base string) {
	t.Helper()
	sent := 0
	for _, r := range calls {
		if r.Method == http.MethodPost {
			sent++
		}
	}
	if sent < 2 {
		t.Errorf("%d writes were sent, want two in a row", sent)
	}
	if !strings.Contains(s.Found, "insufficient_balance") || s.Reached != "insufficient_balance" {
		t.Errorf("the search for insufficient_balance finds %q, and leads to %q", s.Found, s.Reached)
	}
	if !slices.Equal(s.Chosen, []string{"python", "python", "python"}) {
		t.Errorf("after Python was chosen, other pages show %q", s.Chosen)
	}
	if !strings.Contains(s.Payload, `"type": "content.generated"`) || !strings.Contains(s.Payload, `"object"`) {
		t.Errorf("the payload of the event is shown as %q", s.Payload)
	}
	for language, want := range map[string]string{"curl": "curl ", "typescript": "client.content.create(",
		"client in python": "client.content.create(", "cli": "content-automation content create", "python": "requests.post(",
		"go": "http.NewRequest("} {
		sample := s.Samples[language]
		for _, part := range []string{want, base, "factory_id", "Our new trail running shoe"} {
			if !strings.Contains(sample, part) {
				t.Errorf("the sample in %s lacks %q: %s", language, part, sample)
			}
		}
	}
}
