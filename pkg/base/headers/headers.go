// Package headers has the headers of every response of the service.
package headers

import "net/http"

// Always returns these headers. Only resources that are named by a hash of their content may be cached instead.
func Always() map[string]string {
	return map[string]string{
		"Cache-Control":             "no-store",
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
