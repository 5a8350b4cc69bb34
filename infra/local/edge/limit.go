package edge

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// addresses limits the calls of some kind from each address, as a rule of the deployed firewall does. The firewall
// cannot see which keys the gateway refuses; the limit of calls without a key also counts those.
type addresses struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	ends  time.Time
	calls map[string]int // number of calls by address
}

func newAddresses(limit int, now func() time.Time) *addresses {
	return &addresses{limit: limit, now: now}
}

// allows counts a call from an address, and reports whether it is within the limit.
func (a *addresses) allows(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); !now.Before(a.ends) {
		a.ends, a.calls = now.Add(gatewayresponse.FilterWindow), map[string]int{}
	}
	a.calls[address]++
	return a.calls[address] <= a.limit
}

// limits are those of the firewall: of all calls, of each group of paths, and of calls without a valid key on other
// paths.
type limits struct {
	all, keyless *addresses
	groups       []*addresses
}

func newLimits(limit int, now func() time.Time) *limits {
	l := &limits{all: newAddresses(gatewayresponse.AllCalls(limit), now), keyless: newAddresses(limit, now)}
	for _, g := range gatewayresponse.Groups {
		l.groups = append(l.groups, newAddresses(g.Times*limit, now))
	}
	return l
}

// allow counts a call from an address, and reports whether it is within the limits.
func (l *limits) allow(r *http.Request, address string) bool {
	allowed := l.all.allows(address)
	if group := gatewayresponse.GroupOf(r.URL.Path); group < len(l.groups) {
		return l.groups[group].allows(address) && allowed
	}
	return (hasKey(r) || l.keyless.allows(address)) && allowed
}

// hasKey reports whether a request has a header in the form of an API key, of the token of a person or directory, or of
// a session. Case and the number of spaces do not matter.
func hasKey(r *http.Request) bool {
	header := strings.ToLower(strings.Join(strings.Fields(r.Header.Get("Authorization")), " "))
	cookies := strings.ToLower(r.Header.Get("Cookie"))
	return strings.HasPrefix(header, gatewayresponse.KeyPrefix) ||
		strings.HasPrefix(header, gatewayresponse.TokenPrefix) ||
		strings.HasPrefix(header, gatewayresponse.DirectoryPrefix) ||
		strings.Contains(cookies, gatewayresponse.SessionCookie)
}
