package safehttp

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
)

// MaxListed bounds the entries of a list, and maxLength the length of each.
const (
	MaxListed = 20
	maxLength = 500
)

// CheckReturn refuses a list that cannot be stored. Param is the JSON pointer of the list. An entry is the address of a
// page, and also permits the pages below it.
func CheckReturn(list []string, param string) error {
	if len(list) > MaxListed {
		return errs.Invalid(param, "must have at most %d entries", MaxListed)
	}
	for i, entry := range list {
		if u := parse(entry); u == nil || u.RawQuery != "" || len(entry) > maxLength {
			return errs.Invalid(param+"/"+strconv.Itoa(i), "must be an https URL without query and fragment, such as "+
				"https://app.example.com/social; http is permitted for the loopback address")
		}
	}
	return nil
}

// AllowsReturn reports whether a list permits an address: it must have the scheme and host of an entry, and its path or
// one below it.
func AllowsReturn(list []string, address string) bool {
	u := parse(address)
	if u == nil {
		return false
	}
	for _, entry := range list {
		e := parse(entry)
		if e == nil || e.Scheme != u.Scheme || e.Host != u.Host {
			continue
		}
		below := strings.TrimSuffix(e.EscapedPath(), "/") + "/"
		if u.EscapedPath() == e.EscapedPath() || strings.HasPrefix(u.EscapedPath()+"/", below) {
			return true
		}
	}
	return false
}

// parse returns an address that all browsers understand in the same way, or nil for any other.
func parse(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" ||
		strings.ContainsAny(address, "\\ \t\r\n") || strings.HasSuffix(address, "#") {
		return nil
	}
	u.Host = strings.ToLower(u.Host)
	// A path with such parts may mean a different path.
	if strings.Contains(u.EscapedPath(), "..") || strings.Contains(strings.ToLower(u.EscapedPath()), "%2e") ||
		strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") ||
		strings.Contains(strings.ToLower(u.EscapedPath()), "%5c") {
		return nil
	}
	loopback := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil
	}
	return u
}

// ReturnWith returns the address with more parameters in its query.
func ReturnWith(address string, parameters map[string]string) string {
	u := parse(address)
	if u == nil {
		return ""
	}
	q := u.Query()
	for name, value := range parameters {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
