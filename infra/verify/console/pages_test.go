package console

import (
	"net/http"
	"strings"
	"testing"
)

// A path that leads nowhere is a page for whoever opens it in a browser.
func TestAnUnknownPathIsAPage(t *testing.T) {
	s := start(t)
	for _, b := range []*browser{s.browser(t), s.signedIn(t, "owner")} {
		for _, path := range []string{"/settings/nothing", "/settings/api-keys/key_0/nothing", "/auth/nothing", "/auth/",
			"/auth/api-keys"} {
			p := b.get(path)
			if p.status != http.StatusNotFound || !strings.HasPrefix(p.header.Get("Content-Type"), "text/html") {
				t.Errorf("%s: %d %s %.200s", path, p.status, p.header.Get("Content-Type"), p.body)
			}
		}
	}
}

// Each form of a list has the token of its session, also those of its rows.
func TestEachFormHasTheToken(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	s.must(t, "POST", "/v1/automations", object{"factory_id": a.factory, "template": object{"kind": "post",
		"prompt": "News"}, "trigger": object{"kind": "time", "cron": "0 9 * * 1"}}, 201)
	b := s.signedIn(t, "owner")
	for _, path := range []string{"", "/automations", "/people", "/social-accounts", "/integrations", "/approvals", "/applications",
		"/content-items", "/calendar", "/webhooks", "/api-keys", "/sign-on", "/programs", "/profile"} {
		for _, form := range strings.Split(b.get("/settings"+path).body, `<form method="post"`)[1:] {
			_, inside, _ := strings.Cut(form, ">")
			if !strings.HasPrefix(inside, `<input type="hidden" name="token" value="`) {
				t.Errorf("/settings%s: a form has no token: %.200s", path, form)
			}
		}
	}
	if n := strings.Count(b.get("/settings/automations").body, `/state"`); n != 1 {
		t.Errorf("%d forms of automations", n)
	}
}
