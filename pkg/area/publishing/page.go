package publishing

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/headers"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// pageTemplate is parsed when a page is first asked for, because most starts of the function serve an operation.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("review").Funcs(template.FuncMap{
		"add": func(a, b int) int { return a + b },
	}).Parse(pageText))
})

// styleHash is the source of the style sheet in the policy of the page.
var styleHash = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})

// page is a page of a review link.
type page struct {
	Status       int
	Title, Text  string
	Notice       string // the result of a decision
	Items        []pageItem
	Decide       bool
	origins      []string // of the media
	allow, after string   // the header Allow, and the address to go to
}

type pageItem struct {
	ID, Title, Kind, StateText, Note string
	PublishAt, PublishText           string
	Posts                            []pagePost
	// Open reports whether the item can be decided about.
	Open bool
}

type pagePost struct {
	Label, Title, Caption, Rest string
	Hashtags                    []string
	Media                       []pageMedia
}

type pageMedia struct {
	URL           template.URL
	Alt           string
	Video         bool
	Width, Height int
}

// Style returns the style sheet.
func (page) Style() template.CSS { return template.CSS(pageStyle) }

var (
	pageGone = page{Status: http.StatusNotFound, Title: "This page has ended",
		Text: "The link is not valid, or is not valid any more. Ask for a new one."}
	pageBroken = page{Status: http.StatusServiceUnavailable, Title: "Something went wrong",
		Text: "Nothing was changed. Try again in a few minutes."}
)

// policy permits the page to use its style, to show the media, and to send its forms to itself. It permits no script.
func (p page) policy() string {
	media := "'none'"
	if len(p.origins) > 0 {
		media = strings.Join(p.origins, " ")
	}
	return "default-src 'none'; img-src data: " + strings.TrimPrefix(media, "'none'") + "; media-src " + media +
		"; style-src " + styleHash() + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}

// show adds the origin of a file to those that the policy permits.
func (p *page) show(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if origin := u.Scheme + "://" + u.Host; !slices.Contains(p.origins, origin) {
		p.origins = append(p.origins, origin)
	}
}

// write answers a request with the page. Its address is a secret: it is not cached, and goes to no other site.
func (p page) write(w http.ResponseWriter, method string) {
	h := w.Header()
	headers.Set(h)
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", p.policy())
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.after != "" {
		h.Set("Location", p.after)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	var body bytes.Buffer
	if err := pageTemplate().Execute(&body, p); err != nil {
		slog.Error("review page not written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(p.Status)
	if method == http.MethodHead {
		return
	}
	if _, err := w.Write(body.Bytes()); err != nil {
		slog.Warn("review page not written", "error", err)
	}
}
