package consent

import (
	_ "embed"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/safehttp"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var design = web.NewDesign(pageText, web.Look("../../settings/assets/")+pageStyle)

// pagePolicy permits the page its style, and its form to call the page again. It permits no script.
var pagePolicy = design.Policy("font-src 'self'; img-src data:; form-action 'self'; ")

// page is a page for the browser of an owner.
type page struct {
	Status      int
	Title, Text string
	// Brand is the name of the profile that the access is for, and Logo a data URL of its logo. Both are empty without
	// a profile: the header has the name of the service then.
	Brand string
	Logo  template.URL
	// Return is the address of the next page, or empty if there is none.
	Return string
	// State and Choices belong to a form that chooses an account.
	State   string
	Choices []Grant
	// Ask is the request for access, or nil.
	Ask *request
	// Link is the address of a page of the service that the owner opens first, or empty.
	Link string

	// cookie notes that the browser has shown the request, or is nil if it has not.
	cookie *http.Cookie
	// The page ends the visit of with the code. If the page ends no visit, of is nil; if the
	// visit has succeeded, code is empty.
	of   *visit
	code string
}

var (
	wrongMethod = page{Status: http.StatusMethodNotAllowed, Title: "Open the link in a browser"}
	linkInvalid = page{Status: http.StatusBadRequest, Title: "This link is not valid",
		Text: "Nothing was connected. Ask for a new link."}
	linkExpired = page{Status: http.StatusBadRequest, Title: "This link has expired",
		Text: "Nothing was connected. Ask for a new link."}
	linkUsed = page{Status: http.StatusBadRequest, Title: "This link was used already",
		Text: "A link connects an account once. If it was not you who used it, ask for a new link."}
	linkEnded = page{Status: http.StatusForbidden, Title: "This link is not valid any more",
		Text: "Nothing was connected: who asked for the access may not ask for it any more. Ask for a new link."}
)

// broken returns the page of an internal failure.
func broken(what string, err error) page {
	slog.Error("callback failed", "what", what, "error", err)
	return page{Status: http.StatusServiceUnavailable, Title: "Something went wrong",
		Text: "Nothing was connected. Ask for a new link, and try again in a few minutes."}
}

// choice returns the page on which the owner chooses one of several accounts.
func choice(state string, found []Grant) page {
	return page{Status: http.StatusOK, Title: "Which account is to be connected?", Text: "This login has several.",
		State: state, Choices: found}
}

// page adds the link back to the caller's site to a page.
func (v *visit) page(p page, parameters map[string]string) page {
	if v.consent.Return != "" {
		p.Return = safehttp.ReturnWith(v.consent.Return, parameters)
	}
	return p
}

// write answers a request of the method with the page. Its address contains the code of the other side.
func (p page) write(w http.ResponseWriter, method string) {
	if p.Return != "" {
		w.Header().Set("Refresh", "3; url="+p.Return)
	}
	if p.cookie != nil && method == http.MethodGet {
		http.SetCookie(w, p.cookie)
	}
	design.Write(w, method, p.Status, pagePolicy, p)
}
