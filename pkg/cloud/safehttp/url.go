package safehttp

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxURL is the longest accepted URL, in bytes. Common servers accept as much.
const maxURL = 2048

// privateSuffixes are top-level names that never lead to the public internet, whatever a resolver returns for them.
var privateSuffixes = []string{
	"alt",                        // RFC 9476
	"arpa",                       // RFC 3172; home.arpa: RFC 8375
	"example", "invalid", "test", // RFC 6761
	"internal",             // ICANN board, 29 July 2024; the clouds' own names, metadata too
	"local",                // RFC 6762
	"localhost",            // RFC 6761
	"onion",                // RFC 7686
	"corp", "home", "mail", // ICANN board, 4 February 2018: never delegated
	"intranet", "lan", "private", // RFC 6762, appendix G: in private use
	"localdomain", // the default of many hosts files
}

// parse applies the rules that need no look-up to a caller's URL. They are stricter
// than the URL standards, so that no two parsers can disagree about its host.
func (c *Client) parse(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, blocked("The URL is longer than %d characters.", maxURL)
	}
	for _, b := range []byte(raw) {
		if b <= ' ' || b >= 0x7f || b == '\\' {
			return nil, blocked("The URL may hold printable ASCII characters only, and no backslash: percent-encode " +
				"others, and write an international host name in its xn-- form.")
		}
	}
	if strings.Contains(raw, "#") {
		return nil, blocked("The URL must not have a fragment (#).")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, blocked("The URL is not valid.")
	}
	if err := c.checkParts(u); err != nil {
		return nil, err
	}
	return u, nil
}

// checkParts applies the same rules to the parts of a URL.
func (c *Client) checkParts(u *url.URL) error {
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !c.policy.loopback):
		return blocked("The URL must start with https://.")
	case u.Opaque != "" || u.Host == "":
		return blocked("The URL has no host.")
	case u.User != nil:
		return blocked("The URL must not have a user name or password.")
	case u.Fragment != "":
		return blocked("The URL must not have a fragment (#).")
	}
	port, err := portOf(u)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if addr, err := netip.ParseAddr(host); err == nil {
		return c.policy.check(u.Scheme == "http", netip.AddrPortFrom(addr, port))
	}
	if err := c.checkName(host); err != nil {
		return err
	}
	// If loopback is allowed, the resolved address decides about the port.
	if !c.policy.loopback && !slices.Contains(c.policy.ports, port) {
		return c.policy.portError(port)
	}
	return nil
}

// portOf returns the port that will be dialed.
func portOf(u *url.URL) (uint16, error) {
	text := u.Port()
	switch {
	case text == "" && u.Scheme == "http":
		return 80, nil
	case text == "":
		return 443, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, blocked("The URL's port is not valid.")
	}
	return uint16(port), nil
}

// checkName reports whether a host is a full name of the public DNS.
func (c *Client) checkName(host string) error {
	if c.policy.loopback && isLocalhost(host) {
		return nil
	}
	labels := strings.Split(strings.ToLower(host), ".")
	last := labels[len(labels)-1]
	switch {
	case len(host) > 253 || slices.ContainsFunc(labels, notLabel):
		return blocked("The URL's host is not a valid name. Write it without a trailing dot, and an international " +
			"name in its xn-- form.")
	case isNumber(last):
		return blocked("The URL's host is not a valid IPv4 address: write four decimal numbers.")
	case len(labels) < 2:
		return blocked("The URL's host must be a full name, such as hooks.example.com.")
	case slices.Contains(privateSuffixes, last):
		return blocked("Names that end in .%s are not on the public internet.", last)
	}
	return nil
}

// isLocalhost reports whether the host is localhost.
func isLocalhost(host string) bool { return strings.EqualFold(host, "localhost") }

// notLabel reports whether s is no label of a host name (RFC 1123, and underscores, which are in use and harmless).
func notLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return true
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
}

// isNumber reports whether some resolvers take a host with this last label for an IPv4 address in one of the old forms
// (decimal, octal, hexadecimal, with less than four parts). netip has refused the host, so no such address is accepted.
func isNumber(label string) bool {
	return strings.Trim(label, "0123456789") == "" || strings.HasPrefix(label, "0x")
}
