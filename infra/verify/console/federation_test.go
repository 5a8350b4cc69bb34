package console

import (
	"encoding/base64"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crewjam/saml"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

var (
	wantedRecord = regexp.MustCompile(`content-automation-verification=[A-Za-z0-9_-]{43}`)
	samlAnswer   = regexp.MustCompile(`name="SAMLResponse" value="([^"]*)"`)
	relayState   = regexp.MustCompile(`name="RelayState" value="([^"]*)"`)
)

// connected makes a connection with a verified domain and the provider of a customer, as an owner and the customer's IT
// do, and returns its id.
func (s *system) connected(t *testing.T, c *customer) string {
	t.Helper()
	owner := s.signedIn(t, "owner")
	id := connectionID.FindStringSubmatch(owner.post("/settings/sign-on", url.Values{"name": {"Acme"},
		"role": {"auditor"}}).body)[1]
	of := "/settings/sign-on/" + id
	text := wantedRecord.FindString(owner.post(of+"/domains", url.Values{"domain": {"acme.example"}}).body)
	if p := owner.post(of+"/verify", url.Values{"domain": {"acme.example"}}); p.status != http.StatusConflict {
		t.Errorf("a domain without its record: %d", p.status)
	}
	s.dns.set("_content-automation.acme.example", text)
	if p := owner.post(of+"/verify", url.Values{"domain": {"acme.example"}}); p.status != http.StatusOK ||
		strings.Contains(p.body, "not verified") {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p := owner.post(of+"/groups", url.Values{"groups": {"api-admins = king"}}); p.status != 422 {
		t.Errorf("a role that is none: %d", p.status)
	}
	groups := url.Values{"groups": {"api-admins = admin\r\n\r\na=b = developer\r\n"}}
	if p := owner.post(of+"/groups", groups); p.status != http.StatusOK ||
		!strings.Contains(p.body, "a=b = developer\napi-admins = admin\n") {
		t.Errorf("%d: %s", p.status, p.body)
	}
	link := shownSecret.FindStringSubmatch(owner.post(of+"/setup", nil).body)[1]
	it := s.browser(t)
	shown := it.post("/setup", url.Values{"link": {link}}).body
	if !strings.Contains(shown, s.BaseURL+"/_identity/saml2/idpresponse") {
		t.Errorf("the page does not name the address for assertions: %s", shown)
	}
	if p := it.post("/setup", url.Values{"link": {link}, "kind": {"saml"}, "metadata": {"<EntityDescriptor/>"}}); p.status != 422 {
		t.Errorf("metadata without a provider: %d", p.status)
	}
	if p := it.post("/setup", url.Values{"link": {link}, "kind": {"saml"}, "metadata": {c.metadata(t)}}); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p := it.post("/setup", url.Values{"link": {link}}); p.status != http.StatusNotFound {
		t.Errorf("the link works twice: %d", p.status)
	}
	// A task offers the provider to people after it was set.
	poll.Until(t, "the offer of "+id, func() bool {
		return !strings.Contains(s.browser(t).startBy(id).at, "error=")
	})
	return id
}

var leadsTo = regexp.MustCompile(`<meta http-equiv="refresh" content="0;url=([^"]*)">`)

// startBy starts a sign-in by a connection, with a click on the page that names it.
func (b *browser) startBy(id string) page {
	b.t.Helper()
	provider := strings.TrimPrefix(id, "con_")
	if asked := b.get("/auth/start?connection=" + provider); !strings.Contains(asked.body, `value="`+provider+`"`) {
		b.t.Fatalf("%d: %s", asked.status, asked.body)
	}
	found := leadsTo.FindStringSubmatch(b.post("/auth/start", url.Values{"connection": {provider}}).body)
	if found == nil {
		b.t.Fatal("the form leads nowhere")
	}
	return b.get(html.UnescapeString(found[1]))
}

// answerOf signs in at the provider of the customer, and returns its answer without sending it.
func (b *browser) answerOf(id, email string) url.Values {
	b.t.Helper()
	form := b.startBy(id)
	answer := b.send(http.MethodGet, form.at+"&email="+url.QueryEscape(email), nil)
	response, state := samlAnswer.FindStringSubmatch(answer.body), relayState.FindStringSubmatch(answer.body)
	if response == nil || state == nil {
		b.t.Fatalf("no answer, but %d at %s: %s", answer.status, answer.at, answer.body)
	}
	return url.Values{"SAMLResponse": {html.UnescapeString(response[1])}, "RelayState": {html.UnescapeString(state[1])}}
}

const acs = "/_identity/saml2/idpresponse"

// hand hands an answer to the pool.
func (b *browser) hand(answer url.Values) page {
	b.t.Helper()
	return b.follow(b.send(http.MethodPost, acs, answer))
}

// A person of a verified domain signs in by SAML, and is made with the role of a group. The same person comes back.
func TestAPersonComesBySAML(t *testing.T) {
	s := start(t)
	id := s.connected(t, newCustomer(t, s))
	for range 2 {
		b := s.browser(t)
		if p := b.hand(b.answerOf(id, "ada@acme.example")); p.at != s.BaseURL+"/settings" || p.status != 200 {
			t.Fatalf("%d at %s: %s", p.status, p.at, p.body)
		}
		if p := b.get("/settings/profile"); !strings.Contains(p.body, "Ada · ada@acme.example · admin") {
			t.Errorf("the profile: %s", p.body)
		}
		s.clock.advance(20 * time.Minute) // the token is refreshed
		if p := b.get("/settings/usage"); p.status != http.StatusOK || p.at != s.BaseURL+"/settings/usage" {
			t.Errorf("after the refresh: %d at %s", p.status, p.at)
		}
		s.clock.advance(-20 * time.Minute)
	}
	people := s.signedIn(t, "owner").get("/settings/people").body
	if n := strings.Count(people, ">ada@acme.example<"); n != 1 {
		t.Errorf("the person is listed %d times", n)
	}
}

func TestAnAssertionThatIsRefused(t *testing.T) {
	s := start(t)
	c := newCustomer(t, s)
	id := s.connected(t, c)
	key, certificate := c.Key, c.Certificate
	var earlier url.Values
	for name, answer := range map[string]func(b *browser) url.Values{
		"signed by another key": func(b *browser) url.Values {
			c.Key, c.Certificate = newKey(t)
			return b.answerOf(id, "eve@acme.example")
		},
		"signed by another key in the name of the right one": func(b *browser) url.Values {
			c.Key, _ = newKey(t)
			return b.answerOf(id, "eve@acme.example")
		},
		"without a signature": func(b *browser) url.Values {
			answer := b.answerOf(id, "eve@acme.example")
			return edited(t, answer, func(text string) string {
				return regexp.MustCompile(`(?s)<ds:Signature .*?</ds:Signature>`).ReplaceAllString(text, "")
			})
		},
		"changed after its signature": func(b *browser) url.Values {
			return edited(t, b.answerOf(id, "bob@acme.example"), func(text string) string {
				return strings.ReplaceAll(text, "bob@acme.example", "eve@acme.example")
			})
		},
		"of another audience": func(b *browser) url.Values {
			c.change = func(a *saml.Assertion) { a.Conditions.AudienceRestrictions[0].Audience.Value = "urn:other" }
			return b.answerOf(id, "eve@acme.example")
		},
		"of the past": func(b *browser) url.Values {
			c.change = func(a *saml.Assertion) { a.Conditions.NotOnOrAfter = time.Now().Add(-time.Hour) }
			return b.answerOf(id, "eve@acme.example")
		},
		"to another request": func(b *browser) url.Values {
			if earlier == nil {
				earlier = b.answerOf(id, "eve@acme.example")
			}
			answer := b.answerOf(id, "eve@acme.example")
			answer.Set("SAMLResponse", earlier.Get("SAMLResponse"))
			return answer
		},
		"a second time": func(b *browser) url.Values {
			other := s.browser(t)
			answer := other.answerOf(id, "bob@acme.example")
			if p := other.hand(answer); p.status != http.StatusOK {
				t.Errorf("the first time: %d %s", p.status, p.body)
			}
			b.startBy(id)
			return answer
		},
		"100,000 deep": func(b *browser) url.Values {
			answer := b.answerOf(id, "eve@acme.example")
			answer.Set("SAMLResponse", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("<a>", 100_000)+
				strings.Repeat("</a>", 100_000))))
			return answer
		},
		"without a request": func(b *browser) url.Values {
			answer := b.answerOf(id, "eve@acme.example")
			answer.Del("RelayState")
			return answer
		},
		"of an unverified domain": func(b *browser) url.Values { return b.answerOf(id, "eve@other.example") },
		"of a person of the pool": func(b *browser) url.Values { return b.answerOf(id, "owner@demo.example") },
	} {
		t.Run(name, func(t *testing.T) {
			c.Key, c.Certificate, c.change = key, certificate, nil
			b := s.browser(t)
			p := b.hand(answer(b))
			if p.status != http.StatusBadRequest && p.status != http.StatusForbidden {
				t.Errorf("%d at %s: %s", p.status, p.at, p.body)
			}
			if b.cookies["__Host-session"] != nil {
				t.Error("there is a session")
			}
		})
	}
	if people := s.signedIn(t, "owner").get("/settings/people").body; strings.Contains(people, "eve@") {
		t.Error("a person was made")
	}
}

