package safehttp

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"

	"github.com/content-automation/api/pkg/base/errs"
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
		return nil, blockedError("The URL is longer than %d characters.", maxURL)
	}
	for _, b := range []byte(raw) {
		if b <= ' ' || b >= 0x7f || b == '\\' {
			return nil, blockedError("The URL may hold printable ASCII characters only, and no backslash: " +
				"percent-encode others, and write an international host name in its xn-- form.")
		}
	}
	if strings.Contains(raw, "#") {
		return nil, blockedError("The URL must not have a fragment (#).")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, blockedError("The URL is not valid.")
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
		return blockedError("The URL must start with https://.")
	case u.Opaque != "" || u.Host == "":
		return blockedError("The URL has no host.")
	case u.User != nil:
		return blockedError("The URL must not have a user name or password.")
	case u.Fragment != "":
		return blockedError("The URL must not have a fragment (#).")
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
		return 0, blockedError("The URL's port is not valid.")
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
		return blockedError("The URL's host is not a valid name. Write it without a trailing dot, and an " +
			"international name in its xn-- form.")
	case isNumber(last):
		return blockedError("The URL's host is not a valid IPv4 address: write four decimal numbers.")
	case len(labels) < 2:
		return blockedError("The URL's host must be a full name, such as hooks.example.com.")
	case slices.Contains(privateSuffixes, last):
		return blockedError("Names that end in .%s are not on the public internet.", last)
	}
	return nil
}

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

// The address table itself is code.dny.dev/ssrf's, generated from the IANA registries of special-purpose addresses (RFC
// 6890): every IPv4 row of it, and for IPv6 everything outside of 2000::/3 (so also IPv4-mapped, IPv4-compatible,
// NAT64, unique local, link-local, site-local, multicast, discard and SRv6 addresses) plus the special rows inside
// (Teredo, ORCHID, 6to4, documentation, AS112). The rows below are not in those registries, and are refused as well.
var (
	denied4 = []netip.Prefix{
		// The WireServer of Azure's hosts: a public address that only its own virtual machines reach, and that hands
		// out their configuration. learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
		netip.MustParsePrefix("168.63.129.16/32"),
	}
	denied6 = []netip.Prefix{
		// 6bone, given back to IANA by RFC 3701 and not assigned since.
		netip.MustParsePrefix("3ffe::/16"),
	}
)

// policy decides which addresses may be dialed. It checks the very address that a connection is about to be opened to.
type policy struct {
	loopback bool // the local system: loopback is allowed, over http and on any port
	ports    []uint16
	public   *ssrf.Guardian
}

func newPolicy(loopback bool, ports []uint16) *policy {
	return &policy{
		loopback: loopback,
		ports:    ports,
		public: ssrf.New(
			ssrf.WithPorts(ports...),
			ssrf.WithDeniedV4Prefixes(denied4...),
			ssrf.WithDeniedV6Prefixes(denied6...),
		),
	}
}

// check reports whether a connection to the address may be opened. The argument plain reports that it would not be
// encrypted. The error never names the address: a caller must not learn the addresses of names inside a private
// network.
func (p *policy) check(plain bool, to netip.AddrPort) error {
	addr := to.Addr()
	switch {
	case !addr.IsValid() || addr.Zone() != "" || isISATAP(addr):
		return errNotPublic
	case p.loopback && addr.IsLoopback():
		return nil
	case plain:
		return blockedError("The URL must start with https://.")
	}
	switch err := p.public.SafeAddr(addr); {
	case err != nil:
		return errNotPublic
	case p.public.SafeAddrPort(to) != nil:
		return p.portError(to.Port())
	}
	return nil
}

// portError returns the error for a port that is not allowed, with the allowed ports.
func (p *policy) portError(port uint16) error {
	allowed := make([]string, len(p.ports))
	for i, a := range p.ports {
		allowed[i] = strconv.Itoa(int(a))
	}
	return blockedError("The port %d is not allowed: use %s.", port, strings.Join(allowed, " or "))
}

// isISATAP reports whether the interface identifier embeds an IPv4 address as in RFC 5214, section 6.1. Such an address
// can be in any /64, so no table contains it. A host with an ISATAP interface tunnels it to the embedded address.
func isISATAP(addr netip.Addr) bool {
	if !addr.Is6() {
		return false
	}
	b := addr.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

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
