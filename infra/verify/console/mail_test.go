package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/standalone"
)

// mailed waits until an e-mail about something has been sent to an address, and returns it. It fails if nothing happens
// for long.
func (s *system) mailed(t *testing.T, to, subject string) standalone.Mail {
	t.Helper()
	for range 600 {
		all, err := s.Mails()
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(all, func(m standalone.Mail) bool {
			return m.To == to && strings.Contains(m.Subject, subject)
		}); i >= 0 {
			return all[i]
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatalf("no e-mail to %s about %q", to, subject)
	return standalone.Mail{}
}

// path returns the path of an address of the service.
func (s *system) path(address string) string { return strings.TrimPrefix(address, s.BaseURL) }

// An invitation comes by e-mail, in the language of who invites, and its link leads to the sign-in.
func TestAnInvitationComesByMail(t *testing.T) {
	s := start(t)
	owner := s.signedIn(t, "owner")
	owner.get("/settings/profile/notifications").shows(t, "Failing webhooks", "API keys that end")
	owner.post("/settings/profile/notifications", url.Values{"language": {"ru"}, "webhooks": {"1"}})
	owner.get("/settings/profile/notifications").shows(t, `value="ru" selected`, `name="webhooks" value="1" checked`)
	owner.post("/settings/people", url.Values{"email": {"new@demo.example"}, "role": {"developer"}}).
		shows(t, "is sent to this address by e-mail", "/auth/invitations#")
	m := s.mailed(t, "new@demo.example", "приглашает вас")
	if !strings.Contains(m.Text, s.BaseURL+"/auth/invitations\n") || !strings.Contains(m.Text, "«разработчик»") {
		t.Errorf("%s", m.Text)
	}
	s.browser(t).get("/auth/invitations").shows(t, "You are invited")
	// The page of the local service has the same e-mail.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/_mails", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var shown []standalone.Mail
	if err := json.NewDecoder(resp.Body).Decode(&shown); err != nil || len(shown) == 0 ||
		shown[0].Headers["List-Unsubscribe"] != "<"+m.Leave+">" {
		t.Errorf("%+v %v", shown, err)
	}
	s.browser(t).get("/_mails").shows(t, "new@demo.example", "As HTML")
}

// A link to leave works without a session: GET changes nothing, POST leaves, and a second POST changes nothing more.
func TestALinkToLeaveWorksWithoutASession(t *testing.T) {
	s := start(t)
	s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"content.*"}}, 201)
	owner := s.signedIn(t, "owner")
	owner.post("/settings/people", url.Values{"email": {"new@demo.example"}, "role": {"developer"}})
	at := s.path(s.mailed(t, "new@demo.example", "invites you").Leave)
	visitor := s.browser(t)
	visitor.get(at).shows(t, "Stop these e-mails", "Invitations")
	owner.post("/settings/people", url.Values{"email": {"new@demo.example"}, "role": {"admin"}}).
		shows(t, "is sent to this address by e-mail")
	// A mail program sends the request of RFC 8058, without cookies and without the headers of a browser.
	for range 2 {
		resp, err := http.PostForm(s.BaseURL+at, url.Values{"List-Unsubscribe": {"One-Click"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%d", resp.StatusCode)
		}
	}
	if p := visitor.post(at, url.Values{}); p.status != http.StatusOK {
		t.Errorf("a browser: %d", p.status)
	}
	owner.post("/settings/people", url.Values{"email": {"new@demo.example"}, "role": {"auditor"}}).
		shows(t, "Send this link to the person")
	for name, forged := range map[string]string{"changed": at[:len(at)-2] + "xx", "cut": at[:len(at)-9],
		"none": "/auth/leave/x"} {
		if p := visitor.get(forged); p.status != http.StatusNotFound {
			t.Errorf("%s: GET %d", name, p.status)
		}
		if p := visitor.post(forged, url.Values{}); p.status != http.StatusNotFound {
			t.Errorf("%s: POST %d", name, p.status)
		}
	}
	s.clock.advance(31 * 24 * time.Hour)
	if p := s.browser(t).get(at); p.status != http.StatusNotFound || !strings.Contains(p.body, "has expired") {
		t.Errorf("after a month: %d", p.status)
	}
}
