package docs_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/base/errs"
)

// operations returns the operations of the document by their ids.
func operations(t *testing.T) map[string]map[string]any {
	t.Helper()
	var d struct {
		Paths map[string]map[string]map[string]any
	}
	if err := json.Unmarshal(clients.OpenAPIJSON, &d); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for at, item := range d.Paths {
		for method, o := range item {
			o["call"] = strings.ToUpper(method) + " " + at
			all[o["operationId"].(string)] = o
		}
	}
	return all
}

// parts reads the document as it is: it follows references, and knows nothing of pages.
type parts struct{ document map[string]any }

// at returns what a reference leads to.
func (p parts) at(ref string) map[string]any {
	var found any = p.document
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		found = found.(map[string]any)[name]
	}
	return found.(map[string]any)
}

// members collects the names of all members that a part of the document has, at any depth.
func (p parts) members(part any, seen map[string]bool, all map[string]bool) {
	switch v := part.(type) {
	case []any:
		for _, one := range v {
			p.members(one, seen, all)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			p.members(p.at(ref), seen, all)
		}
		if properties, ok := v["properties"].(map[string]any); ok {
			for name, one := range properties {
				all[name] = true
				p.members(one, seen, all)
			}
		}
		for _, name := range []string{"items", "allOf", "anyOf", "oneOf", "additionalProperties"} {
			p.members(v[name], seen, all)
		}
	}
}

// TestEachOperationHasAStaticPage reads the page of each operation: all of its parameters and members with their
// descriptions, its scopes, its errors, and samples in all languages are there without a script.
func TestEachOperationHasAStaticPage(t *testing.T) {
	h, p := builtIn(), parts{}
	if err := json.Unmarshal(clients.OpenAPIJSON, &p.document); err != nil {
		t.Fatal(err)
	}
	index := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/reference")))
	all := operations(t)
	if len(all) < 160 {
		t.Errorf("%d operations", len(all))
	}
	for id, o := range all {
		resp := call(h, http.MethodGet, referencePath+id)
		page := html.UnescapeString(string(bodyOf(t, resp)))
		if resp.StatusCode != 200 || resp.Header.Get("ETag") == "" ||
			!strings.Contains(index, `href="reference/`+id+`"`) {
			t.Errorf("%s: %d, %v", id, resp.StatusCode, resp.Header)
			continue
		}
		method, at, _ := strings.Cut(o["call"].(string), " ")
		want := []string{"<h1>" + o["summary"].(string) + "</h1>", ">" + method + "</b> <code>" + at + "</code>",
			`class="of-sh"`, `class="of-ts"`, `class="of-python"`, `class="of-go"`, "Authorization: Bearer",
			`"../explorer?area=`}
		for _, scope := range o["x-required-scopes"].([]any) {
			want = append(want, "<code>"+scope.(string)+"</code>")
		}
		for _, one := range o["parameters"].([]any) {
			parameter := one.(map[string]any)
			if ref, ok := parameter["$ref"].(string); ok {
				parameter = p.at(ref)
			}
			want = append(want, "<code>"+parameter["name"].(string)+"</code>")
		}
		names := map[string]bool{}
		if body, ok := o["requestBody"].(map[string]any); ok {
			sent := body["content"].(map[string]any)["application/json"].(map[string]any)
			p.members(sent["schema"], map[string]bool{}, names)
		}
		for status, one := range o["responses"].(map[string]any) {
			answer := one.(map[string]any)
			if ref, ok := answer["$ref"].(string); ok {
				answer = p.at(ref)
			}
			content, _ := answer["content"].(map[string]any)
			body, _ := content["application/json"].(map[string]any)
			if status < "3" {
				p.members(body["schema"], map[string]bool{}, names)
				continue
			}
			examples, _ := body["examples"].(map[string]any)
			for code := range examples {
				want = append(want, `href="../errors/`+code+`"`, errs.InfoOf(errs.Code(code)).Meaning)
			}
		}
		for _, outer := range []string{"data", "error", "request_id", "next_cursor"} {
			delete(names, outer)
		}
		for name := range names {
			want = append(want, "<code>"+name+"</code>")
		}
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("the page of %s lacks %s", id, part)
			}
		}
	}
	if resp := call(h, http.MethodGet, referencePath+"noSuchOperation"); resp.StatusCode != 404 {
		t.Errorf("an unknown operation: %d", resp.StatusCode)
	}
}

