package console

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// waiting makes posts of clients that wait for approval, and returns the ids of the clients.
func (s *system) waiting(t *testing.T, clients []string, each int) (profiles []string) {
	t.Helper()
	for _, name := range clients {
		profile := s.must(t, "POST", "/v1/profiles", object{"name": name}, 201)["id"].(string)
		factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Posts of " + name,
			"settings": object{"brand_name": "X"}, "profile_id": profile, "approval": "required"}, 201)["id"].(string)
		for n := range each {
			s.own(t, factory, fmt.Sprintf("Post %d of %s", n, name))
		}
		profiles = append(profiles, profile)
	}
	return profiles
}

// field returns the value of a hidden field of a page.
func (p page) field(name string) string {
	found := regexp.MustCompile(`name="` + regexp.QuoteMeta(name) + `" value="([^"]*)"`).FindStringSubmatch(p.body)
	if found == nil {
		return ""
	}
	return found[1]
}

// All posts of a client are approved by one button, in one call. The filters stay, and one button takes it back.
func TestAllPostsOfAClientAreApprovedAtOnce(t *testing.T) {
	s := start(t)
	names := []string{"Harbour Coffee", "مطعم الياسمين", "Peak Cycles"}
	profiles := s.waiting(t, names, 4)
	b := s.signedIn(t, "owner")
	queue := b.get("/settings/approvals?tab=all&platform=")
	queue.shows(t, "Posts that wait for a decision: 12.", "Approve all 4", `<h2 class="font-semibold min-w-0 break-words" dir="auto">`+names[1])
	form := url.Values{"do": {"approve:" + profiles[1]}, "of-" + profiles[1]: {queue.field("of-" + profiles[1])},
		"seen": {queue.field("seen")}, "queue": {queue.field("queue")}}
	if n := len(strings.Fields(form.Get("of-" + profiles[1]))); n != 4 {
		t.Fatalf("the button is for %d posts", n)
	}
	s.clock.advance(time.Second)
	done := b.post("/settings/approvals", form)
	done.shows(t, "Approved: 4.", "Undo", "Posts that wait for a decision: 8.", names[0])
	if at, _ := url.Parse(done.at); at.Query().Get("tab") != "all" {
		t.Errorf("the filters are gone: %s", done.at)
	}
	if n := len(s.entries(t, "operation_id=bulkPublishing")); n != 1 {
		t.Errorf("%d calls", n)
	}
	back := b.post("/settings/approvals", url.Values{"do": {"withdraw"}, "item": strings.Fields(form.Get("of-" + profiles[1]))})
	back.shows(t, "Taken back: 4.", "Posts that wait for a decision: 12.")
}

// Chosen posts are approved or sent back together. What has changed since the person saw it is not approved.
func TestChosenPosts(t *testing.T) {
	s := start(t)
	s.waiting(t, []string{"Harbour Coffee"}, 4)
	b := s.signedIn(t, "owner")
	queue := b.get("/settings/approvals")
	ids := regexp.MustCompile(`name="item" value="(cnt_\w+)"`).FindAllStringSubmatch(queue.body, -1)
	if len(ids) != 4 {
		t.Fatalf("%d posts to choose", len(ids))
	}
	item := func(n ...int) (all []string) {
		for _, i := range n {
			all = append(all, ids[i][1])
		}
		return all
	}
	if p := b.post("/settings/approvals", url.Values{"do": {"approve"}}); p.status != http.StatusUnprocessableEntity {
		t.Errorf("nothing is chosen: %d", p.status)
	}
	s.must(t, "PATCH", "/v1/content-items/"+ids[0][1], object{"caption": "Another text"}, 200)
	changed := b.post("/settings/approvals", url.Values{"do": {"approve"}, "item": item(0, 1), "seen": {queue.field("seen")}})
	changed.shows(t, "It has changed since you opened the page.", "Posts that wait for a decision: 3.")
	if changed.status != http.StatusConflict {
		t.Errorf("%d", changed.status)
	}
	if p := b.post("/settings/approvals", url.Values{"do": {"request-changes"}, "item": item(2, 3)}); p.status != 422 {
		t.Errorf("without a note: %d", p.status)
	}
	b.post("/settings/approvals", url.Values{"do": {"request-changes"}, "item": item(2, 3), "note": {"Name the price"}}).
		shows(t, "Changes are requested.", "Posts that wait for a decision: 1.")
	b.get("/settings/approvals?tab=changes_requested").shows(t, "Name the price", "Post 2 of Harbour Coffee")
	b.post("/settings/approvals", url.Values{"do": {"request-changes"}, "item": item(0), "note": {"Shorter"}}).
		shows(t, "Nothing waits for a decision here")
	share := b.post("/settings/approvals", url.Values{"do": {"share"}, "item": item(0, 2)})
	share.shows(t, "Create a review link", `name="item" value="`+ids[0][1])
}