// edited returns an answer after a change of its document.
func edited(t *testing.T, answer url.Values, change func(string) string) url.Values {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(answer.Get("SAMLResponse"))
	if err != nil {
		t.Fatal(err)
	}
	after := change(string(text))
	if after == string(text) {
		t.Fatalf("the answer has nothing to change: %s", text)
	}
	answer.Set("SAMLResponse", base64.StdEncoding.EncodeToString([]byte(after)))
	return answer
}

// A connection whose domain has lost its record for a week admits nobody of it any more, and the audit log tells.
func TestADomainThatIsGoneAdmitsNobody(t *testing.T) {
	s := start(t)
	id := s.connected(t, newCustomer(t, s))
	signIn := func() page {
		b := s.browser(t)
		return b.hand(b.answerOf(id, "ada@acme.example"))
	}
	s.dns.set("_content-automation.acme.example", "another text")
	for range 2 { // at once, and when the record is found missing
		if p := signIn(); p.status != http.StatusOK {
			t.Fatalf("%d: %s", p.status, p.body)
		}
		s.clock.advance(25 * time.Hour)
	}
	if p := signIn(); p.status != http.StatusOK {
		t.Fatalf("within the week: %d", p.status)
	}
	s.clock.advance(7 * 24 * time.Hour)
	if p := signIn(); p.status != http.StatusForbidden {
		t.Errorf("after the week: %d", p.status)
	}
	if p := s.signedIn(t, "owner").get("/settings/audit-log"); !strings.Contains(p.body, "sign_on.lose_domain") {
		t.Error("the audit log does not tell of it")
	}
}