// The page of an operation says of each member its type, its limits, its values and what it means.
func TestAMemberIsDescribed(t *testing.T) {
	page := html.UnescapeString(string(bodyOf(t, call(builtIn(), http.MethodGet, referencePath+"createWebhook"))))
	for _, want := range []string{
		`<li id="body.1.event_types"><p><code>event_types</code> <span class="type">list of string</span> ` +
			`<strong>required</strong></p>`,
		`<p class="limits">`, `<li id="header.Idempotency-Key">`, "1 to 255 characters", "For example <code>",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("without %s", want)
		}
	}
	factory := string(bodyOf(t, call(builtIn(), http.MethodGet, referencePath+"createFactory")))
	if n := strings.Count(factory, "<code>brand_name</code>"); n == 0 {
		t.Error("the settings of a brand are not there")
	}
	if !strings.Contains(factory, "One of these:") {
		t.Error("the types of a factory are not told apart")
	}
}

// The page at the root has three samples in each language, and leads everywhere.
func TestTheFrontPage(t *testing.T) {
	resp := call(builtIn(), http.MethodGet, "/")
	page := string(bodyOf(t, resp))
	for part, want := range map[string]int{`class="of-sh"`: 3, `class="of-ts"`: 3, `class="of-python"`: 3,
		`class="of-go"`: 3, `alt="A carousel`: 1,
		`href="api-docs/guides/quick-start"`: 2, `href="api-docs/reference"`: 2, `href="api-docs/../settings"`: 2,
		`href="api-docs/guides/sandbox"`: 1, `id="status"`: 1, "<h1>": 1} {
		if n := strings.Count(page, part); n < want {
			t.Errorf("%s is there %d times, want %d", part, n, want)
		}
	}
	if resp.StatusCode != 200 || len(page) > 30_000 || strings.Contains(page, "<style") {
		t.Errorf("%d, %d bytes", resp.StatusCode, len(page))
	}
}

// A browser gets a page for a path that there is not, with a search and links that work; callers get the error.
func TestUnknownPaths(t *testing.T) {
	h := builtIn()
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for at, found := range map[string]string{
		"/nothing": "", "/webhook/settings": "api-docs/guides/webhooks", "/api-docs/guides/webhok": "webhooks",
		"/api-docs/reference/createWebhooks": "reference/createWebhook", "/x%2f..%2f%3Cscript%3E": "",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			resp := call(h, method, at, "Accept", browser)
			page := string(bodyOf(t, resp))
			if resp.StatusCode != 404 || !strings.Contains(resp.Header.Get("Content-Type"), "text/html") ||
				resp.Header.Get("Cache-Control") != "no-store" || strings.Contains(page, "<script>") ||
				!strings.Contains(page, `role="search"`) || !strings.Contains(page, found) {
				t.Errorf("%s %s: %d %v without %s", method, at, resp.StatusCode, resp.Header, found)
			}
			if policy := resp.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") {
				t.Errorf("%s: %s", at, policy)
			}
		}
		for _, accept := range []string{"", "*/*", "application/json", "application/json, text/html;q=0.1",
			"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"} {
			resp := call(h, "GET", at, "Accept", accept)
			if body := string(bodyOf(t, resp)); resp.Header.Get("Content-Type") != "application/json" ||
				!strings.HasPrefix(body, `{"data":null,"error":{"code":"unknown_path","message":"`+errs.NoSuchPath) {
				t.Errorf("%s for %q: %s", at, accept, body)
			}
		}
	}
	if resp := call(h, "POST", "/nothing", "Accept", browser); resp.Header.Get("Content-Type") != "application/json" {
		t.Error("a form that leads nowhere gets a page")
	}
}

// Crawlers find the pages, and nothing else.
func TestTheSiteMap(t *testing.T) {
	h := builtIn()
	text := string(bodyOf(t, call(h, http.MethodGet, "/sitemap.xml")))
	urls := strings.Count(text, "<loc>https://example.com/")
	if urls < 200 || !strings.Contains(text, "<loc>https://example.com/api-docs/reference/createFactory</loc>") ||
		strings.Contains(text, "/settings") {
		t.Errorf("%d addresses", urls)
	}
	robots := string(bodyOf(t, call(h, http.MethodGet, "/robots.txt")))
	if !slices.Contains(strings.Split(robots, "\n"), "Disallow: /review/") {
		t.Errorf("robots.txt is %q", robots)
	}
}
