package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var connectionID = regexp.MustCompile(`/settings/sign-on/(con_[a-z0-9]+)/setup`)

// An owner adds a connection and a domain, and makes the link by which their IT sets the provider up.
func TestASetUpLink(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	p := b.post("/settings/sign-on", url.Values{"name": {"Okta <b>"}, "role": {"developer"}})
	found := connectionID.FindStringSubmatch(p.body)
	if found == nil || strings.Contains(p.body, "Okta <b>") {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	of := "/settings/sign-on/" + found[1]
	if p := b.post(of+"/domains", url.Values{"domain": {"acme.example"}}); !strings.Contains(p.body, "not verified") {
		t.Errorf("%d: %s", p.status, p.body)
	}
	if p := b.post(of+"/enforce", url.Values{"on": {"true"}}); p.status < 400 || p.status >= 500 {
		t.Errorf("sign-on without a verified domain is required: %d", p.status)
	}
	made := shownSecret.FindStringSubmatch(b.post(of+"/setup", url.Values{}).body)
	if made == nil {
		t.Fatal("there is no link")
	}
	// The token is in no address that a log or a trace gets.
	address, token, _ := strings.Cut(made[1], "#")
	if address != s.BaseURL+"/setup" || len(token) < 40 {
		t.Fatalf("the link is %s", made[1])
	}
	it := s.browser(t) // without a sign-in
	it.get("/setup").shows(t, "data-fragment", `action="/setup"`)
	for _, link := range []string{token, made[1]} {
		if p := it.post("/setup", url.Values{"link": {link}}); p.status != http.StatusOK || p.at != address ||
			!strings.Contains(p.body, "Okta &lt;b&gt;") {
			t.Errorf("%d at %s: %s", p.status, p.at, p.body)
		}
	}
	if p := it.post("/setup", url.Values{"link": {token}, "kind": {"oidc"}, "issuer": {"http://evil.example"}}); p.status != 422 {
		t.Errorf("an issuer without TLS: %d", p.status)
	}
	for _, other := range []string{token + "x", "", "x"} {
		if p := it.post("/setup", url.Values{"link": {other}}); p.status != http.StatusNotFound {
			t.Errorf("%q: %d", other, p.status)
		}
	}
	// A newer link ends the earlier one.
	b.post(of+"/setup", url.Values{})
	if p := it.post("/setup", url.Values{"link": {token}}); p.status != http.StatusNotFound {
		t.Errorf("the earlier link: %d", p.status)
	}
}

// An admin neither becomes an owner by a group, nor replaces a provider. Owners come by a provider that an owner has
// confirmed.
func TestAnAdminDoesNotBecomeAnOwnerBySignOn(t *testing.T) {
	s := start(t)
	id := s.connected(t, newCustomer(t, s))
	of := "/settings/sign-on/" + id
	owner, admin := s.signedIn(t, "owner"), s.signedIn(t, "admin")
	for path, form := range map[string]url.Values{of + "/groups": {"groups": {"x = owner"}}, of + "/setup": nil,
		of + "/confirm": {"provider": {"any"}}} {
		if p := admin.post(path, form); p.status != http.StatusForbidden {
			t.Errorf("%s of an admin: %d", path, p.status)
		}
	}
	if p := admin.get("/settings/sign-on"); strings.Contains(p.body, "/setup\"") || strings.Contains(p.body, "/confirm\"") {
		t.Error("the page offers an admin what only an owner may do")
	}
	found := regexp.MustCompile(`name="provider" value="([^"]+)"`).FindStringSubmatch(owner.get("/settings/sign-on").body)
	if found == nil {
		t.Fatal("the owner is not told that the provider is new")
	}
	p := owner.post(of+"/confirm", url.Values{"provider": {found[1]}})
	if p.status != http.StatusOK || strings.Contains(p.body, "/confirm\"") {
		t.Errorf("%d: %s", p.status, p.body)
	}
}