// Sixty-two posts of eight clients take no more than ten clicks.
func TestSixtyTwoPostsAreApprovedInTenClicks(t *testing.T) {
	s := start(t)
	var names []string
	for n := range 8 {
		names = append(names, fmt.Sprintf("Client %d", n))
	}
	profiles := s.waiting(t, names[:6], 8)
	profiles = append(profiles, s.waiting(t, names[6:], 7)...)
	b := s.signedIn(t, "owner")
	clicks := 1
	queue := b.get("/settings/approvals")
	queue.shows(t, "Posts that wait for a decision: 62.")
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	_, _ = io.WriteString(packed, queue.body)
	_ = packed.Close()
	if out.Len() > 10_000 {
		t.Errorf("the page takes %d bytes, compressed %d", len(queue.body), out.Len())
	}
	for _, id := range profiles {
		clicks++
		queue = b.post("/settings/approvals", url.Values{"do": {"approve:" + id}, "of-" + id: {queue.field("of-" + id)},
			"seen": {queue.field("seen")}, "queue": {queue.field("queue")}})
	}
	queue.shows(t, "Nothing waits for a decision here")
	if clicks > 10 {
		t.Errorf("%d clicks", clicks)
	}
}

// An item that was opened from the queue has its neighbours, and a decision leads to the next one.
func TestTheNextPostOfTheQueue(t *testing.T) {
	s := start(t)
	s.waiting(t, []string{"Harbour Coffee"}, 3)
	b := s.signedIn(t, "owner")
	link := regexp.MustCompile(`data-key="r" href="([^"]+)"`).
		FindStringSubmatch(b.get("/settings/approvals?tab=all").body)
	first := b.get(strings.ReplaceAll(link[1], "&amp;", "&"))
	first.shows(t, "1 / 3", `rel="next"`)
	first.hides(t, `rel="prev"`)
	at, _ := url.Parse(first.at)
	next := b.post(at.Path+"/decide", url.Values{"decision": {"approved"}, "version": {"1"}, "queue": {first.field("queue")}})
	next.shows(t, "The item before this one is approved.", "1 / 2", "Post 1 of Harbour Coffee")
}

// A post that was not published is told on the first page with its cause and one button, and in the list with what the
// platform has said. The button publishes it again.
func TestAPostThatWasNotPublishedIsTold(t *testing.T) {
	s := start(t)
	sandbox := func(method, path string, body any, want int) map[string]any {
		t.Helper()
		status, data := s.call(t, s.Test, method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %v", method, path, status, data)
		}
		return data
	}
	profile := sandbox("POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"]
	factory := sandbox("POST", "/v1/factories", object{"type": "brand", "name": "Harbour", "profile_id": profile,
		"settings": object{"brand_name": "Harbour"}}, 201)["id"]
	account := sandbox("POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": profile}, 201)["id"].(string)
	item := sandbox("POST", "/v1/content-items", object{"factory_id": factory, "kind": "post", "source": "provided",
		"caption": "A cold brew"}, 202)["id"].(string)
	at := "/v1/content-items/" + item
	sandbox("POST", at+"/publish", object{"social_account_ids": []string{account},
		"sandbox": object{"outcome": "failed", "failure_code": "platform_unavailable"}}, 202)
	ends := func(state string) {
		t.Helper()
		poll.Until(t, "the item is "+state, func() bool { return sandbox("GET", at, nil, 200)["state"] == state })
	}
	ends("failed")
	b := s.signedIn(t, "owner")
	b.post("/settings/mode", url.Values{"mode": {"test"}})
	today := b.get("/settings")
	today.shows(t, "A post of Harbour Coffee was not published", "The publication failed, as was asked for.",
		`name="item" value="`+item, "Publish again", `Content</span>`)
	b.get("/settings/content-items?tab=failed").shows(t, "A cold brew", "not published", "Publish again",
		"The publication failed, as was asked for.")
	b.get("/settings/content-items?tab=published").hides(t, "A cold brew")
	b.get("/settings/content-items?q=COLD").shows(t, "A cold brew")
	b.get("/settings/content-items?q=tea").hides(t, "A cold brew")
	b.get("/settings/content-items?platform=vk").hides(t, "A cold brew")
	b.post("/settings/content-items/publish", url.Values{"item": {item}, "return": {"/settings/content-items?tab=failed"}}).
		shows(t, "The posts are being published again.")
	poll.Until(t, "the item is published or fails again", func() bool {
		return sandbox("GET", at, nil, 200)["attempt"] != nil && len(s.entries(t, "operation_id=bulkPublishing")) >= 0
	})
	auditor := s.signedIn(t, "auditor")
	auditor.post("/settings/mode", url.Values{"mode": {"test"}})
	auditor.get("/settings/content-items").hides(t, `<button class="btn" data-size="sm" name="item"`)
}

