package auth

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
)

// maxCIDRs bounds an allow-list, which is sent with every call of its keys.
const maxCIDRs = 50

// ParseCIDRs checks an allow-list and returns it in canonical form. A single address becomes a range of itself. Param
// is the JSON pointer of the list.
func ParseCIDRs(list []string, param string) ([]string, error) {
	if len(list) > maxCIDRs {
		return nil, errs.Invalid(param, "must have at most %d entries", maxCIDRs)
	}
	out := make([]string, len(list))
	for i, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, aerr := netip.ParseAddr(s); aerr == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i), "is not an address range in CIDR notation; write it as "+
				"203.0.113.0/24 or 2001:db8::/32")
		}
		if p.Addr().Is4In6() {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i), "is an IPv4 address in IPv6 form; write it as IPv4")
		}
		if p.Masked() != p {
			return nil, errs.Invalid(param+"/"+strconv.Itoa(i),
				"has bits set beyond its length; did you mean %s?", p.Masked())
		}
		out[i] = p.String()
	}
	return out, nil
}

// Outside returns the index of the first range of a list that does not lie within one range of an allow-list, or -1 if
// there is none. An empty list permits all addresses. Therefore it is within an empty allow-list only, and its index is
// 0 otherwise.
func Outside(list, allowed []string) int {
	if len(allowed) == 0 {
		return -1
	}
	if len(list) == 0 {
		return 0
	}
	return slices.IndexFunc(list, func(s string) bool {
		return !slices.ContainsFunc(allowed, func(a string) bool { return holds(a, s) })
	})
}

// holds reports whether one range holds all addresses of another.
func holds(outer, inner string) bool {
	o, err := netip.ParsePrefix(outer)
	if err != nil {
		return false
	}
	i, err := netip.ParsePrefix(inner)
	return err == nil && o.Bits() <= i.Bits() && o.Contains(i.Addr())
}

// Permits reports whether an allow-list permits an address. An empty list permits all. A malformed address is permitted
// by an empty list only.
func Permits(list []string, address string) bool {
	if len(list) == 0 {
		return true
	}
	a, err := netip.ParseAddr(strings.TrimSpace(address))
	if err != nil {
		return false
	}
	a = a.Unmap()
	for _, s := range list {
		if p, err := netip.ParsePrefix(s); err == nil && p.Contains(a) {
			return true
		}
	}
	return false
}
