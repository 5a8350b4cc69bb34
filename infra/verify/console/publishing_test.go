package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

type object = map[string]any

// must calls the API with the live key, and returns the data of the expected status.
func (s *system) must(t *testing.T, method, path string, body any, want int) map[string]any {
	t.Helper()
	status, data := s.call(t, s.Live, method, path, body)
	if status != want {
		t.Fatalf("%s %s: %d %v", method, path, status, data)
	}
	return data
}

// agency is an account with a profile, a factory of it whose approval is required, and an item that waits for one.
type agency struct{ profile, factory, item string }

func (s *system) agency(t *testing.T) (a agency) {
	t.Helper()
	a.profile = s.must(t, "POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"].(string)
	a.factory = s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Harbour on social media",
		"settings": object{"brand_name": "Harbour"}, "profile_id": a.profile}, 201)["id"].(string)
	s.must(t, "PATCH", "/v1/factories/"+a.factory, object{"approval": "required"}, 200)
	a.item = s.own(t, a.factory, "A new roast")
	return a
}

// own makes an item of the given text, which is generated at once.
func (s *system) own(t *testing.T, factory, caption string) string {
	t.Helper()
	return s.must(t, "POST", "/v1/content-items", object{"factory_id": factory, "kind": "post", "source": "provided",
		"caption": caption, "variants": object{"telegram": object{"caption": caption + " on Telegram"}}}, 202)["id"].(string)
}

// generated makes an item by a prompt, and waits for it.
func (s *system) generated(t *testing.T, factory, kind, prompt string) string {
	t.Helper()
	id := s.must(t, "POST", "/v1/content-items", object{"factory_id": factory, "kind": kind, "prompt": prompt},
		202)["id"].(string)
	poll.Until(t, prompt+" is generated", func() bool {
		return s.must(t, "GET", "/v1/content-items/"+id, nil, 200)["state"] == "generated"
	})
	return id
}

// main returns the content of a page.
func (p page) main() string {
	_, rest, _ := strings.Cut(p.body, "<main")
	return rest
}

// shows fails unless a page has all texts.
func (p page) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.body, text) {
			t.Errorf("%d at %s lacks %q: %s", p.status, p.at, text, p.main())
		}
	}
}

// hides fails if a page has one of the texts.
func (p page) hides(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(p.body, text) {
			t.Errorf("%d at %s has %q: %s", p.status, p.at, text, p.main())
		}
	}
}

func TestDecisionsInTheQueue(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	other := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Alpine", "approval": "required",
		"settings": object{"brand_name": "Alpine"}}, 201)["id"].(string)
	second := s.own(t, other, "A new bicycle")
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	queue := b.get("/settings/approvals")
	queue.shows(t, "A new roast", "A new bicycle", "Harbour on social media", "Harbour Coffee")
	b.get("/settings/approvals?profile_id="+a.profile).hides(t, "A new bicycle")
	b.get("/settings/approvals?factory_id="+other).hides(t, "A new roast")
	b.get("/settings/approvals?approval=changes_requested").hides(t, "A new roast", "A new bicycle")

	at := "/settings/content-items/" + a.item
	b.get(at).shows(t, "A new roast on Telegram", "<h2>Telegram</h2>", `value="approved"`)
	form := func(decision, note, version string) url.Values {
		return url.Values{"decision": {decision}, "note": {note}, "version": {version}}
	}
	if p := b.post(at+"/decide", form("changes_requested", " ", "1")); p.status != http.StatusUnprocessableEntity {
		t.Errorf("without a note: %d", p.status)
	}
	b.post(at+"/decide", form("changes_requested", "Name the price", "1")).shows(t, "Changes are requested.", "Name the price")
	// The person has seen the first version, and others have decided meanwhile.
	if p := b.post(at+"/decide", form("approved", "Fine", "1")); p.status != http.StatusUnprocessableEntity {
		t.Errorf("an outdated decision: %d", p.status)
	} else {
		p.shows(t, "It has changed since you opened the page.", ">Fine</textarea>")
	}
	b.post(at+"/decide", form("approved", "Fine", "2")).shows(t, "The item is approved.", "A new bicycle")
	b.get("/settings/approvals").hides(t, "A new roast")
	got := s.must(t, "GET", "/v1/content-items/"+a.item, nil, 200)["approval"].(object)
	if by, _ := got["by"].(string); got["state"] != "approved" || got["note"] != "Fine" || !strings.HasPrefix(by, "usr_") {
		t.Errorf("%v", got)
	}

	auditor := s.browser(t)
	s.signIn(auditor, "auditor@demo.example")
	auditor.get("/settings/content-items/"+second).shows(t, "A new bicycle")
	if p := auditor.post("/settings/content-items/"+second+"/decide", form("approved", "", "1")); p.status != 403 {
		t.Errorf("an auditor: %d", p.status)
	}
}

