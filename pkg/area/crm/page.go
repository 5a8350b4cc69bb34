package crm

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/content-automation/api/pkg/base/headers"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pagePolicy permits the page to use its style, and nothing else.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
}()

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

// Style returns the style sheet.
func (page) Style() template.CSS { return template.CSS(pageStyle) }

// as returns the page with a failure.
func (p page) as(code string) page {
	p.code = code
	return p
}

var linkInvalid = page{Status: http.StatusBadRequest, Title: "This link is not valid",
	Text: "Nothing was connected: the link has expired or was used, or it is incomplete. Ask for a new link."}

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

// write writes the page. It is not cached. Its address contains the code of the CRM, and so goes to no other site.
func (p page) write(w http.ResponseWriter) {
	h := w.Header()
	headers.Set(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	var body bytes.Buffer
	if err := pageTemplate.Execute(&body, p); err != nil {
		slog.Error("page not written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	if p.cookie != nil {
		http.SetCookie(w, p.cookie)
	}
	w.WriteHeader(p.Status)
	if _, err := w.Write(body.Bytes()); err != nil {
		slog.Warn("page not written", "error", err)
	}
}
