package console

import (
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/auth/session"
)

var endForm = regexp.MustCompile(`href="(/settings/profile/sessions/[0-9a-f]{16}/end)"`)

// as returns the browser of the owner with a user agent and an address of this machine.
func (s *system) as(t *testing.T, agent, address string) *browser {
	t.Helper()
	b := s.browser(t)
	b.agent = agent
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: from.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	b.client = &http.Client{CheckRedirect: client.CheckRedirect, Transport: transport}
	if p := s.signIn(b, "owner@demo.example"); p.status != http.StatusOK {
		t.Fatalf("%d at %s: %s", p.status, p.at, p.body)
	}
	return b
}

const (
	onWindows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0"
	onPhone   = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 Version/18.6 Safari/604.1"
)

// A person sees the browsers that are signed in, and signs out one of them or all others. Each is out at its next
// request.
func TestAPersonEndsTheirOtherSessions(t *testing.T) {
	s := start(t)
	desk, phone := s.as(t, onWindows, "127.0.0.7"), s.as(t, onPhone, "127.0.0.8")
	admin := s.signedIn(t, "admin")
	p := desk.get("/settings/profile")
	found := endForm.FindAllStringSubmatch(p.body, -1)
	for _, text := range []string{"Firefox on Windows", "Safari on iPhone", "127.0.0.7", "127.0.0.8",
		"owner@demo.example"} {
		if !strings.Contains(p.body, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if len(found) != 1 || strings.Count(p.body, "This browser") != 1 {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	// Nobody ends the session of another person.
	if admin.post(found[0][1], nil); phone.get("/settings/usage").status != http.StatusOK {
		t.Error("somebody else has ended the session")
	}
	if p := desk.post(found[0][1], nil); !strings.Contains(p.body, "The browser is signed out.") ||
		endForm.MatchString(p.body) {
		t.Errorf("%d: %s", p.status, p.body)
	}
	if p := phone.get("/settings/usage"); !strings.Contains(p.at, "/auth/sign-in") {
		t.Errorf("the ended session is at %s", p.at)
	}
	if p := desk.post(found[0][1], nil); p.status != http.StatusOK {
		t.Errorf("a second time: %d", p.status)
	}
	phone, tablet := s.as(t, onPhone, "127.0.0.8"), s.as(t, "x", "127.0.0.9")
	p = desk.post("/settings/profile/sessions/end", url.Values{})
	if p.status != http.StatusOK || endForm.MatchString(p.body) || !strings.Contains(p.body, "Firefox on Windows") {
		t.Errorf("%d: %s", p.status, p.body)
	}
	for _, b := range []*browser{phone, tablet} {
		if p := b.get("/settings/usage"); !strings.Contains(p.at, "/auth/sign-in") {
			t.Errorf("an ended session is at %s", p.at)
		}
	}
	if p := admin.get("/settings/usage"); p.status != http.StatusOK || strings.Contains(p.at, "sign-in") {
		t.Errorf("another person is at %s", p.at)
	}
	if all := s.entries(t, "operation_id=person.end_session"); len(all) != 3 || all[0].IP != "127.0.0.7" {
		t.Errorf("the audit log has %+v", all)
	}
}

// A session is ended within 15 minutes of a sign-in only, as is changed what people may do.
func TestEndingASessionNeedsARecentSignIn(t *testing.T) {
	s := start(t)
	desk, phone := s.as(t, onWindows, "127.0.0.7"), s.as(t, onPhone, "127.0.0.8")
	s.clock.advance(session.Recent)
	p := desk.get("/settings/profile")
	if p = desk.post(endForm.FindStringSubmatch(p.body)[1], nil); p.status != http.StatusForbidden {
		t.Errorf("%d: %s", p.status, p.body)
	}
	if p := phone.get("/settings/profile"); p.status != http.StatusOK || !strings.Contains(p.body, "This browser") {
		t.Errorf("the session has ended: %d", p.status)
	}
}

// The audit log has the address and the browser of a person, whom nobody else can name: not with a key, not with the
// header of the account area, and not with the one that gateways set.
func TestTheAuditLogHasTheAddressOfThePerson(t *testing.T) {
	s := start(t)
	b := s.as(t, onWindows, "127.0.0.7")
	if p := b.post("/settings/webhooks", forms["/settings/webhooks"]); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	e := s.entry(t, "createWebhook")
	if e.Actor.Kind != "person" || e.IP != "127.0.0.7" || e.UserAgent != onWindows {
		t.Errorf("%+v", e)
	}
	for name, value := range map[string]string{"X-Account-Caller": "eyJpcCI6IjE5OC41MS4xMDAuNyJ9", "X-Forwarded-For": "198.51.100.7"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/v1/factories", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.Live)
		req.Header.Set(name, value)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	read := s.entries(t, "operation_id=listFactories&exclude_person_reads=true")
	if len(read) != 2 {
		t.Errorf("the audit log has %+v", read)
	}
	for _, e := range read {
		if e.IP != "127.0.0.1" {
			t.Errorf("%+v", e)
		}
	}
}

// Every change of sign-on is in the audit log under the person, also one that fails. The secret of a link is not.
func TestChangesOfSignOnAreInTheAuditLog(t *testing.T) {
	s := start(t)
	b := s.as(t, onWindows, "127.0.0.7")
	id := connectionID.FindStringSubmatch(b.post("/settings/sign-on", url.Values{"name": {"Okta"},
		"role": {"developer"}}).body)[1]
	of := "/settings/sign-on/" + id
	b.post(of+"/domains", url.Values{"domain": {"acme.example"}})
	b.post(of+"/verify", url.Values{"domain": {"acme.example"}})
	b.post(of+"/enforce", url.Values{"on": {"true"}, "typed": {"Okta"}})
	link := shownSecret.FindStringSubmatch(b.post(of+"/setup", nil).body)[1]
	token := link[strings.LastIndex(link, "#")+1:]
	s.browser(t).post("/setup", url.Values{"link": {link}, "kind": {"oidc"}, "issuer": {"http://evil.example"},
		"client_secret": {"hidden"}})
	b.post(of+"/undomain", url.Values{"domain": {"acme.example"}})
	b.post(of+"/remove", url.Values{"typed": {"Okta"}})
	for operation, want := range map[string]struct {
		path, code string
		status     int
	}{
		"sign_on.create":        {"/settings/sign-on " + id, "", 200},
		"sign_on.add_domain":    {of + "/domains acme.example", "", 200},
		"sign_on.verify_domain": {of + "/verify acme.example", "*", 0},
		"sign_on.enforce":       {of + "/enforce", "invalid_state", 409},
		"sign_on.open_setup":    {of + "/setup", "", 200},
		"sign_on.set_provider":  {"/setup " + id, "validation_failed", 422},
		"sign_on.remove_domain": {of + "/undomain acme.example", "", 200},
		"sign_on.remove":        {of + "/remove", "", 200},
	} {
		e := s.entry(t, operation)
		code := ""
		if e.ErrorCode != nil {
			code = *e.ErrorCode
		}
		if e.Path != want.path || want.code != "*" && (code != want.code || e.Status != want.status) ||
			want.code == "*" && code == "" {
			t.Errorf("%s: %+v %s", operation, e, code)
		}
		if operation == "sign_on.set_provider" {
			if e.Actor.Kind != "directory" || e.Actor.ID != id {
				t.Errorf("the link was used by %+v", e.Actor)
			}
		} else if e.Actor.Kind != "person" || !strings.HasPrefix(e.Actor.ID, "usr_") || e.IP != "127.0.0.7" {
			t.Errorf("%s is not under the person: %+v", operation, e)
		}
	}
	for _, e := range s.entries(t, "limit=100") {
		for _, secret := range []string{token, "hidden"} {
			if strings.Contains(e.Path+string(e.UserAgent), secret) {
				t.Errorf("the audit log has a secret: %+v", e)
			}
		}
	}
}
