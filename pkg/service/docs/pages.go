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
	return h.render(frame{path: referencePath + "/" + o.ID, title: o.Summary, class: "reference",
		side:    aside("Operations", written("side", listing{Root: d.Root, At: o.ID, Tag: d.Group.Tag, Groups: r.groups})),
		content: string(written("operation", d))})
}

func aside(label string, content []byte) string {
	return `<aside class="side" aria-label="` + label + ` of the documentation">` + "\n" + string(content) + "</aside>\n"
}

// indexPage returns the page of all operations. The explorer's page has the list too, and the scripts beside it.
func (h *handler) indexPage(path, script, own string) []byte {
	r := h.reference()
	l := listing{Root: rootOf(path), Groups: r.groups, Script: script, Title: "API reference",
		Lead: fmt.Sprintf("%d operations. Calls are JSON over HTTPS with a key; every answer has the members data, error "+
			"and request_id.", len(r.byID))}
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
	Steps, Cards  []door
}

// door is a part of the page at the root, and where it leads.
type door struct {
	Title, Text, Path, Link string
	Samples                 template.HTML
}

// frontPage returns the page at the root.
func (h *handler) frontPage() []byte {
	r := h.reference()
	page := front{Root: "api-docs/", Version: r.Info.Version, Count: len(r.byID),
		Picture: "assets/" + frontPictureName()}
	for _, step := range []struct{ id, title, text string }{
		{"createContentItem", "Send a brief", "The factory knows the voice, the look and the audience. The call returns " +
			"at once; texts and media are made in the background."},
		{"scheduleContentItem", "Schedule the post", "Each platform has its rules: sizes, lengths, labels. They are " +
			"checked before a post is taken."},
		{"createWebhook", "Receive the result", "Events are signed as Standard Webhooks defines, and repeated for 28 " +
			"hours until your receiver takes them."},
	} {
		if o := r.byID[step.id]; o != nil {
			page.Steps = append(page.Steps, door{step.title, step.text, "reference/" + o.ID, o.Summary,
				r.tabs(o)})
		}
	}
	page.Cards = frontCards
	return h.render(frame{path: "/", class: "front", content: string(written("front", page))})
}

// frontCards lead to the parts of the documentation.
var frontCards = []door{
	{Title: "Finished media", Path: "guides/finished-media", Text: "Posts, videos, carousels, stories and music clips, " +
		"in the design of a brand."},
	{Title: "Twelve platforms", Path: "guides/publishing", Text: "Instagram, TikTok, YouTube, Facebook, LinkedIn, X, " +
		"Telegram, VK, Rutube and others. Nothing is posted twice."},
	{Title: "Approval", Path: "guides/own-posts", Text: "Content waits for people: in the account area, by a review " +
		"link for a client, or by the API."},
	{Title: "Agencies", Path: "guides/agencies", Text: "A profile for each client: its accounts, its calendar, its bill."},
	{Title: "Sandbox", Path: "guides/sandbox", Text: "A test key rehearses each outcome. It spends and publishes nothing."},
	{Title: "Agents", Path: "guides/agents", Text: "Tools at /mcp for agents, with limits that you set."},
	{Title: "Clients", Path: "guides/clients", Text: "TypeScript, Python, Go, a command line, n8n and Postman."},
	{Title: "Analytics", Path: "guides/analytics", Text: "What posts achieve, and what a factory could do better."},
	{Title: "Your data", Path: "guides/transfer", Text: "Exports of everything, imports, and erasure on request."},
}

// resultsPage returns the page of a search.
func (h *handler) resultsPage(query string) []byte {
	found := h.searcher().search(query)
	found.Root = ""
	return h.render(frame{path: searchPath, title: "Search", class: "results", content: string(written("results", found))})
}

// folders are the parts of a path that say nothing of what was looked for.
var folders = regexp.MustCompile(`^/(api-docs|docs)?(/(guides|reference|errors|assets))?`)

// missingPage returns the page of a path that there is not.
func (h *handler) missingPage(path string) []byte {
	words := regexp.MustCompile(`[\p{L}\d]+`).FindAllString(parted(folders.ReplaceAllString(path, ""), ' '), 8)
	found := h.searcher().search(strings.Join(words, " "))
	found.Root = rootOf(path)
	found.Hits = found.Hits[:min(3, len(found.Hits))]
	return h.render(frame{path: path, title: "No such page", class: "results", content: string(written("missing", found))})
}

// serveSearch answers a search: as a page, or as JSON for the script of the pages.
func (h *handler) serveSearch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query().Get("q")
	if r.URL.Path == searchPath {
		(&page{status: http.StatusOK, kind: htmlType, policy: pagePolicy, content: fixed(h.resultsPage(query))}).serve(w, r)
		return
	}
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(h.searcher().search(query)); err != nil {
		panic(err) // there are texts alone
	}
	(&page{status: http.StatusOK, kind: "application/json", policy: web.Policy,
		content: fixed(body.Bytes())}).serve(w, r)
}

// browses reports whether a request is of a browser that opens a page.
func browses(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if kind, _, _ := strings.Cut(strings.TrimSpace(part), ";"); strings.EqualFold(kind, "text/html") {
			return true
		}
	}
	return false
}

// robots tells crawlers what to leave out.
const robots = "User-agent: *\nDisallow: /v1/\nDisallow: /settings\nDisallow: /auth/\nDisallow: /oauth/\nDisallow: /setup\n" +
	"Disallow: /review/\nDisallow: /api-docs/search\nAllow: /\n"

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
	html := relative.ReplaceAllString(out.String(), `href="../$1`)
	return template.HTML(r.linked(anchored.ReplaceAllString(html, `href="../reference/`), "../")) //nolint:gosec // ours
}

// inline returns a text of one paragraph.
func (r *reference) inline(text string) template.HTML {
	out := strings.TrimSpace(string(r.markdown(text)))
	if strings.Count(out, "<p>") == 1 {
		out = strings.TrimSuffix(strings.TrimPrefix(out, "<p>"), "</p>")
	}
	return template.HTML(out) //nolint:gosec // as above
}
