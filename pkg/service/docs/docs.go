// Package docs serves the paths that need no key: the OpenAPI document, the explorer that shows it and tries its
// operations, the guides, the pages of the error codes and the health check. It serves all resources of a page: pages
// call no other host. New makes the handler.
package docs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// RequestIDHeader carries the id of a request, in and out.
const RequestIDHeader = "X-Request-Id"

var (
	//go:embed explorer.html
	explorerPage []byte

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

	missingPage = `<!doctype html>
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
	// Assets holds assets/scalar-<version>.js.gz. If it is nil, the embedded files are used.
	Assets fs.FS
}

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

// handler serves the pages by path.
type handler map[string]*page

// New makes the handler of the public paths.
func New(o Options) http.Handler {
	if o.Assets == nil {
		o.Assets = embedded
	}
	h := handler{
		"/openapi.json": {content: fixed(o.JSON), kind: "application/json", shared: true},
		"/openapi.yaml": {content: content(o.yaml), kind: "application/yaml", shared: true}, // RFC 9512
	}
	for from, to := range map[string]string{
		"/": "api-docs/explorer", "/docs": "api-docs/explorer", "/api-docs": "api-docs/explorer",
		guidesPath: "guides/quick-start",
	} {
		h[from] = &page{status: http.StatusFound, location: to, content: fixed(nil), kind: htmlType}
	}
	h.addExplorer(o.Assets)
	h.addGuides()
	h.addAgents(o.JSON)
	for _, p := range h {
		if p.status == 0 {
			p.status = http.StatusOK
		}
		if p.policy == "" {
			p.policy = web.Policy
		}
	}
	return h
}

// addExplorer adds the page and its two scripts, or a page that reports that the large one is missing.
func (h handler) addExplorer(assets fs.FS) {
	found, err := fs.Glob(assets, "assets/scalar-*.js.gz")
	if err != nil || len(found) == 0 {
		slog.Error("the explorer's script is not built in", "error", err)
		h[explorerPath] = &page{status: http.StatusServiceUnavailable, content: fixed([]byte(missingPage)),
			kind: htmlType}
		return
	}
	scalar := strings.TrimSuffix(path.Base(found[0]), ".gz") // has the version in it
	own := "explorer-" + digest(explorerScript) + ".js"
	styles := append([]byte(web.FontFaces("")), explorerStyle...)
	style := "frame-" + digest(styles) + ".css"
	h[assetsPath+style] = &page{content: fixed(styles), kind: "text/css; charset=utf-8", caching: forever}
	html := strings.NewReplacer("{{scalar}}", scalar, "{{explorer}}", own, "{{style}}", style).
		Replace(string(explorerPage))
	h[explorerPath] = &page{content: fixed([]byte(html)), kind: htmlType, policy: explorerPolicy}
	h[assetsPath+own] = &page{content: fixed(explorerScript), kind: scriptType, caching: forever}
	h[assetsPath+scalar] = &page{kind: scriptType, encoding: "gzip", caching: forever, content: content(func() []byte {
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

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set(RequestIDHeader, r.Header.Get(RequestIDHeader))
	web.SetHeaders(header)
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")

	p, known := h[r.URL.Path]
	known = known || r.URL.Path == "/healthz"
	switch {
	case !known:
		writeError(w, r, errs.UnknownPath,
			"There is no such path. Compare it with the API reference at /api-docs/explorer.")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		writeError(w, r, errs.MethodNotAllowed, "This path does not support the method "+r.Method+
			". It supports GET, HEAD.")
	case p == nil:
		answer(w, r, http.StatusOK, envelope{Data: map[string]string{"status": "ok"}})
	default:
		p.serve(w, r)
	}
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
	gateway, _ := proxy.Gateway(r.Context())
	base := web.BaseURL(cmp.Or(r.Header.Get("Host"), r.Host), gateway.Stage)
	info := errs.InfoOf(code)
	answer(w, r, info.Status, envelope{Error: &failure{Code: code, Message: message, Type: info.Type,
		DocURL: errs.DocURL(base, code)}})
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
