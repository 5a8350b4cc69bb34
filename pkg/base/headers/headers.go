// Package headers has the headers of every response of the service.
package headers

import "net/http"

// Policy is the Content-Security-Policy of answers that are no pages. One that a browser shows after all loads nothing,
// sends nothing, and is in no frame.
const Policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// Always returns these headers. Only resources that are named by a hash of their content may be cached instead, and
// only pages have another policy.
func Always() map[string]string {
	return map[string]string{
		"Cache-Control":             "no-store",
		"Content-Security-Policy":   Policy,
		"Strict-Transport-Security": "max-age=63072000; includeSubDomains", // two years
		"Vary":                      "Accept-Encoding",                     // the gateway compresses
		"X-Content-Type-Options":    "nosniff",
	}
}

// Set sets these headers.
func Set(h http.Header) {
	for name, value := range Always() {
		h.Set(name, value)
	}
}
