package console

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
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
	poll.Until(t, "all calls are counted", func() bool {
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

	b.get("/settings/usage?requests=outcome").shows(t, `aria-current="true">Outcome`, "Accepted")
	b.get("/settings/usage?requests=profile").shows(t, "Without a profile")

	// One view of the keys makes a few calls of the API, not one for each key.
	before := len(s.entries(t, "limit=100&operation_id=getApiKey"))
	b.get("/settings/api-keys").shows(t, "2 requests in 30 days")
	if after := len(s.entries(t, "limit=100&operation_id=getApiKey")); after > before {
		t.Errorf("a view of the keys makes %d calls", after-before)
	}
}

// Credits are split by kind, factory, profile and key, on the page and in its file; limits are shown with what is spent
// of them, and the month with its forecast.
func TestCreditsAreSplit(t *testing.T) {
	s := start(t)
	profile := s.must(t, "POST", "/v1/profiles", object{"name": "Harbour Coffee", "spend_limit_credits": 500},
		201)["id"].(string)
	factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Harbour", "profile_id": profile,
		"settings": object{"brand_name": "Harbour"}}, 201)["id"].(string)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "Nightly", "kind": "live", "scopes": []string{"content:read",
		"content:write", "factories:read"}, "spend_limit_credits": 1000}, 201)
	if status, data := s.call(t, key["secret"].(string), "POST", "/v1/content-items", object{"factory_id": factory,
		"kind": "post", "prompt": "A cup"}); status != http.StatusAccepted {
		t.Fatalf("%d %v", status, data)
	}
	b := s.signedIn(t, "owner")
	for by, name := range map[string]string{"kind": "Content", "factory": "Harbour", "profile": "Harbour Coffee",
		"key": "Nightly"} {
		p := b.get("/settings/usage?by=" + by)
		_, chart, _ := strings.Cut(p.main(), `aria-label="Credits: `)
		chart, _, _ = strings.Cut(chart, "</table>")
		if !strings.Contains(chart, `<span class="truncate" dir="auto">`+name+`</span>`) || !strings.Contains(chart, `class="text-end" dir="auto">`+name) {
			t.Errorf("by %s: %s", by, p.main())
		}
		if csv := b.get("/settings/usage.csv?range=7&by=" + by); !strings.HasPrefix(csv.body,
			"date,credits,requests,refused,credits: "+name+"\n") {
			t.Errorf("by %s: %s", by, csv.body)
		}
	}
	b.get("/settings/usage").shows(t, "Spending limits of this month", ` / 500<`, "Credits available",
		`class="dotted"`, "/settings/profiles/"+profile)
}