// A post gets another time, and loses it, where it is seen. Its time of day stays when it is moved to another day.
func TestAPostIsMovedInTheCalendar(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)["id"].(string)
	day := s.clock.now().UTC().AddDate(0, 0, 3)
	at := time.Date(day.Year(), day.Month(), day.Day(), 9, 30, 0, 0, time.UTC)
	s.must(t, "POST", "/v1/approvals/"+a.item+"/approve", nil, 200)
	s.must(t, "POST", "/v1/content-items/"+a.item+"/schedule", object{"publish_at": at, "social_account_ids": []string{account}}, 200)
	b := s.signedIn(t, "owner")
	b.send("GET", "/settings/calendar", nil, func(r *http.Request) {
		r.AddCookie(&http.Cookie{Name: "zone", Value: "Asia/Tokyo"})
	}).shows(t, `value="Asia/Tokyo"`)
	path := "/settings/calendar?view=day&date=" + at.Format(time.DateOnly)
	b.get(path).shows(t, "09:30", "Harbour Coffee", "@acme_news", "ready", `data-item="`+a.item, "/unschedule")
	item := "/settings/content-items/" + a.item
	later := at.AddDate(0, 0, 1)
	b.post(item+"/move", url.Values{"day": {later.Format(time.DateOnly)}, "return": {path}}).hides(t, a.item)
	if got := s.must(t, "GET", "/v1/content-items/"+a.item, nil, 200)["publish_at"].(string); !strings.HasPrefix(got,
		later.Format("2006-01-02T15:04")) {
		t.Errorf("it is at %s, not at %s", got, later)
	}
	if p := b.post(item+"/move", url.Values{"at": {"soon"}}); p.status != http.StatusUnprocessableEntity {
		t.Errorf("a time that is none: %d", p.status)
	}
	b.get(item+"/unschedule").shows(t, "It loses its time.")
	b.post(item+"/unschedule", url.Values{}).shows(t, "it has no time any more")
	if got := s.must(t, "GET", "/v1/content-items/"+a.item, nil, 200)["publish_at"]; got != nil {
		t.Errorf("it is still at %v", got)
	}
}

// The search finds what has the words, whatever their case and accents are, and ids.
func TestTheSearch(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	s.must(t, "POST", "/v1/profiles", object{"name": "Nordlicht Bäckerei"}, 201)
	b := s.signedIn(t, "owner")
	found := func(text string) page {
		t.Helper()
		return b.get("/settings/search?" + url.Values{"q": {text}}.Encode())
	}
	found("backerei").shows(t, "Nordlicht Bäckerei", `href="/settings/profiles/prf_`)
	found("harbour coff").shows(t, `href="/settings/profiles/`+a.profile)
	found("roast").shows(t, `href="/settings/content-items/`+a.item)
	found(a.item).shows(t, `href="/settings/content-items/`+a.item)
	found(a.item[:12]).shows(t, `href="/settings/content-items/`+a.item)
	found(a.item[10:]).hides(t, `href="/settings/content-items/`+a.item)
	found("agent lim").shows(t, `href="/settings/mandates"`)
	found("zzz").shows(t, "Nothing has these words.")
	// More templates than a page of the list.
	for i := range 101 {
		s.must(t, "POST", "/v1/templates", object{"name": fmt.Sprintf("Layout %03d", i), "theme": "calm"}, 201)
	}
	found("layout 000").shows(t, `href="/settings/templates/`)
	auditor := s.signedIn(t, "developer").get("/settings/search?q=people")
	auditor.hides(t, `href="/settings/people"`)
}

