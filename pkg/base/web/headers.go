package web

import "net/http"

// Policy is the Content-Security-Policy of answers that are no pages. One that a browser shows after all loads nothing,
// sends nothing, and is in no frame.
const Policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// AlwaysHeaders returns these headers. Only resources that are named by a hash of their content may be cached instead,
// and only pages have another policy.
func AlwaysHeaders() map[string]string {
	return map[string]string{
		"Cache-Control":             "no-store",
		"Content-Security-Policy":   Policy,
		"Strict-Transport-Security": "max-age=63072000; includeSubDomains", // two years
		"Vary":                      "Accept-Encoding",                     // the gateway compresses
		"X-Content-Type-Options":    "nosniff",
	}
}

// GatewayHeaders returns the headers of the answers that the gateway makes itself. It puts a value in single quotes,
// and so takes none of them inside: their policy needs none.
func GatewayHeaders() map[string]string {
	h := AlwaysHeaders()
	h["Content-Security-Policy"], h["X-Frame-Options"] = "sandbox", "DENY"
	return h
}

// KeepAnswer lets the browser keep the page that answers a form, so that Back shows it with what was typed: browsers do
// not send a form again by themselves. Such a page has no secret.
func KeepAnswer(h http.Header) { h.Set("Cache-Control", "private, max-age=3600") }

// SetHeaders sets these headers.
func SetHeaders(h http.Header) {
	for name, value := range AlwaysHeaders() {
		h.Set(name, value)
	}
}
