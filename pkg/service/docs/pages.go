package docs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
)

// frame is a page of the documentation in the frame that all of them have.
type frame struct {
	path, title string
	class       string // of the body: what the page is
	side        string // beside the content: a navigation
	content     string
	contents    string // the list of its sections
	scripts     string // further ones
}

// rootOf returns the relative address of the folder of the documentation from a path.
func rootOf(path string) string {
	if below, ok := strings.CutPrefix(path, "/api-docs/"); ok {
		return strings.Repeat("../", strings.Count(below, "/"))
	}
	return strings.Repeat("../", strings.Count(strings.TrimPrefix(path, "/"), "/")) + "api-docs/"
}

// render returns the page.
func (h *handler) render(f frame) []byte {
	current := func(class string) string {
		if f.class == class {
			return ` aria-current="true"`
		}
		return ""
	}
	title := web.ServiceName + " API"
	if f.title != "" {
		title = f.title + " · " + title
	}
	return []byte(strings.NewReplacer("{{title}}", html.EscapeString(title), "{{root}}", rootOf(f.path),
		"{{style}}", h.style, "{{script}}", h.script, "{{class}}", f.class, "{{side}}", f.side,
		"{{mark}}", string(web.Mark("var(--link)", "var(--back)")), "{{guides}}", current("guide"),
		"{{reference}}", current("reference"), "{{contents}}", f.contents+f.scripts,
		"{{content}}", f.content).Replace(pageFrame))
}

// listing is the data of the lists of operations.
type listing struct {
	Root, At, Tag             string
	Title, Lead, Script, Area string
	Groups                    []group
}

// operationPage returns the page of an operation.
func (h *handler) operationPage(o *operation) []byte {
	r := h.reference()
	d := r.describe(o)
	side := written("side", listing{Root: d.Root, At: o.ID, Tag: d.Group.Tag, Groups: r.groups})
	return h.render(frame{path: referencePath + "/" + o.ID, title: o.Summary, class: "reference",
		side: aside("Operations", side), content: string(written("operation", d))})
}

func aside(label string, content []byte) string {
	return `<aside class="side" aria-label="` + label + ` of the documentation">` + string(content) + "</aside>\n"
}

// indexPage returns the page of all operations. The explorer's page has the list too, and the scripts beside it.
func (h *handler) indexPage(path, script, own string) []byte {
	r := h.reference()
	l := listing{Root: rootOf(path), Groups: r.groups, Script: script, Title: "API reference",
		Lead: fmt.Sprintf("%d operations. Calls are JSON over HTTPS with a key; every answer has the members data, "+
			"error and request_id.", len(r.byID))}
	f := frame{path: path, title: l.Title, class: "reference"}
	if script != "" {
		l.Title = "Explorer"
		l.Lead = "Sends requests from this page with a key of yours. A test key works in a sandbox, which spends and " +
			"publishes nothing. Every operation can be read without it."
		f.title, f.class = l.Title, "reference explorer"
		f.scripts = `<script type="module" src="assets/` + own + `"></script>` + "\n"
	}
	f.side, f.content = aside("Operations", written("side", l)), string(written("index", l))
	return h.render(f)
}

// frontPicture shows finished media. infra/tools/front.mjs draws it.
//
//go:embed front.webp
var frontPicture []byte

func frontPictureName() string { return "front-" + digest(frontPicture) + ".webp" }

// front is the data of the page at the root.
type front struct {
	Root, Version string
	Count         int
	Picture       string
	Steps         []step
}

// step is an operation that the page at the root shows.
type step struct {
	*operation
	Title, Text string
	Samples     template.HTML
}

// frontPage returns the page at the root.
func (h *handler) frontPage() []byte {
	r := h.reference()
	page := front{Root: "api-docs/", Version: r.Info.Version, Count: len(r.byID),
		Picture: "assets/" + frontPictureName()}
	for _, s := range []struct{ id, title, text string }{
		{"createContentItem", "Send a brief", "The factory knows the voice, the look and the audience. The call " +
			"returns at once, and texts and media are made in the background."},
		{"scheduleContentItem", "Schedule the post", "Each platform has its rules: sizes, lengths, labels. They are " +
			"checked before a post is taken."},
		{"createWebhook", "Receive the result", "Events are signed as Standard Webhooks defines, and repeated for 28 " +
			"hours until your receiver takes them."},
	} {
		if o := r.byID[s.id]; o != nil {
			page.Steps = append(page.Steps, step{o, s.title, s.text, r.tabs(o)})
		}
	}
	return h.render(frame{path: "/", class: "front", content: string(written("front", page))})
}

