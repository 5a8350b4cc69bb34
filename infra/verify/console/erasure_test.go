package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

var scheduledLink = regexp.MustCompile(`href="(http[^"]*/exports/[^"]+)"`)

// pass moves the clock, and has overdue tasks taken, until something is so.
func (s *system) pass(t *testing.T, by time.Duration, what string, is func() bool) {
	t.Helper()
	poll.Until(t, what, func() bool {
		if is() {
			return true
		}
		s.clock.advance(by)
		var found any
		if err := s.Invoke(t.Context(), "due", "{}", &found); err != nil {
			t.Fatal(err)
		}
		return false
	})
}

// An owner has a profile erased on its page, cancels that, asks again, and after a week it is gone with what belongs to
// it, but for the last export. The other roles see neither the menu nor the pages.
func TestAnOwnerErasesAProfile(t *testing.T) {
	s := start(t)
	id := s.must(t, "POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"].(string)
	factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Harbour", "profile_id": id,
		"settings": object{"brand_name": "Harbour"}}, 201)["id"].(string)
	other := s.must(t, "POST", "/v1/factories", object{"type": "blogger", "name": "Other"}, 201)["id"].(string)
	path := "/settings/profiles/" + id + "/erase"
	for _, role := range []string{"admin", "developer", "auditor"} {
		b := s.signedIn(t, role)
		for _, page := range []string{path, "/settings/erasure", "/settings/erasure/account"} {
			if p := b.get(page); p.status != http.StatusNotFound {
				t.Errorf("%s: %s is %d for the role %s", page, p.at, p.status, role)
			}
			if p := b.post(page, url.Values{"typed": {"Harbour Coffee"}}); p.status < 400 {
				t.Errorf("%s is %d for the role %s", page, p.status, role)
			}
		}
		if b.post("/settings/erasure/"+id+"/cancel", url.Values{}).status != http.StatusNotFound ||
			strings.Contains(b.get("/settings").body, "/settings/erasure") {
			t.Errorf("the role %s sees erasures", role)
		}
	}
	b := s.signedIn(t, "owner")
	b.get("/settings").shows(t, "/settings/erasure")
	b.get("/settings/profiles/"+id).shows(t, path)
	b.get(path).shows(t, "Factories with their plans, products and automations: 1", "Content items: 0",
		"The erasure begins in 7 days", "Harbour Coffee", "autofocus")
	wrong := b.post(path, url.Values{"typed": {"Harbour"}})
	wrong.shows(t, "Type the name as it is shown above.")
	if wrong.status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong name: %d", wrong.status)
	}
	b.get("/settings/erasure").shows(t, "No erasures")
	typed := url.Values{"typed": {"Harbour Coffee"}}
	b.post(path, typed).shows(t, "The erasure is scheduled", "Cancel the erasure")
	if p := b.post(path, typed); p.status != http.StatusConflict ||
		!strings.Contains(p.body, "asked for already") {
		t.Errorf("asked twice: %d", p.status)
	}
	for _, role := range []string{"owner", "auditor"} {
		s.signedIn(t, role).get("/settings/usage").shows(t, "The profile Harbour Coffee will be erased on")
	}
	poll.Until(t, "the last export", func() bool {
		return scheduledLink.MatchString(b.get("/settings/erasure").body)
	})
	s.mailed(t, "owner@demo.example", "An erasure was asked for: Harbour Coffee")
	b.post("/settings/erasure/"+id+"/cancel", url.Values{}).shows(t, "The erasure is canceled")
	if strings.Contains(b.get("/settings/usage").body, "will be erased on") {
		t.Error("a canceled erasure is still announced")
	}
	b.post(path, typed).shows(t, "The erasure is scheduled")
	s.pass(t, 2*time.Hour, "the erasure", func() bool {
		status, _ := s.call(t, s.Live, "GET", "/v1/factories/"+factory, nil)
		return status == http.StatusNotFound
	})
	b = s.signedIn(t, "owner")
	if p := b.post("/settings/erasure/"+id+"/cancel", url.Values{}); p.status != http.StatusConflict {
		t.Errorf("canceled after its begin: %d", p.status)
	}
	s.pass(t, time.Minute, "its end", func() bool {
		return strings.Contains(b.get("/settings/erasure").body, "Erased items")
	})
	done := b.get("/settings/erasure")
	link := scheduledLink.FindStringSubmatch(done.body)
	if link == nil {
		t.Fatalf("the last export is not shown: %s", done.body)
	}
	if status, _ := s.call(t, s.Live, "GET", "/v1/profiles/"+id, nil); status != http.StatusNotFound {
		t.Errorf("the profile: %d", status)
	}
	if status, _ := s.call(t, s.Live, "GET", "/v1/factories/"+other, nil); status != http.StatusOK {
		t.Errorf("another factory: %d", status)
	}
	for operation, want := range map[string]int{"erasure.ask": 3, "erasure.cancel": 2, "erasure.done": 1} {
		if n := len(s.entries(t, "operation_id="+operation)); n != want {
			t.Errorf("the audit log has %d entries of %s, want %d", n, operation, want)
		}
	}
}

// The account is erased after a month: its keys and people get in no more.
func TestAnOwnerErasesTheAccount(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	s.must(t, "POST", "/v1/factories", object{"type": "blogger", "name": "Other"}, 201)
	page := b.get("/settings/erasure/account")
	page.shows(t, "Credits that are lost", "People: ", "The erasure begins in 30 days", "API keys, which are revoked: ")
	name := s.must(t, "GET", "/v1/me", nil, 200)["name"].(string)
	b.post("/settings/erasure/account", url.Values{"typed": {"not " + name}}).
		shows(t, "Type the name as it is shown above.")
	b.post("/settings/erasure/account", url.Values{"typed": {name}}).shows(t, "The erasure is scheduled")
	s.signedIn(t, "developer").get("/settings").shows(t, "This account will be erased on")
	s.must(t, "POST", "/v1/factories", object{"type": "blogger", "name": "Still works"}, 201)
	s.pass(t, 8*time.Hour, "the end of the keys", func() bool {
		status, _ := s.call(t, s.Live, "GET", "/v1/me", nil)
		return status == http.StatusUnauthorized
	})
	s.mailed(t, "owner@demo.example", "The erasure has begun: "+name)
	s.pass(t, time.Minute, "the end of the people", func() bool {
		v := s.browser(t)
		return s.signIn(v, "owner@demo.example").status != http.StatusOK
	})
}