func TestReviewLinksAreMadeShownOnceAndDeleted(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	b.get("/settings/review-links/new?item="+a.item).shows(t, "A new roast", `name="item" value="`+a.item)
	for name, form := range map[string]url.Values{
		"31 days": {"item": {a.item}, "may": {"view"}, "days": {"31"}}, "no days": {"item": {a.item}, "may": {"view"}},
		"no subject": {"may": {"view"}, "days": {"7"}}, "no such right": {"item": {a.item}, "may": {"x"}, "days": {"7"}},
	} {
		if p := b.post("/settings/review-links", form); p.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, p.status)
		}
	}
	form := url.Values{"name": {"Spring"}, "item": {a.item}, "may": {"decide"}, "days": {"30"}, "once": {"one"},
		"opened": {strconv.FormatInt(s.clock.now().Unix(), 10)}}
	found := shownSecret.FindStringSubmatch(b.post("/settings/review-links", form).body)
	if found == nil {
		t.Fatal("the page shows no link")
	}
	if again := shownSecret.FindStringSubmatch(b.post("/settings/review-links", form).body); again == nil ||
		again[1] != found[1] {
		t.Errorf("a repeat shows %v", again)
	}
	stranger := s.browser(t)
	stranger.get(found[1]).shows(t, "Spring", "A new roast", "Approve")
	list := b.get("/settings/review-links")
	list.shows(t, "Spring", "decide", "active")
	list.hides(t, found[1])
	id := regexp.MustCompile(`review-links/(rvl_\w+)/delete`).FindStringSubmatch(list.body)[1]
	b.get("/settings/review-links/"+id+"/delete").shows(t, "The page ends at once.")
	b.post("/settings/review-links/"+id+"/delete", url.Values{}).shows(t, "The review link is deleted.")
	if p := stranger.get(found[1]); p.status != http.StatusNotFound {
		t.Errorf("a deleted link: %d", p.status)
	}
}