// With many factories, a filter takes a part of a name instead of a list of all.
func TestManyFactories(t *testing.T) {
	s := start(t)
	for n := range 18 {
		factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": fmt.Sprintf("Store %d Hamburg", n),
			"settings": object{"brand_name": "X"}, "approval": "required"}, 201)["id"].(string)
		if n == 0 {
			s.own(t, factory, "A new roast")
		}
	}
	b := s.signedIn(t, "owner")
	page := b.get("/settings/approvals?factory_id=store+0+ham")
	page.shows(t, "A new roast", `value="Store 0 Hamburg"`, "data-combo=")
	page.hides(t, `<select id="factory_id"`)
	b.get("/settings/approvals?factory_id=Store+1+Hamburg").hides(t, "A new roast")
	b.get("/settings/calendar?factory_id=no+such+store").shows(t, "Calendar")
}

// A form that was sent when the sign-in was too long ago is kept, and sent after the next one. It is nobody else's.
func TestAFormWaitsForTheSignIn(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	s.clock.advance(16 * time.Minute)
	asked := b.post("/settings/webhooks", url.Values{"url": {"http://127.0.0.1:9/hook"}, "description": {"CRM"},
		"event_types": {"content.*"}})
	asked.shows(t, "Confirm that it is you", "you go on with what you have typed")
	link := regexp.MustCompile(`return=([^"&]+)`).FindStringSubmatch(asked.body)
	back, err := url.QueryUnescape(link[1])
	if err != nil || !strings.HasPrefix(back, "/settings/continue?form=") {
		t.Fatalf("it leads to %s", back)
	}
	if p := s.signedIn(t, "developer").get(back); p.status != http.StatusNotFound {
		t.Errorf("another person: %d", p.status)
	}
	b = s.signedIn(t, "owner")
	kept := b.get(back)
	kept.shows(t, `action="/settings/webhooks"`, `name="url" value="http://127.0.0.1:9/hook"`, "CRM", ">Address</dt>",
		">Events</dt>", ">Description</dt>")
	b.post("/settings/webhooks", url.Values{"url": {kept.field("url")}, "description": {kept.field("description")},
		"event_types": {kept.field("event_types")}, "once": {kept.field("once")}}).shows(t, "The signing secret")
}

// A webhook that fails says how many events are sent again, and that is what is sent.
func TestTheCountOfAResendIsTrue(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	receiver := newReceiver(t)
	s.own(t, a.factory, "From before the webhook")
	s.clock.advance(2 * time.Second)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": receiver.URL + "/hook", "event_types": []string{"content.*"}},
		201)["id"].(string)
	for n := range 3 {
		s.own(t, a.factory, fmt.Sprint("A post ", n))
	}
	path := "/settings/webhooks/" + hook
	b := s.signedIn(t, "owner")
	poll.Until(t, "the webhook fails", func() bool { return strings.Contains(b.get(path).body, "failing") })
	poll.Until(t, "all are tried", func() bool { return strings.Count(b.get(path+"?state=retrying").body, "HTTP 502") == 3 })
	b.get(path+"?state=failed").shows(t, "There are no deliveries in this state")
	b.get(path).shows(t, "In 24 hours: delivered 0, not delivered 3")
	b.get("/settings/webhooks").shows(t, `class="day-bar"`)
	form := b.get(path + "/replay")
	form.hides(t, "&lt;time", "<time")
	counted := regexp.MustCompile(`name="since"[^>]*checked[^>]*>\s*<span>[^<]*</span><span[^>]*>Events: (\d+)`).FindStringSubmatch(form.body)
	if counted == nil || counted[1] != "3" {
		t.Errorf("the count is %v: %s", counted, form.main())
	}
	b.get("/settings").shows(t, "fails since", "See the answer", "Events that wait: 3")
	b.get(path+"?done=replay").shows(t, "data-polled=")
	receiver.broken.Store(false)
	before, _ := receiver.arrived()
	b.post(path+"/replay", url.Values{"since": {form.field("since")}}).shows(t, "are sent again")
	poll.Until(t, "they arrive", func() bool {
		return strings.Contains(b.get(path).body, "In 24 hours: delivered 3, not delivered 0")
	})
	if after, _ := receiver.arrived(); len(after)-len(before) != 3 {
		n := len(after) - len(before)
		t.Errorf("%d events were sent", n)
	}
}
