package console

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// The home page of a new account has its first steps; the menu has the account, and what a person reaches from nowhere
// else.
func TestTheHomePageOfANewAccount(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	p := b.get("/settings")
	p.shows(t, "First steps", "Add the webhook", "Nothing waits for you.", "Nothing is planned", `aria-current="page"`,
		`data-text="`+s.Account+`"`, `href="/settings/programs"`)
	p.hides(t, `class="count"`)
	b.get("/settings/events").shows(t, `data-text="`+s.Account+`"`)
	auditor := s.signedIn(t, "auditor").get("/settings")
	auditor.shows(t, "Nothing waits for you.")
	auditor.hides(t, "Add the webhook</a>")
	s.signedIn(t, "developer").get("/settings").hides(t, "Invite a colleague")
	s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"balance.low"}}, 201)
	s.call(t, s.Live, "GET", "/v1/me", nil)
	poll.Until(t, "the steps are done", func() bool { return !strings.Contains(b.get("/settings").body, "First steps") })
	b.post("/settings/language", url.Values{"language": {"ru"}})
	b.get("/settings").shows(t, `aria-label="Что сделать"`, "Что выходит")
}

// The home page shows what waits, with its number in the menu, and what is published next.
func TestTheHomePageShowsWhatWaits(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	second := s.own(t, a.factory, "A cold brew")
	s.must(t, "POST", "/v1/api-keys", object{"name": "Short", "kind": "live", "scopes": []string{"account:read"},
		"expires_at": s.clock.now().UTC().AddDate(0, 0, 5)}, 201)
	b := s.signedIn(t, "owner")
	count := regexp.MustCompile(`<a class="count" href="/settings/approvals\?tab=all">(\d+)<`)
	waits := func() string {
		found := count.FindStringSubmatch(b.get("/settings").body)
		if found == nil {
			return ""
		}
		return found[1]
	}
	if n := waits(); n != "2" {
		t.Errorf("%s items wait", n)
	}
	b.get("/settings").shows(t, "Posts to approve: 2", "The key “Short” ends on")
	b.post("/settings/content-items/"+a.item+"/decide", url.Values{"decision": {"approved"}, "version": {"1"}}).
		shows(t, `href="/settings/approvals?tab=all">1<`)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)["id"].(string)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"social_account_ids": []string{account},
		"publish_at": s.clock.now().UTC().AddDate(0, 0, 2)}, 200)
	b.get("/settings").shows(t, "A new roast", `href="/settings/content-items/`+a.item, "Harbour Coffee", "ready")
	s.must(t, "POST", "/v1/approvals/"+second+"/approve", nil, 200)
	if n := waits(); n != "" {
		t.Errorf("%s items wait after the decisions", n)
	}
}