func TestTheCalendarInAZone(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token, "channel": telegram.Channel,
		"profile_id": a.profile}, 201)["id"].(string)
	// 23:30 in UTC is the next day in Berlin.
	day := s.clock.now().UTC().AddDate(0, 0, 40)
	at := time.Date(day.Year(), day.Month(), 14, 23, 30, 0, 0, time.UTC)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"publish_at": at,
		"social_account_ids": []string{account}}, 200)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	path := "/settings/calendar?view=week&date=" + at.Format(time.DateOnly)
	entryOf := func(p page, date string) bool {
		_, rest, _ := strings.Cut(p.body, `<time datetime="`+date+`"`)
		rest, _, _ = strings.Cut(rest, "<time ")
		return strings.Contains(rest, a.item)
	}
	if p := b.get(path); !entryOf(p, at.Format(time.DateOnly)) || !strings.Contains(p.body, "23:30") {
		t.Errorf("%d in UTC: %s", p.status, p.main())
	}
	if p := b.post("/settings/calendar/zone", url.Values{"zone": {"Mars/Olympus"}, "return": {path}}); p.status != 422 {
		t.Errorf("a zone that does not exist: %d", p.status)
	}
	p := b.post("/settings/calendar/zone", url.Values{"zone": {"Europe/Berlin"}, "return": {path}})
	next := at.AddDate(0, 0, 1)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	if next.Weekday() == time.Monday {
		p = b.get("/settings/calendar?view=week&date=" + next.Format(time.DateOnly))
	}
	if !entryOf(p, next.Format(time.DateOnly)) || !strings.Contains(p.body, at.In(berlin).Format("15:04")) {
		t.Errorf("%d in Berlin: %s", p.status, p.main())
	}
	month := "/settings/calendar?date=" + at.Format(time.DateOnly)
	b.get(month).shows(t, a.item, "to approve", "Harbour Coffee", "@acme_news")
	b.get(month+"&profile_id="+a.profile).shows(t, a.item)
	b.get(month+"&factory_id=fac_01h455vb4pex5vsknk084sn02q").hides(t, a.item)
	b.get(month+"&profile_id=prf_01h455vb4pex5vsknk084sn02q").hides(t, a.item)
	b.get(month+"&platform=vk").hides(t, a.item)
	if p := b.get("/settings/calendar?date=x"); p.status != http.StatusOK {
		t.Errorf("a date that is none: %d", p.status)
	}
}

func TestProfilesAndTheirKeys(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	if p := b.post("/settings/profiles", url.Values{"name": {"Harbour"}, "limit": {"many"}}); p.status != 422 {
		t.Errorf("%d", p.status)
	}
	made := b.post("/settings/profiles", url.Values{"name": {"Harbour"}, "limit": {"500"}})
	made.shows(t, "The profile is created.", "Harbour", "500 credits are left")
	id := regexp.MustCompile(`/profiles/(prf_\w+)`).FindStringSubmatch(made.at)[1]
	path := "/settings/profiles/" + id
	b.post(path, url.Values{"name": {"Harbour Coffee"}, "limit": {""}, "region": {"at"}, "version": {"1"}}).
		shows(t, "The profile is changed.", "Harbour Coffee", "There is no limit.", `value="AT"`)
	if p := b.post(path, url.Values{"name": {"Late"}, "limit": {""}, "version": {"1"}}); p.status != 422 {
		t.Errorf("an outdated change: %d", p.status)
	}

	// A key of the profile sees its factories only.
	s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Another", "settings": object{"brand_name": "A"}}, 201)
	b.get("/settings/api-keys/new").shows(t, `name="profiles" value="`+id)
	key := b.post("/settings/api-keys", url.Values{"name": {"Bound"}, "kind": {"live"}, "profiles": {id},
		"scopes": {"factories:read", "account:read"}})
	found := shownSecret.FindStringSubmatch(key.body)
	if found == nil {
		t.Fatalf("%d: %s", key.status, key.body)
	}
	if status, data := s.call(t, found[1], "GET", "/v1/me", nil); status != 200 ||
		data["key"].(object)["profile_ids"].([]any)[0] != id {
		t.Errorf("%d %v", status, data)
	}
	b.get("/settings/api-keys").shows(t, "Harbour Coffee", "Bound")
	b.get("/settings/api-keys?profile_id="+id).shows(t, "Bound")
	b.get("/settings/api-keys?profile_id=prf_01h455vb4pex5vsknk084sn02q").hides(t, "Bound<")

	// It tells what belongs to it, and is not deleted before.
	b.get(path).shows(t, "Bound")
	s.clock.advance(10 * time.Second)
	if p := b.post(path+"/delete", url.Values{"typed": {"Harbour Coffee"}}); p.status != http.StatusConflict {
		t.Errorf("%d: %s", p.status, p.body)
	} else {
		p.shows(t, "The profile still has API keys.")
	}
	keyID := regexp.MustCompile(`/api-keys/(key_\w+)/revoke`).FindStringSubmatch(b.get("/settings/api-keys?profile_id=" +
		id).body)[1]
	b.post("/settings/api-keys/"+keyID+"/revoke", url.Values{})
	b.post(path+"/delete", url.Values{"typed": {"Harbour Coffee"}}).shows(t, "The profile is deleted.")

	// The link by which a client connects an account names no page of the account area.
	client := s.must(t, "POST", "/v1/profiles", object{"name": "Alpine"}, 201)["id"].(string)
	link := b.post("/settings/social-accounts", url.Values{"platform": {"vk"}, "connect": {"oauth2"}, "profile_id": {client}})
	link.shows(t, "The connect link", "It works once, within 30 minutes.")
	if p := s.browser(t).get(shownSecret.FindStringSubmatch(link.body)[1]); p.status != 200 {
		t.Errorf("the connect link answers %d", p.status)
	} else {
		p.shows(t, "Alpine")
	}
}

