// Package docs serves the paths that need no key: the OpenAPI document, the explorer that shows it and tries its
// operations, the guides, the pages of the error codes and the health check. It serves all resources of a page: pages
// call no other host. New makes the handler.
package docs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// RequestIDHeader carries the id of a request, in and out.
const RequestIDHeader = "X-Request-Id"

var (
	//go:embed explorer.css
	explorerStyle []byte

	//go:embed explorer.js
	explorerScript []byte

	// The folder contains the explorer's script only if it was built in.
	//
	//go:embed all:assets
	embedded embed.FS
)

const (
	// Such a resource is never requested again: its name changes with its content.
	forever = "public, max-age=31536000, immutable"
	// Such a resource is kept, and is asked for by its entity tag before each use: the answer is 304 until it changes.
	revalidated = "no-cache"

	htmlType   = "text/html; charset=utf-8"
	scriptType = "text/javascript; charset=utf-8"

	// The explorer's components write style elements while they run. Everything else in it needs only its own origin.
	explorerPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; " +
		"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

	unbuiltPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Explorer not built in</title></head>
<body>
<h1>The explorer is not part of this build</h1>
<p>Its script was not there when the function was built. Run <code>make explorer-assets</code> and build again.</p>
<p>The API is described in <a href="../openapi.json">openapi.json</a>
and <a href="../openapi.yaml">openapi.yaml</a>.</p>
</body>
</html>
`
)

// Options are the contents of the pages.
type Options struct {
	// JSON is the OpenAPI document.
	JSON []byte
	// Assets holds assets/scalar-<version>.js.gz: see Assets. Without it, a page says that the explorer is missing.
	Assets fs.FS
}

// Assets returns the files that were there when the program was built. A program that does not call it is smaller by
// them.
func Assets() fs.FS { return embedded }

// page is a response that is the same for everybody.
type page struct {
	status   int
	kind     string // Content-Type
	encoding string // Content-Encoding
	caching  string // Cache-Control, if it may be cached
	policy   string // Content-Security-Policy
	shared   bool   // may be read by scripts of other origins
	location string // relative, since the path may begin with a stage
	// content returns the body and its entity tag. Reading and hashing a megabyte is postponed until the first request,
	// so that the function starts faster.
	content func() (body []byte, etag string)
}

func content(read func() []byte) func() ([]byte, string) {
	return sync.OnceValues(func() ([]byte, string) {
		body := read()
		return body, `"` + digest(body) + `"`
	})
}

func fixed(body []byte) func() ([]byte, string) {
	return content(func() []byte { return body })
}

func (o Options) yaml() []byte {
	var b bytes.Buffer
	if err := yaml.Convert(&b, bytes.NewReader(o.JSON)); err != nil {
		panic(err) // the document is JSON
	}
	return b.Bytes()
}

// handler serves the pages.
type handler struct {
	pages map[string]*page // by path, but for those of operations
	// The document is taken apart at the first request that needs it, so that the function starts as fast as without.
	reference     func() *reference
	searcher      func() *searcher
	style, script string // the names of the assets of all pages
}

// New makes the handler of the public paths.
func New(o Options) http.Handler {
	if o.Assets == nil {
		o.Assets = embed.FS{}
	}
	h := &handler{pages: map[string]*page{
		"/openapi.json": {content: fixed(o.JSON), kind: "application/json", shared: true},
		"/openapi.yaml": {content: content(o.yaml), kind: "application/yaml", shared: true}, // RFC 9512
		"/robots.txt":   {content: fixed([]byte(robots)), kind: "text/plain; charset=utf-8"},
	}}
	h.reference = sync.OnceValue(func() *reference { return newReference(o.JSON) })
	h.searcher = sync.OnceValue(func() *searcher { return h.reference().searcher() })
	for from, to := range map[string]string{
		"/docs": "api-docs/reference", "/api-docs": "api-docs/reference", guidesPath: "guides/quick-start",
	} {
		h.pages[from] = &page{status: http.StatusFound, location: to, content: fixed(nil), kind: htmlType}
	}
	h.addGuides()
	h.addPage("/", h.frontPage)
	h.pages[assetsPath+frontPictureName()] = &page{content: fixed(frontPicture), kind: "image/webp", caching: forever}
	h.addPage(referencePath, func() []byte { return h.indexPage(referencePath, "", "") })
	h.addExplorer(o.Assets)
	h.addAgents()
	for _, p := range h.pages {
		p.status = cmp.Or(p.status, http.StatusOK)
		p.policy = cmp.Or(p.policy, web.Policy)
	}
	return h
}

// addPage adds a page of the documentation, which is rendered at its first request.
func (h *handler) addPage(path string, render func() []byte) {
	h.pages[path] = &page{kind: htmlType, policy: pagePolicy, content: content(render)}
}

// addExplorer adds the page, and its two scripts: the large one is loaded when a request shall be tried.
func (h *handler) addExplorer(assets fs.FS) {
	found, err := fs.Glob(assets, "assets/scalar-*.js.gz")
	if err != nil || len(found) == 0 {
		slog.Error("the explorer's script is not built in", "error", err)
		h.pages[explorerPath] = &page{status: http.StatusServiceUnavailable, content: fixed([]byte(unbuiltPage)),
			kind: htmlType}
		return
	}
	scalar := strings.TrimSuffix(path.Base(found[0]), ".gz") // has the version in it
	own := "explorer-" + digest(explorerScript) + ".js"
	styles := append([]byte(web.FontFaces("")), explorerStyle...)
	style := "frame-" + digest(styles) + ".css"
	h.pages[assetsPath+style] = &page{content: fixed(styles), kind: "text/css; charset=utf-8", caching: forever}
	h.addPage(explorerPath, func() []byte {
		return h.indexPage(explorerPath, "assets/"+scalar+" assets/"+style, own)
	})
	h.pages[explorerPath].policy = explorerPolicy
	h.pages[explorerPath+".json"] = &page{content: content(func() []byte { return h.reference().explorerData() }),
		kind: "application/json"}
	h.pages[assetsPath+own] = &page{content: fixed(explorerScript), kind: scriptType, caching: forever}
	h.pages[assetsPath+scalar] = &page{kind: scriptType, encoding: "gzip", caching: forever,
		content: content(func() []byte {
			script, err := fs.ReadFile(assets, found[0])
			if err != nil {
				panic(err) // it was found a moment ago, in the program itself
			}
			return script
		})}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set(RequestIDHeader, r.Header.Get(RequestIDHeader))
	web.SetHeaders(header)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")

	serve := h.find(r.URL.Path)
	switch {
	case serve == nil && browses(r):
		shown(http.StatusNotFound, h.missingPage(r.URL.EscapedPath())).serve(w, r)
	case serve == nil:
		writeError(w, r, errs.UnknownPath, errs.NoSuchPath)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		writeError(w, r, errs.MethodNotAllowed, "This path does not support the method "+r.Method+
			". It supports GET, HEAD.")
	default:
		serve(w, r)
	}
}

// find returns what serves a path, or nil.
func (h *handler) find(path string) http.HandlerFunc {
	if p := h.pages[path]; p != nil {
		return p.serve
	}
	switch path {
	case "/healthz":
		return func(w http.ResponseWriter, r *http.Request) {
			answer(w, r, http.StatusOK, envelope{Data: map[string]string{"status": "ok"}})
		}
	case searchPath, searchPath + ".json":
		return h.serveSearch
	case "/search":
		return func(w http.ResponseWriter, r *http.Request) {
			redirect(w, r, strings.TrimPrefix(searchPath, "/")+"?"+r.URL.RawQuery)
		}
	case "/sitemap.xml":
		return func(w http.ResponseWriter, r *http.Request) {
			(&page{status: http.StatusOK, kind: "application/xml", policy: web.Policy,
				content: fixed(h.siteMap(baseOf(r)))}).serve(w, r)
		}
	}
	if id, ok := strings.CutPrefix(path, referencePath+"/"); ok {
		if o := h.reference().byID[id]; o != nil {
			// The page is not kept: those of all operations would take more memory than the document.
			return func(w http.ResponseWriter, r *http.Request) {
				shown(http.StatusOK, h.operationPage(o)).serve(w, r)
			}
		}
	}
	if below, ok := strings.CutPrefix(path, "/docs/"); ok {
		if h.find("/api-docs/"+below) != nil {
			return func(w http.ResponseWriter, r *http.Request) {
				redirect(w, r, rootOf(path)+below)
			}
		}
	}
	return nil
}

func redirect(w http.ResponseWriter, r *http.Request, to string) {
	(&page{status: http.StatusFound, location: to, policy: web.Policy, content: fixed(nil)}).serve(w, r)
}

// serve writes a page, or reports that the caller's copy of it is still valid.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	body, etag := p.content()
	header := w.Header()
	header.Set("Content-Security-Policy", p.policy)
	switch {
	case p.caching != "":
		header.Set("Cache-Control", p.caching)
	case p.status == http.StatusOK:
		header.Set("Cache-Control", revalidated)
	}
	if p.location != "" {
		header.Set("Location", p.location)
		write(w, r, p.status, nil)
		return
	}
	header.Set("ETag", etag)
	if p.shared {
		header.Set("Access-Control-Allow-Origin", "*")
	}
	if p.status == http.StatusOK && matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", p.kind)
	if p.encoding != "" {
		header.Set("Content-Encoding", p.encoding)
	}
	write(w, r, p.status, body)
}

// matches reports whether an If-None-Match names the entity tag (RFC 9110, 13.1.2). It compares weakly, because a
// gateway that compresses turns a strong tag into a weak one.
func matches(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// envelope is the form of every JSON answer of the service.
type envelope struct {
	Data      any      `json:"data"`
	Error     *failure `json:"error"`
	RequestID string   `json:"request_id"`
}

type failure struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	Type    string    `json:"type"`
	DocURL  string    `json:"doc_url"`
}

func writeError(w http.ResponseWriter, r *http.Request, code errs.Code, message string) {
	info := errs.InfoOf(code)
	answer(w, r, info.Status, envelope{Error: &failure{Code: code, Message: message, Type: info.Type,
		DocURL: errs.DocURL(baseOf(r), code)}})
}

// baseOf returns the address of the service as the caller used it.
func baseOf(r *http.Request) string {
	gateway, _ := proxy.Gateway(r.Context())
	return web.BaseURL(cmp.Or(r.Header.Get("Host"), r.Host), gateway.Stage)
}

func answer(w http.ResponseWriter, r *http.Request, status int, e envelope) {
	e.RequestID = r.Header.Get(RequestIDHeader)
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(e); err != nil {
		http.Error(w, "", http.StatusInternalServerError) // cannot happen: all of it is text
		return
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, r, status, body.Bytes())
}

func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.WriteHeader(status)
	// The gateway drops the body of an answer to HEAD, and keeps its length.
	if _, err := w.Write(body); err != nil {
		slog.Warn("answer not written", "request_id", r.Header.Get(RequestIDHeader), "error", err)
	}
}

// Lambda adapts the pages to the events of API Gateway (payload format 1.0). It does not use httpapi's adapter: the
// operations, with the schemas and the AWS clients that come with them, would double the start-up time of this
// function.
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The gateway's id replaces the id that the caller sent.
		gateway, _ := proxy.Gateway(r.Context())
		r.Header.Set(RequestIDHeader, gateway.RequestID)
		h.ServeHTTP(w, r)
	}))
}

const markdownType = "text/markdown; charset=utf-8"

// addAgents adds the pages for agents that read: the texts of the guides and of the codes, their index, and all of them
// in one text.
func (h *handler) addAgents() {
	add := func(path string, text func() []byte) {
		h.pages[path] = &page{kind: markdownType, shared: true, content: content(text)}
	}
	for _, g := range guides {
		add(guidesPath+"/"+g.name+".md", func() []byte { return markdown(g.name) })
	}
	add(errorsPath+".md", errorIndex)
	add("/llms.txt", index)
	add("/llms-full.txt", func() []byte { return everything(h.reference()) })
}

// guideLink is a link from a guide to another.
var guideLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\]\(([a-z-]+)(#[a-z0-9-]+)?\)`)
})

