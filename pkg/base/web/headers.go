// Package web has small parts of HTTP: the address of the API as its caller used it, bearer tokens, headers, and the
// frame of pages. Start with BaseURL, NewBearer, SetHeaders or Design.
package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
)

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

// BaseURL returns the base URL of a request with the header Host, without a slash at its end. Stage is the stage of the
// gateway. The gateway's own name has the stage in the path; a domain of the customer and the local system do not. The
// URL is empty if the host is unknown.
func BaseURL(host, stage string) string {
	name, _, _ := strings.Cut(host, ":")
	switch {
	case host == "":
		return ""
	case name == "localhost" || name == "127.0.0.1":
		return "http://" + host
	case strings.HasSuffix(name, ".amazonaws.com"):
		return "https://" + host + "/" + stage
	default:
		return "https://" + host
	}
}

// NewBearer returns a token of 32 random bytes, and the hash by which it is stored.
func NewBearer(random io.Reader) (token, hash string, err error) {
	b := make([]byte, 32)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", "", fmt.Errorf("bearer: %w", err)
	}
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, HashBearer(token), nil
}

// MatchesBearer reports whether a hash is that of a token. It never is if the hash is empty.
func MatchesBearer(token, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(HashBearer(token)), []byte(hash)) == 1
}

// HashBearer returns the SHA-256 of a token, under which it is stored.
func HashBearer(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
