package edge

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/infra/app/gatewayresponse"
)

// keyless limits the calls from each address, as the deployed firewall does: all of them, or those without a valid key
// and those on paths that take none. The firewall cannot see which keys the gateway refuses; this limit also counts
// those calls.
type keyless struct {
	limit int
	now   func() time.Time

	mu    sync.Mutex
	ends  time.Time
	calls map[string]int // number of calls by address
}

func newKeyless(limit int, now func() time.Time) *keyless {
	return &keyless{limit: limit, now: now}
}

// allows counts a call from an address, and reports whether it is within the limit.
func (k *keyless) allows(address string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); !now.Before(k.ends) {
		k.ends, k.calls = now.Add(gatewayresponse.FilterWindow), map[string]int{}
	}
	k.calls[address]++
	return k.calls[address] <= k.limit
}

// takesKey reports whether a path takes a key or a session.
func takesKey(path string) bool {
	return !slices.ContainsFunc(gatewayresponse.KeylessPaths,
		func(part string) bool { return strings.Contains(path, part) })
}

// hasKey reports whether a request has a header in the form of an API key, of the token of a person or directory, or of
// a session. Case does not matter.
func hasKey(r *http.Request) bool {
	header := strings.ToLower(r.Header.Get("Authorization"))
	cookies := strings.ToLower(r.Header.Get("Cookie"))
	return strings.HasPrefix(header, gatewayresponse.KeyPrefix) ||
		strings.HasPrefix(header, gatewayresponse.TokenPrefix) ||
		strings.HasPrefix(header, gatewayresponse.DirectoryPrefix) ||
		strings.Contains(cookies, gatewayresponse.SessionCookie)
}