// resultsPage returns the page of a search.
func (h *handler) resultsPage(query string) []byte {
	found := h.searcher().search(query)
	found.Root = ""
	return h.render(frame{path: searchPath, title: "Search", class: "results",
		content: string(written("results", found))})
}

// folders are the parts of a path that say nothing of what was looked for.
var folders = regexp.MustCompile(`^/(api-docs|docs)?(/(guides|reference|errors|assets))?`)

// missingPage returns the page of a path that there is not.
func (h *handler) missingPage(path string) []byte {
	words := text.Words(folders.ReplaceAllString(path, ""))
	found := h.searcher().search(strings.Join(words[:min(8, len(words))], " "))
	found.Root = rootOf(path)
	found.Hits = found.Hits[:min(3, len(found.Hits))]
	return h.render(frame{path: path, title: "No such page", class: "results",
		content: string(written("missing", found))})
}

// shown is a page that is made for one request.
func shown(status int, body []byte) *page {
	return &page{status: status, kind: htmlType, policy: pagePolicy, content: fixed(body)}
}

// serveSearch answers a search: as a page, or as JSON for the script of the pages.
func (h *handler) serveSearch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	if r.URL.Path == searchPath {
		shown(http.StatusOK, h.resultsPage(query)).serve(w, r)
		return
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(h.searcher().search(query)); err != nil {
		panic(err) // there are texts alone
	}
	(&page{status: http.StatusOK, kind: "application/json", policy: web.Policy,
		content: fixed(body.Bytes())}).serve(w, r)
}

// browses reports whether a request is of a browser that opens a page. A program that takes JSON too gets JSON, and so
// does java.net, which names text/html of its own accord, beside a range "*" that no browser sends.
func browses(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	asked := false
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		if kind == "application/json" || kind == "*" {
			return false
		}
		asked = asked || kind == "text/html"
	}
	return asked
}

// robots tells crawlers what to leave out.
const robots = `User-agent: *
Disallow: /v1/
Disallow: /settings
Disallow: /auth/
Disallow: /oauth/
Disallow: /setup
Disallow: /review/
Disallow: /api-docs/search
Allow: /
`

// siteMap lists the pages for crawlers, by the address at which the service was asked.
func (h *handler) siteMap(base string) []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	add := func(path string) { fmt.Fprintf(&out, "<url><loc>%s</loc></url>\n", html.EscapeString(base+path)) }
	add("/")
	seen := map[string]bool{}
	for _, g := range guides {
		if !seen[g.name] {
			seen[g.name] = true
			add(g.path())
		}
	}
	add(referencePath)
	for _, o := range h.reference().all() {
		add(referencePath + "/" + o.ID)
	}
	add(errorsPath)
	out.WriteString("</urlset>\n")
	return out.Bytes()
}

// Links of the document are relative to the folder of the documentation.
var (
	relative  = regexp.MustCompile(`href="(guides|errors|explorer)`)
	anchored  = regexp.MustCompile(`href="#operation/`)
	namedCall = regexp.MustCompile(`(<a [^>]*>)?<code>((GET|POST|PUT|PATCH|DELETE) (/v1/[^<?\s]*))([^<]*)</code>`)
)

// linked makes links of the calls that a text names.
func (r *reference) linked(text, root string) string {
	return namedCall.ReplaceAllStringFunc(text, func(found string) string {
		parts := namedCall.FindStringSubmatch(found)
		o := r.byCall[parts[2]]
		if parts[1] != "" || o == nil {
			return found
		}
		return `<a href="` + root + "reference/" + o.ID + `">` + found + "</a>"
	})
}

// markdown returns a text of the document as it stands on the page of an operation.
func (r *reference) markdown(text string) template.HTML {
	var out bytes.Buffer
	if err := renderer().Convert([]byte(text), &out); err != nil {
		panic(err) // writing to memory does not fail
	}
	page := relative.ReplaceAllString(out.String(), `href="../$1`)
	page = anchored.ReplaceAllString(page, `href="../reference/`)
	return template.HTML(r.linked(page, "../")) //nolint:gosec // the document is ours
}

// inline returns a text of one paragraph.
func (r *reference) inline(text string) template.HTML {
	out := strings.TrimSpace(string(r.markdown(text)))
	if strings.Count(out, "<p>") == 1 {
		out = strings.TrimSuffix(strings.TrimPrefix(out, "<p>"), "</p>")
	}
	return template.HTML(out) //nolint:gosec // as above
}
