package docs_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/clients"
)

// textOf returns the text of a page.
func textOf(t *testing.T, at string) string {
	t.Helper()
	w := httptest.NewRecorder()
	builtIn().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/markdown") {
		t.Errorf("%s: %d, %s", at, w.Code, w.Header().Get("Content-Type"))
	}
	return w.Body.String()
}

// TestTextsForAgents follows all links of the index, and of the guides to other guides.
func TestTextsForAgents(t *testing.T) {
	index, all := textOf(t, "/llms.txt"), textOf(t, "/llms-full.txt")
	files, err := fs.Glob(os.DirFS("guides"), "*.md")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	link := regexp.MustCompile(`\]\(([a-z0-9/-]+\.md)(?:#[a-z0-9-]+)?\)`)
	for _, file := range files {
		at := guidesPath + file
		if !strings.Contains(index, "]("+strings.TrimPrefix(at, "/")+")") {
			t.Errorf("the index does not lead to %s", at)
		}
		text := textOf(t, at)
		if !strings.Contains(all, text) {
			t.Errorf("the text of all lacks %s", at)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			textOf(t, guidesPath+m[1])
		}
	}
	for _, m := range link.FindAllStringSubmatch(index, -1) {
		textOf(t, "/"+m[1])
	}
	if n, want := strings.Count(all, "/v1/"), strings.Count(string(clients.OpenAPIJSON), `"operationId"`); n < want ||
		!strings.Contains(all, "| `createContentItem` | `POST /v1/content-items` | `content:write` |") {
		t.Errorf("the text of all names %d paths of %d operations", n, want)
	}
}
