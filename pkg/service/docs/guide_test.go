package docs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/service/docs"
)

const guidesPath, errorsPath, referencePath = "/api-docs/guides/", "/api-docs/errors/", "/api-docs/reference/"

// written returns the paths of all pages that have a text.
func written(t *testing.T) []string {
	t.Helper()
	paths := []string{strings.TrimSuffix(errorsPath, "/")}
	entries, err := fs.ReadDir(os.DirFS("guides"), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		paths = append(paths, guidesPath+strings.TrimSuffix(e.Name(), ".md"))
	}
	for _, code := range errs.Codes {
		paths = append(paths, errorsPath+string(code))
	}
	return paths
}

func parse(t *testing.T, h http.Handler, path string) *html.Node {
	t.Helper()
	resp := call(h, http.MethodGet, path)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%s: %d %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	root, err := html.Parse(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// reached is what a path of this site answers: its status, and the ids of its elements.
type reached struct {
	status int
	ids    map[string]bool
}

// TestEveryLinkLeadsToAPage follows every link of every page to a page of this site, its headings included, at the root
// and below the path of a stage.
func TestEveryLinkLeadsToAPage(t *testing.T) {
	h, seen := builtIn(), map[string]reached{}
	reach := func(path string) reached {
		if _, ok := seen[path]; !ok {
			resp := call(h, http.MethodGet, path)
			one := reached{resp.StatusCode, map[string]bool{}}
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
				root, err := html.Parse(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				for n := range root.Descendants() {
					one.ids[attribute(n, "id")] = true
				}
			}
			seen[path] = one
		}
		return seen[path]
	}
	pages := append(written(t), "/", "/api-docs/reference", "/api-docs/explorer", "/api-docs/search")
	for id := range operations(t) {
		pages = append(pages, referencePath+id)
	}
	for _, from := range pages {
		headings, links, ids := 0, 0, map[string]bool{}
		for n := range parse(t, h, from).Descendants() {
			if n.DataAtom == atom.H1 {
				headings++
			}
			if id := attribute(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s has the id %s twice", from, id)
				}
				ids[id] = true
			}
			if n.DataAtom == atom.Script && n.FirstChild != nil || n.DataAtom == atom.Style || attribute(n, "style") != "" {
				t.Errorf("%s has <%s>, which its policy forbids", from, n.Data)
			}
			href := attribute(n, "href")
			if href == "" || strings.HasPrefix(href, "data:") ||
				strings.HasPrefix(href, "https://www.standardwebhooks.com") {
				continue
			}
			if n.DataAtom == atom.A {
				links++
			}
			base, err := url.Parse("https://api.example.com/stage" + from)
			if err != nil {
				t.Fatal(err)
			}
			to, err := base.Parse(href)
			if err != nil {
				t.Fatal(err)
			}
			at, below := strings.CutPrefix(to.Path, "/stage")
			if at == "/settings" {
				continue // the account area, which another function serves
			}
			if found := reach(at); !below || to.Host != "api.example.com" || found.status != http.StatusOK {
				t.Errorf("%s links to %s: %d", from, to, found.status)
			} else if to.Fragment != "" && at != "/api-docs/explorer" && !found.ids[to.Fragment] {
				t.Errorf("%s links to %s, which has no such heading", from, to)
			}
		}
		if headings != 1 || links < 6 {
			t.Errorf("%s has %d main headings and %d links", from, headings, links)
		}
	}
}

// Pages run their own script alone, and can be read without it.
func TestPagesRunTheirOwnScriptAlone(t *testing.T) {
	for _, path := range written(t) {
		policy := call(builtIn(), http.MethodGet, path).Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';") ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

// TestEveryCodeHasItsPage reads the page of each code.
func TestEveryCodeHasItsPage(t *testing.T) {
	h := builtIn()
	index := string(bodyOf(t, call(h, http.MethodGet, "/api-docs/errors")))
	for _, code := range errs.Codes {
		info := errs.InfoOf(code)
		text := string(bodyOf(t, call(h, http.MethodGet, errorsPath+string(code))))
		text = html.UnescapeString(text)
		for _, want := range []string{
			"<code>" + string(code) + "</code></h1>", fmt.Sprintf("<td>%d %s</td>", info.Status,
				http.StatusText(info.Status)),
			"<code>" + info.Type + "</code>", "<h2 id=\"when\">", "<h2 id=\"what-to-do\">",
			"<h2 id=\"repeat-the-request\">",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of %s lacks %q", code, want)
			}
		}
		if !strings.Contains(index, `href="errors/`+string(code)+`"`) {
			t.Errorf("the page of all codes lacks %s", code)
		}
		_, example, _ := strings.Cut(text, `<code class="language-json">`)
		example, _, _ = strings.Cut(example, "</code>")
		example = regexp.MustCompile(`</?span[^>]*>`).ReplaceAllString(example, "") // the colors
		var body struct {
			Error struct {
				Code, Type, Message string
				DocURL              string `json:"doc_url"`
			}
		}
		if err := json.Unmarshal([]byte(example), &body); err != nil {
			t.Errorf("the example of %s: %v", code, err)
		}
		if e := body.Error; e.Code != string(code) || e.Type != info.Type || e.Message == "" ||
			path.Base(e.DocURL) != string(code) {
			t.Errorf("the example of %s is %+v", code, e)
		}
	}
}

// TestPathsInGuidesExist compares the operations that the guides name with the document.
func TestPathsInGuidesExist(t *testing.T) {
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(bodyOf(t, call(builtIn(), http.MethodGet, "/openapi.json")), &document); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(GET|POST|PUT|PATCH|DELETE) (/v1/[a-z_{}/-]+)`)
	entries, err := fs.Glob(os.DirFS("guides"), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range entries {
		text, err := os.ReadFile(path.Join("guides", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if document.Paths[m[2]][strings.ToLower(m[1])] == nil {
				t.Errorf("%s names %s, which is not in the document", name, m[0])
			}
		}
	}
	if found < 10 {
		t.Errorf("the guides name %d operations", found)
	}
}

func TestShortPathsLeadToThePages(t *testing.T) {
	for from, want := range map[string]string{
		"/docs": "/stage/api-docs/reference", "/api-docs": "/stage/api-docs/reference",
		"/api-docs/guides": "/stage/api-docs/guides/quick-start", "/docs/errors": "/stage/api-docs/errors",
		"/docs/guides/webhooks": "/stage/api-docs/guides/webhooks", "/search?q=keys": "/stage/api-docs/search",
	} {
		resp := call(docs.New(docs.Options{}), http.MethodGet, from)
		base, err := url.Parse("https://api.example.com/stage" + from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := base.Parse(resp.Header.Get("Location"))
		if err != nil || resp.StatusCode != http.StatusFound || to.Path != want {
			t.Errorf("%s: %d, leads to %s; want %s", from, resp.StatusCode, to, want)
		}
	}
}

// Customers have no checkout of the service, and its packages are not published yet: the guide to the clients alone
// says how they will be installed.
func TestGuidesUseWhatCustomersHave(t *testing.T) {
	entries, err := fs.Glob(os.DirFS("guides"), "*.md")
	if err != nil || len(entries) == 0 {
		t.Fatal(err)
	}
	checkout := regexp.MustCompile(`go run |\btestdata/|\bclients/(cli|sandbox|internal)\b|\x60make |` +
		`checkout of the service`)
	registry := regexp.MustCompile(`(npm install|pip install|go get) @?[a-z]`)
	for _, name := range entries {
		text, err := os.ReadFile(path.Join("guides", name))
		if err != nil {
			t.Fatal(err)
		}
		if found := checkout.FindString(string(text)); found != "" {
			t.Errorf("%s uses a checkout of the service: %q", name, found)
		}
		if found := registry.FindString(string(text)); found != "" && name != "clients.md" {
			t.Errorf("%s installs a package that is not published: %q", name, found)
		}
		if name == "clients.md" && !strings.Contains(string(text), "The packages are not in the public registries yet.") {
			t.Errorf("%s does not say that the packages are not published", name)
		}
	}
}

// A guide has its sections at the side, the guides around it, and colors in its code.
func TestTheFrameOfAGuide(t *testing.T) {
	h := builtIn()
	page := string(bodyOf(t, call(h, http.MethodGet, guidesPath+"authentication")))
	for _, want := range []string{`<nav class="contents" aria-label="On this page">`, `href="#bounds-of-a-key"`,
		`rel="prev" href="../guides/first-hour"`, `rel="next" href="../guides/sandbox"`, `href="../../settings"`} {
		if !strings.Contains(page, want) {
			t.Errorf("without %s", want)
		}
	}
	start := string(bodyOf(t, call(h, http.MethodGet, guidesPath+"quick-start")))
	for _, want := range []string{`<span class="k">curl</span>`, `<span class="n">$BASE_URL</span>`,
		`<span class="k">func</span>`, `<span class="s">&#34;Acme on social media&#34;</span>`} {
		if !strings.Contains(start, want) {
			t.Errorf("without %s", want)
		}
	}
	if strings.Contains(start, `rel="prev"`) {
		t.Error("the first guide has one before it")
	}
}
