package publishing

import (
	_ "embed"
	"html/template"
	"maps"
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

var design = web.NewDesign(pageText, web.Look("../settings/assets/")+pageStyle, template.FuncMap{
	"of":   func(p page, one pageItem) itemOf { return itemOf{p, one} },
	"logo": web.Logo,
})

// page is a page of a review link.
type page struct {
	choices
	Status      int
	Title, Text string
	// Brand is the name of the profile whose posts are on the page, and Logo its logo: empty without a profile.
	Brand  string
	Logo   template.URL
	Notice string // why a form did nothing, if its item is not on the page
	Items  []pageItem
	// Decided is how many of Total items were decided about.
	Decided, Total int
	Decide         bool
	// origins are those of the media that the page shows, after is the address to go to instead of a page, and allow
	// the header Allow.
	origins      []string
	allow, after string
}

// Link returns the address of the page with all posts, or with those that wait for a decision.
func (p page) Link(todo bool) string {
	q := url.Values{}
	maps.Copy(q, p.query)
	if q.Del("todo"); todo {
		q.Set("todo", "1")
	}
	return "?" + q.Encode()
}

// itemOf is what the template of a post gets.
type itemOf struct {
	Page page
	Item pageItem
}

// in returns the page in the language of its reader.
func (p page) in(c choices) page {
	p.choices, p.Title, p.Text = c, c.T(p.Title), c.T(p.Text)
	return p
}

type pageItem struct {
	// Name is the title of the item or the beginning of its text. It may be empty.
	ID, Name, Kind, StateText, Note string
	// Made says how the finished media were made, and Signer who has signed that.
	Made, Signer           string
	PublishAt, PublishText string
	Posts                  []pagePost
	// Version is that of the item as the page shows it: a decision is about this version alone.
	Version int64
	// Open reports whether the reader can decide about the item, and Undo whether they can take their decision back.
	Open, Undo bool
	// Decided reports whether there is a decision, and Approved whether it is approved.
	Decided, Approved bool
	// Last reports that the last form was about the item, and Failed why it did nothing. Typed is the note of the form.
	Last          bool
	Failed, Typed string
}

type pagePost struct {
	Platform, Label, Handle, Title, Caption, Rest string
	Hashtags                                      []string
	Media                                         []pageMedia
}

// Initial returns the first letter of the handle, which stands for its picture.
func (p pagePost) Initial() string {
	for _, letter := range strings.TrimPrefix(p.Handle, "@") {
		return strings.ToUpper(string(letter))
	}
	return ""
}

type pageMedia struct {
	URL template.URL
	// Small is the address of the thumbnail, or empty. A click shows the whole picture, and starts a video.
	Small         template.URL
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
	return design.Policy("font-src 'self'; img-src data: " +
		strings.TrimPrefix(media, "'none'") + "; media-src " + media +
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