// newFeed serves a feed without entries, and returns its address.
func newFeed(t *testing.T) string {
	t.Helper()
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>News</title></channel></rss>`)
	}))
	t.Cleanup(served.Close)
	return served.URL + "/feed.xml"
}

func TestAutomationsOfEachTrigger(t *testing.T) {
	s := start(t)
	seller := s.must(t, "POST", "/v1/factories", object{"type": "seller", "name": "Shop",
		"settings": object{"currency": "EUR"}}, 201)["id"].(string)
	feed := newFeed(t)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	form := func(trigger string, more ...string) url.Values {
		f := url.Values{"factory_id": {seller}, "trigger": {trigger}, "content": {"post"}, "prompt": {"News"}, "most": {"5"},
			"url": {feed}, "cron": {"30 9 * * 1-5"}}
		for i := 0; i < len(more); i += 2 {
			f.Set(more[i], more[i+1])
		}
		return f
	}
	for name, f := range map[string]url.Values{"no feed": form("feed", "url", ""), "no time": form("time", "cron", "often"),
		"no number": form("time", "most", "x"), "no factory": form("time", "factory_id", "fac_01h455vb4pex5vsknk084sn02q"),
		"no trigger": form("")} {
		if p := b.post("/settings/automations", f); p.status != http.StatusUnprocessableEntity && p.status != 404 {
			t.Errorf("%s: %d", name, p.status)
		}
	}
	var paths []string
	for _, trigger := range []string{"feed", "product", "time"} {
		made := b.post("/settings/automations", form(trigger))
		made.shows(t, "The automation is created.")
		at, _ := url.Parse(made.at)
		paths = append(paths, at.Path)
	}
	b.get("/settings/automations").shows(t, feed, "30 9 * * 1-5", "A new product of the factory")
	last := paths[2]
	b.post(last+"/state", url.Values{"state": {"paused"}}).shows(t, "The automation is paused.", "Resume")
	b.get("/settings/automations?state=paused").hides(t, feed)
	b.post(last+"/state", url.Values{"state": {"active"}}).shows(t, "goes on with what is new")
	b.post(last, form("time", "most", "7", "prompt", "Good morning")).shows(t, "The automation is changed.", "Good morning")
	id := last[strings.LastIndex(last, "/")+1:]
	if got := s.must(t, "GET", "/v1/automations/"+id, nil, 200); got["max_per_day"] != 7.0 ||
		got["trigger"].(object)["cron"] != "30 9 * * 1-5" || got["template"].(object)["prompt"] != "Good morning" {
		t.Errorf("%v", got)
	}
	b.post(last+"/delete", url.Values{}).shows(t, "The automation is deleted.")
	if p := b.get(last); p.status != http.StatusNotFound {
		t.Errorf("a deleted automation: %d", p.status)
	}
}

// The form of a webhook offers the events of every area.
func TestAWebhookForTheEventsOfPublishing(t *testing.T) {
	s := start(t)
	b := s.browser(t)
	s.signIn(b, "owner@demo.example")
	b.get("/settings/webhooks/new").shows(t, `value="publication.*"`, `value="automation.*"`, `value="integration.*"`)
}
