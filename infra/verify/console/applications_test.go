package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// An application is added, its secret is changed, and it is deleted. No page shows a secret.
func TestApplicationsOfACustomer(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	add := url.Values{"platform": {"youtube"}, "client_id": {"acme-app"}, "client_secret": {"first-secret"},
		"daily_limit": {"400"}}
	p := b.post("/settings/applications", add)
	if p.status != http.StatusOK || !strings.Contains(p.body, "acme-app") || strings.Contains(p.body, "first-secret") {
		t.Fatalf("%d %s", p.status, p.body)
	}
	if !strings.Contains(p.body, "Limit of a day: 400 uploads") {
		t.Errorf("the limit is shown without its unit: %s", p.body)
	}
	at := strings.Index(p.body, "/settings/applications/app_")
	if at < 0 {
		t.Fatalf("it is not listed: %s", p.body)
	}
	id := p.body[at+len("/settings/applications/"):][:30]
	if p := b.post("/settings/applications/"+id, url.Values{"client_secret": {"second-secret"}}); p.status !=
		http.StatusOK || strings.Contains(p.body, "second-secret") {
		t.Errorf("%d %s", p.status, p.body)
	}
	_, one := s.call(t, s.Live, "GET", "/v1/social/applications/"+id, nil)
	if one["version"] != 2.0 || one["daily_limit"] != 400.0 || one["client_secret"] != nil {
		t.Errorf("%v", one)
	}
	add.Set("client_secret", "")
	if p := b.post("/settings/applications", add); p.status != http.StatusUnprocessableEntity ||
		!strings.Contains(p.body, "client_secret-error") {
		t.Errorf("without a secret: %d %s", p.status, p.body)
	}
	if p := b.post("/settings/applications/"+id+"/delete", nil); p.status != http.StatusOK ||
		strings.Contains(p.body, "acme-app") {
		t.Errorf("%d %s", p.status, p.body)
	}
}

// The access token of a program ends with the person who has connected it, at once.
func TestTheTokensOfARemovedPersonEnd(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	access, refresh := p.tokens(b)
	if !s.may(t, access) {
		t.Fatal("the access token reads nothing")
	}
	owner := s.signedIn(t, "owner")
	people := owner.get("/settings/people").body
	of := people[strings.Index(people, "developer@demo.example"):]
	id := of[strings.Index(of, "usr_"):][:30]
	if p := owner.post("/settings/people/"+id+"/remove", nil); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if s.may(t, access) {
		t.Error("the access token of a removed person lives")
	}
	if status, _ := s.form(t, "/oauth/token", p.renew(refresh)); status != http.StatusBadRequest {
		t.Errorf("its refresh token gives another: %d", status)
	}
}
