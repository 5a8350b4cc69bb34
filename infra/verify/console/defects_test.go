package console

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(once|opened)" value="([^"]*)">`)

// hidden returns the hidden fields of the last form of a page.
func (p page) hidden() url.Values {
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(p.main(), -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

// A reload of the page with a new secret is the same call of the API, also for a key that expires.
func TestAReloadKeepsTheNewSecret(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	form := b.get("/settings/api-keys/new").hidden()
	form["name"], form["kind"], form["scopes"], form["expires"] = []string{"Nightly"}, []string{"live"},
		[]string{"account:read"}, []string{"30"}
	first := b.post("/settings/api-keys", form)
	secret := regexp.MustCompile(`svc_live_\w+`).FindString(first.body)
	if first.status != http.StatusOK || secret == "" {
		t.Fatalf("%d %s", first.status, first.main())
	}
	s.clock.advance(2_000_000_000)
	if again := b.post("/settings/api-keys", form); again.status != http.StatusOK ||
		!strings.Contains(again.body, secret) {
		t.Errorf("%d %s", again.status, again.main())
	}
}

// What a role may not do is neither in the menu nor on the page.
func TestPagesKnowTheRole(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}},
		201)["id"].(string)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "CRM", "kind": "live", "scopes": []string{"account:read"}},
		201)["id"].(string)
	owner, auditor, developer := s.signedIn(t, "owner"), s.signedIn(t, "auditor"), s.signedIn(t, "developer")
	change := regexp.MustCompile(`<form method="post" action="(/settings/[^"]*)"|href="(/settings/[^"?]*/(?:new|rotate|` +
		`revoke|leak|delete|remove|invite|disconnect|disable|edit))`)
	harmless := regexp.MustCompile(`^/settings/(mode|language|calendar/zone)$`)
	changes := func(p page) (all []string) {
		for _, m := range change.FindAllStringSubmatch(p.body, -1) {
			if at := m[1] + m[2]; !harmless.MatchString(at) {
				all = append(all, at)
			}
		}
		return all
	}
	for _, path := range []string{"/settings/api-keys", "/settings/api-keys/" + key, "/settings/webhooks",
		"/settings/webhooks/" + hook, "/settings/people", "/settings/sign-on", "/settings/profiles",
		"/settings/profiles/" + a.profile, "/settings/automations", "/settings/social-accounts", "/settings/integrations",
		"/settings/approvals", "/settings/content-items/" + a.item, "/settings/review-links", "/settings/applications",
		"/settings/mandates"} {
		p := auditor.get(path)
		if all := changes(p); p.status != http.StatusOK || len(all) > 0 {
			t.Errorf("an auditor finds at %s: %d %q", path, p.status, all)
		}
		p.shows(t, "You can read here.")
		if p := owner.get(path); path != "/settings/approvals" && path != "/settings/mandates" && len(changes(p)) == 0 {
			t.Errorf("an owner changes nothing at %s", path)
		}
	}
	menu := developer.get("/settings/events")
	menu.hides(t, `href="/settings/people"`, `href="/settings/sign-on"`)
	owner.get("/settings/events").shows(t, `href="/settings/people"`, `href="/settings/sign-on"`)
	s.signedIn(t, "admin").get("/settings/people").hides(t, "Remove: owner@demo.example")
}

