package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var shownSecret = regexp.MustCompile(`id="secret"[^>]*>([^<]+)<`)

// A person makes a key, calls with it, rotates and revokes it, without a script.
func TestAKeyFromItsCreationToItsRevocation(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	if p := s.signIn(b, "owner@demo.example"); p.status != http.StatusOK || !strings.Contains(p.body, "API keys") {
		t.Fatalf("%d at %s: %s", p.status, p.at, p.body)
	}
	made := b.post("/settings/api-keys", url.Values{"name": {"CRM"}, "kind": {"live"}, "scopes": {"account:read"},
		"once": {"one"}})
	found := shownSecret.FindStringSubmatch(made.body)
	if found == nil {
		t.Fatalf("%d: %s", made.status, made.body)
	}
	status, me := s.call(t, found[1], "GET", "/v1/me", nil)
	if status != http.StatusOK {
		t.Fatalf("the key gets %d", status)
	}
	id := me["key"].(map[string]any)["id"].(string)
	rotated := b.post("/settings/api-keys/"+id+"/rotate", url.Values{"overlap": {"0"}, "once": {"two"}})
	second := shownSecret.FindStringSubmatch(rotated.body)
	if second == nil || second[1] == found[1] {
		t.Fatalf("%d: %s", rotated.status, rotated.body)
	}
	if status, _ := s.call(t, found[1], "GET", "/v1/me", nil); status != http.StatusUnauthorized {
		t.Errorf("the earlier secret gets %d", status)
	}
	if p := b.post("/settings/api-keys/"+id+"/revoke", url.Values{"once": {"three"}}); !strings.Contains(p.body, "is revoked") {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if status, _ := s.call(t, second[1], "GET", "/v1/me", nil); status != http.StatusUnauthorized {
		t.Errorf("the revoked key gets %d", status)
	}
	for _, path := range []string{"/settings/api-keys", "/settings/api-keys/new", "/settings/api-keys/" + id, "/settings/webhooks",
		"/settings/webhooks/new", "/settings/events", "/settings/audit-log", "/settings/audit-log.csv", "/settings/usage",
		"/settings/service-levels", "/settings/social-accounts", "/settings/people", "/settings/people/invite",
		"/settings/sign-on"} {
		if p := b.get(path); p.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, p.status, p.body)
		}
	}
}
