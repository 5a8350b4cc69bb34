package crm

import (
	_ "embed"
	"log/slog"
	"net/http"

	"github.com/content-automation/api/pkg/base/webpage"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var design = webpage.New(pageText, pageStyle)

// pagePolicy permits the page its style, and nothing else.
var pagePolicy = design.Policy("img-src data:; form-action 'none'; ")

// page is a page for the browser of an administrator of a CRM.
type page struct {
	Status      int
	Title, Text string
	// Ask is the request for access, or nil.
	Ask *request
	// Link is the address of a page of the service that the administrator opens first, or empty.
	Link string

	// cookie notes that the browser has shown the request, or is nil.
	cookie *http.Cookie
	// code is the failure in the audit log.
	code string
}

// request is a customer's request for access to a CRM.
type request struct {
	Customer, AccountID string
	// CRM is the name of the CRM, and Address the address of its page.
	CRM, Address string
}

// as returns the page with a failure.
func (p page) as(code string) page {
	p.code = code
	return p
}

var linkInvalid = page{Status: http.StatusBadRequest, Title: "This link is not valid",
	Text: "Nothing was connected: the link has expired or was used, or it is incomplete. Ask for a new link."}

var linkEnded = page{Status: http.StatusForbidden, Title: "This link is not valid any more", code: failedEnded,
	Text: "Nothing was connected: who asked for the access may not ask for it any more. Ask for a new link."}

// nothing returns the page of an authorization that has connected nothing.
func nothing(status int, code, text string) page {
	return page{Status: status, Title: "Nothing was connected", Text: text, code: code}
}

// broken returns the page of an internal failure.
func broken(what string, err error) page {
	slog.Error("callback of an integration failed", "what", what, "error", err)
	return page{Status: http.StatusServiceUnavailable, Title: "Something went wrong", code: failedBroken,
		Text: "Nothing was connected. Ask for a new link, and try again in a few minutes."}
}

// write answers with the page. Its address contains the code of the CRM.
func (p page) write(w http.ResponseWriter) {
	if p.cookie != nil {
		http.SetCookie(w, p.cookie)
	}
	design.Write(w, http.MethodGet, p.Status, pagePolicy, p)
}
