package edge

import (
	"io"
	"net/http"
	"slices"
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

// limits are those of the firewall: of calls without a valid key, of each group of paths, and of all calls.
type limits struct {
	all, keyless *addresses
	groups       []*addresses
}

// The names of the rules that are no group.
const ruleKeyless, ruleAddress = "keyless", "address"

func newLimits(limit int, now func() time.Time) *limits {
	l := &limits{all: newAddresses(gatewayresponse.AllCalls(limit), now), keyless: newAddresses(limit, now)}
	for _, g := range gatewayresponse.Groups {
		l.groups = append(l.groups, newAddresses(g.Times*limit, now))
	}
	return l
}

// refusing counts a call from an address in every rule that it matches, as AWS does, and returns the name of the first
// one whose limit is reached, or an empty text.
func (l *limits) refusing(r *http.Request, address string) (rule string) {
	count := func(name string, matches bool, of *addresses) {
		if matches && !of.allows(address) && rule == "" {
			rule = name
		}
	}
	count(ruleKeyless, !hasKey(r) && !gatewayresponse.Grouped(r.URL.Path), l.keyless)
	for i, g := range gatewayresponse.Groups {
		count(g.Name, g.Has(r.URL.Path) && !(g.Strangers && hasSession(r)), l.groups[i])
	}
	count(ruleAddress, true, l.all)
	return rule
}

// refuse answers for a rule of the firewall.
func refuse(w http.ResponseWriter, rule, base string) {
	if slices.ContainsFunc(gatewayresponse.Groups, func(g gatewayresponse.Group) bool {
		return g.Name == rule && g.OAuth
	}) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", gatewayresponse.Filtered.Headers()["Retry-After"])
		w.WriteHeader(gatewayresponse.Filtered.Status())
		_, _ = io.WriteString(w, gatewayresponse.FilteredProgram)
		return
	}
	answer(w, gatewayresponse.Filtered, base)
}

// hasKey reports whether a request has a header in the form of an API key, of the token of a person or directory, or of
// a session. Case and the number of spaces do not matter.
func hasKey(r *http.Request) bool {
	header := strings.ToLower(strings.Join(strings.Fields(r.Header.Get("Authorization")), " "))
	return strings.HasPrefix(header, gatewayresponse.KeyPrefix) ||
		strings.HasPrefix(header, gatewayresponse.TokenPrefix) ||
		strings.HasPrefix(header, gatewayresponse.DirectoryPrefix) ||
		hasSession(r)
}

// ofPrograms reports whether a request is of a program. Each of their tokens ends after an hour, so that wrong ones are
// no guesses.
func ofPrograms(r *http.Request) bool {
	return slices.ContainsFunc(gatewayresponse.Groups, func(g gatewayresponse.Group) bool {
		return g.OAuth && g.Has(r.URL.Path)
	})
}

// hasSession reports whether a request has the cookie of a session.
func hasSession(r *http.Request) bool {
	return strings.Contains(strings.ToLower(r.Header.Get("Cookie")), gatewayresponse.SessionCookie)
}
