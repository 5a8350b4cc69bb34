// Package web has small parts of HTTP: the address of the API as its caller used it, bearer tokens, headers, and the
// frame of pages. Start with BaseURL, NewBearer, SetHeaders or Design.
package web

import "strings"

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
