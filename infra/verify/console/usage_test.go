package console

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// The page of usage has all calls of the account: those of more keys than a page of the list has, of revoked keys, and
// of keys that were rotated within the minute.
func TestTheUsageIsTrue(t *testing.T) {
	s := start(t)
	made := 0
	call := func(secret any) {
		t.Helper()
		if status, _ := s.call(t, secret.(string), "GET", "/v1/me", nil); status != http.StatusOK {
			t.Fatalf("a call: %d", status)
		}
		made++
	}
	for n := range 22 {
		key := s.must(t, "POST", "/v1/api-keys", object{"name": fmt.Sprint("Key ", n), "kind": "live",
			"scopes": []string{"account:read"}}, 201)
		made++
		for range 2 {
			call(key["secret"])
		}
		switch id := key["id"].(string); n {
		case 0:
			s.must(t, "DELETE", "/v1/api-keys/"+id, nil, 200)
			made++
		case 1:
			key = s.must(t, "POST", "/v1/api-keys/"+id+"/rotate", object{"overlap_seconds": 0}, 201)
			made++
			call(key["secret"])
		}
	}
	b := s.signedIn(t, "owner")
	shown := regexp.MustCompile(`>Requests</h2><p [^>]*>([0-9\x{a0}]+)</p>`)
	var p page
	eventually(t, "all calls are counted", func() bool {
		p = b.get("/settings/usage")
		found := shown.FindStringSubmatch(p.body)
		return found != nil && strings.ReplaceAll(found[1], "\u00a0", "") == fmt.Sprint(made)
	})
	p.shows(t, "Key 0", "Key 1", "Show as a table", "Forecast for this month")
	b.get("/settings/usage?range=month&by=factory").shows(t, `aria-current="true">Factory`)
	if csv := b.get("/settings/usage.csv?range=7"); !strings.HasPrefix(csv.body, "date,credits,requests,refused\n") ||
		strings.Count(csv.body, "\n") != 8 || !strings.Contains(csv.body, fmt.Sprint(",", made, ",")) {
		t.Errorf("%s", csv.body)
	}

	// One view of the keys makes a few calls of the API, not one for each key.
	before := len(s.entries(t, "limit=100&operation_id=getApiKey"))
	b.get("/settings/api-keys").shows(t, "2 requests in 30 days")
	if after := len(s.entries(t, "limit=100&operation_id=getApiKey")); after > before {
		t.Errorf("a view of the keys makes %d calls", after-before)
	}
}