// An error is at its field, in the page's language; the form keeps its values, and the first error has the focus.
func TestErrorsAreAtTheirFields(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	form := url.Values{"name": {"Kept"}, "kind": {"live"}, "ips": {"nowhere"}, "limit": {"7"}, "scopes": {"account:read"}}
	p := b.post("/settings/api-keys", form)
	if p.status != http.StatusUnprocessableEntity {
		t.Errorf("%d", p.status)
	}
	p.shows(t, `value="Kept"`, `value="nowhere"`, `aria-errormessage="ips-error" autofocus`, `<p id="ips-error"`,
		"Write address ranges such as 192.0.2.0/24", `<a class="underline" href="#ips">`)
	p.hides(t, "/ip_allow_list", "CIDR notation")
	form["ips"], form["scopes"] = nil, nil
	p = b.post("/settings/api-keys", form)
	p.shows(t, "Choose at least one scope.", `aria-describedby="scopes-error" autofocus`, `value="Kept"`)
	p.hides(t, "too few entries")
	p = b.post("/settings/webhooks", url.Values{"url": {"ftp://x"}, "event_types": {"*"}})
	p.shows(t, `aria-errormessage="url-error" autofocus`, `value="ftp://x"`)
	b.post("/settings/webhooks", url.Values{"url": {"https://acme.example/"}}).shows(t, "Choose at least one event.")
	p = b.get("/settings/audit-log?status=abc")
	p.shows(t, `aria-errormessage="status-error"`)
	p.hides(t, "must match the pattern")
	b.get("/settings/events?type=nothing.here").shows(t, `aria-errormessage="type-error"`)

	b.post("/settings/language", url.Values{"language": {"ru"}})
	p = b.post("/settings/api-keys", form)
	p.shows(t, "Выберите хотя бы одно разрешение.", "Исправьте отмеченные поля.")
	p.hides(t, "Choose at least one scope.")
	b.post("/settings/webhooks", url.Values{"url": {"ftp://x"}, "event_types": {"*"}}).shows(t,
		"Укажите адрес, который начинается с https://")
}

// What cannot be undone asks first, with its effect in numbers and the focus on Cancel.
func TestChangesThatEndSomethingAskFirst(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)["id"].(string)
	s.must(t, "POST", "/v1/approvals/"+a.item+"/approve", nil, 200)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"social_account_ids": []string{account},
		"publish_at": s.clock.now().UTC().AddDate(0, 0, 2)}, 200)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}},
		201)["id"].(string)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "CRM", "kind": "live", "scopes": []string{"account:read"}},
		201)
	for range 3 {
		s.call(t, key["secret"].(string), "GET", "/v1/me", nil)
	}
	b := s.signedIn(t, "owner")
	s.signedIn(t, "owner") // another browser
	id := connectionID.FindStringSubmatch(b.post("/settings/sign-on", url.Values{"name": {"Okta"},
		"role": {"developer"}}).body)[1]
	for path, effect := range map[string]string{
		"/settings/social-accounts/" + account + "/disconnect":         "Posts that are scheduled on it: 1.",
		"/settings/webhooks/" + hook + "/disable":                      "Events are not sent to it until you enable it.",
		"/settings/webhooks/" + hook + "/delete":                       "Deliveries that wait to be sent:",
		"/settings/api-keys/" + key["id"].(string) + "/revoke":         "Requests with it in the last 24 hours: 3.",
		"/settings/profiles/" + a.profile + "/delete":                  "Type the name to go on:",
		"/settings/sign-on/" + id + "/remove":                          "Type the name to go on:",
		"/settings/sign-on/" + id + "/enforce":                         "People who sign in by it: 0.",
		"/settings/sign-on/" + id + "/undomain?domain=a.test":          "a.test",
		"/settings/profile/sessions/end":                               "Browsers that are signed out: 1.",
		"/settings/api-keys/" + key["id"].(string) + "/leak":           "so are the keys that were made with it",
		endForm.FindStringSubmatch(b.get("/settings/profile").body)[1]: "It is signed out with its next request.",
	} {
		p := b.get(path)
		p.shows(t, effect, `data-close autofocus href="/settings/`)
		if strings.Contains(p.body, `<button class="btn" data-variant="destructive" autofocus`) {
			t.Errorf("%s has the focus on the change", path)
		}
	}
	// The lists have no form that ends something at once.
	for _, path := range []string{"/settings/social-accounts", "/settings/webhooks/" + hook, "/settings/sign-on",
		"/settings/profile", "/settings/integrations"} {
		b.get(path).hides(t, `/disconnect"><input`, `value="disabled"`, `/remove"><input`, `/undomain"><input`,
			`/sessions/end"><input`)
	}
	p := b.post("/settings/sign-on/"+id+"/remove", url.Values{"typed": {"Otka"}})
	p.shows(t, "Type the name as it is shown above.", `aria-errormessage="typed-error"`)
	b.get("/settings/sign-on").shows(t, "Okta")
	b.post("/settings/sign-on/"+id+"/remove", url.Values{"typed": {"Okta"}})
	b.get("/settings/sign-on").hides(t, ">Okta<")
}