// markdown returns the text of a guide whose links lead to texts.
func markdown(name string) []byte {
	return guideLink().ReplaceAll(guideText(name), []byte("](${1}.md$2)"))
}

const about = "# Content-Automation API\n\n> A REST API for making and publishing social-media content: factories " +
	"make posts, videos, carousels, stories and music clips, and publish them on Instagram, TikTok, YouTube, " +
	"Telegram, VK, Rutube and others.\n\nCalls are JSON over HTTPS with `Authorization: Bearer svc_test_…`. Keys " +
	"that begin with `svc_test_` use a sandbox. Work runs in the background; webhooks report the result. Agents can " +
	"use the tools at `/mcp` (Model Context Protocol) instead.\n"

// index returns the index of the texts. Its links are relative, since the path may begin with a stage.
func index() []byte {
	var out bytes.Buffer
	out.WriteString(about)
	group := ""
	for _, g := range guides {
		if g.group != group {
			group = g.group
			fmt.Fprintf(&out, "\n## %s\n\n", group)
		}
		fmt.Fprintf(&out, "- [%s](%s/%s.md)%s\n", g.title, strings.TrimPrefix(guidesPath, "/"), g.name,
			lead(guideText(g.name)))
	}
	fmt.Fprintf(&out, "\n## Reference\n\n- [Errors](%s.md): All codes of errors\n- [OpenAPI document](openapi.json): "+
		"All operations with their schemas\n- [All texts](llms-full.txt): The guides, the codes and the operations "+
		"in one file\n",
		strings.TrimPrefix(errorsPath, "/"))
	return out.Bytes()
}

// lead returns the first sentence of a guide.
func lead(text []byte) string {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.ContainsAny(line[:1], "|`<-") {
			return ""
		}
		sentence, _, _ := strings.Cut(line, ". ")
		return ": " + strings.TrimSuffix(regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(sentence, "$1"),
			".")
	}
	return ""
}

// everything returns the guides, the codes and the list of the operations.
func everything(r *reference) []byte {
	var out bytes.Buffer
	out.WriteString(about)
	for _, g := range guides {
		out.WriteString("\n")
		out.Write(markdown(g.name))
	}
	out.WriteString("\n")
	out.Write(errorIndex())
	out.WriteString("\n# Operations\n\n| Operation | Call | Scope | Meaning |\n|---|---|---|---|\n")
	for _, o := range r.all() {
		fmt.Fprintf(&out, "| `%s` | `%s %s` | `%s` | %s |\n", o.ID, o.Method, o.Path, strings.Join(o.Scopes, " "),
			o.Summary)
	}
	return out.Bytes()
}
