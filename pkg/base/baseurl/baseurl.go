// Package baseurl returns the address of the API as its caller used it.
package baseurl

import "strings"

// Of returns the base URL of a request with the header Host, without a slash at its
// end; stage is that of the gateway. The gateway's own name has the stage in the path;
// a domain of the customer's own and the local system have not. It is empty where the
// host is unknown.
func Of(host, stage string) string {
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
