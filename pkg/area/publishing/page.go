package publishing

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/web"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var design = web.NewDesign(pageText, pageStyle)

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
	// Made says how the finished media were made, and Signer who has signed that.
	Made, Signer           string
	PublishAt, PublishText string
	Posts                  []pagePost
	// Version is that of the item as the page shows it: a decision is about this version alone.
	Version int64
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
	return design.Policy("img-src data: " + strings.TrimPrefix(media, "'none'") + "; media-src " + media +
		"; form-action 'self'; ")
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

// write answers a request with the page. Its address is a secret.
func (p page) write(w http.ResponseWriter, method string) {
	if p.allow != "" {
		w.Header().Set("Allow", p.allow)
	}
	if p.after != "" {
		web.SetHeaders(w.Header())
		w.Header().Set("Location", p.after)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	design.Write(w, method, p.Status, p.policy(), p)
}
