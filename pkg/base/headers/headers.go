// Package headers has the headers that every response of the service carries, whoever
// makes it.
package headers

import "net/http"

// Always returns these headers. Only what is named by a hash of its content may be
// cached instead.
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