// An owner gives emergency access on the page that needs it.
func TestAnOwnerGivesEmergencyAccess(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	b.post("/settings/sign-on", url.Values{"name": {"Okta"}, "role": {"developer"}})
	p := b.get("/settings/sign-on")
	p.shows(t, "To require it, set up the provider and verify a domain first.", "Give emergency access")
	p.hides(t, "Require it for these domains")
	at := regexp.MustCompile(`action="(/settings/sign-on/usr_\w+/emergency)"`).FindStringSubmatch(p.body)
	if at == nil {
		t.Fatalf("no form: %s", p.main())
	}
	b.post(at[1], url.Values{"on": {"true"}}).shows(t, "End emergency access")
	if got := s.entry(t, "sign_on.give_emergency_access"); got.Path != at[1]+" "+strings.Split(at[1], "/")[3] {
		t.Errorf("%+v", got)
	}
	b.post(at[1], url.Values{"on": {"false"}}).shows(t, "Give emergency access")
	s.signedIn(t, "admin").post(at[1], url.Values{"on": {"true"}}).shows(t, "Only owners give emergency access.")
	b.get("/settings/sign-on").hides(t, "End emergency access")
}

// A change of the mode leads to the list that a resource belongs to: it is in one mode only.
func TestAChangeOfTheModeLeavesTheDetail(t *testing.T) {
	s := start(t)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}},
		201)["id"].(string)
	b := s.signedIn(t, "owner")
	for from, to := range map[string]string{"/settings/webhooks/" + hook: "/settings/webhooks",
		"/settings/content-items/cnt_01h455vb4pex5vsknk084sn02q": "/settings/approvals",
		"/settings/api-keys/new":                                 "/settings/api-keys/new", "/settings/events?cursor=x": "/settings/events"} {
		if p := b.post("/settings/mode", url.Values{"mode": {"test"}, "return": {from}}); p.status != http.StatusOK ||
			p.at != s.BaseURL+to {
			t.Errorf("from %s: %d at %s", from, p.status, p.at)
		}
	}
}

// The calendar names a post without a title by the beginning of its caption.
func TestTheCalendarNamesPostsByTheirCaptions(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	s.must(t, "POST", "/v1/approvals/"+a.item+"/approve", nil, 200)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)["id"].(string)
	at := s.clock.now().UTC().AddDate(0, 0, 2)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"social_account_ids": []string{account},
		"publish_at": at}, 200)
	b := s.signedIn(t, "owner")
	b.get("/settings/calendar?date="+at.Format("2006-01-02")).shows(t, `break-words" dir="auto">A new roast</span>`)
}

// Small faults of pages, each of which people have stumbled over.
func TestSmallFaultsOfPages(t *testing.T) {
	s := start(t)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "CRM", "kind": "live", "scopes": []string{"account:read"}},
		201)["id"].(string)
	b := s.signedIn(t, "owner")
	b.get("/settings/api-keys/"+key+"/rotate").shows(t, `value="86400" required checked autofocus>`)
	b.get("/settings/webhooks/new").shows(t, `maxlength="200"`)
	b.get("/settings/api-keys").hides(t, "1 scopes")
	p := b.get("/settings/api-keys/new")
	p.shows(t, ">IP allow-list<", ">Environment<")
	p.hides(t, `aria-label="Form"`)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/hook", "event_types": []string{"*"}},
		201)["id"].(string)
	b.get("/settings/webhooks/"+hook).shows(t, "<title>Webhook · ")
	crm := regexp.MustCompile(`href="(/settings/integrations/int_\w+)"`)
	b.post("/settings/integrations", url.Values{"kind": {"hubspot"}})
	at := crm.FindStringSubmatch(b.get("/settings/integrations").body)
	if at == nil {
		t.Fatal("no CRM")
	}
	if title := regexp.MustCompile(`<h1[^>]*>([^<]*)`).FindStringSubmatch(b.get(at[1]).body); title == nil ||
		!strings.Contains(title[1], "HubSpot") {
		t.Errorf("a CRM is headed %q", title)
	}
}
