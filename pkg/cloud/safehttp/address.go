package safehttp

import (
	"net/netip"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
)

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
		return blocked("The URL must start with https://.")
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
	return blocked("The port %d is not allowed: use %s.", port, strings.Join(allowed, " or "))
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
