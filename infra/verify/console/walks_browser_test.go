//go:build console

package console

import (
	"fmt"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// mostPerson is what the first admin takes at most from the sign-in to a verified webhook, in seconds of a person by
// the keystroke-level model, without the time of the pages. The issue asks for three minutes.
const mostPerson = 120

// From the sign-in over the first key to a webhook whose test event the system of the customer has verified.
func TestTheFirstAdminInChromium(t *testing.T) {
	s := start(t)
	w := s.inChromium(t, "walks.mjs", nil, map[string]any{"walk": "walkOfTheFirstAdmin"}).Walk
	t.Logf("%d clicks, %d keys, %d page loads: %.0f s of the person and %.1f s of the pages", w.Clicks, w.Keys, w.Loads,
		w.Person, w.Pages)
	if w.Clicks == 0 || w.Person > mostPerson {
		t.Errorf("it takes %d clicks and %.0f s of a person, more than %d s", w.Clicks, w.Person, mostPerson)
	}
}

// An auditor reads what the account did, takes it along as files, and finds nothing that changes it.
func TestAnAuditorInChromium(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	factory := s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Harbour", "settings": object{
		"brand_name": "Harbour"}}, 201)["id"].(string)
	s.must(t, "GET", "/v1/factories/"+factory, nil, 200)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "Nightly import", "kind": "live", "scopes": []string{
		"account:read"}}, 201)
	s.call(t, key["secret"].(string), "GET", "/v1/factories", nil)
	hook := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"}},
		201)["id"].(string)
	poll.Until(t, "the calls are in the log", func() bool { return len(s.entries(t, "status=4xx")) > 0 })
	read := []string{"", "/api-keys", "/api-keys/" + key["id"].(string), "/mandates", "/webhooks", "/webhooks/" + hook,
		"/events", "/usage", "/approvals", "/content-items/" + a.item, "/calendar", "/review-links", "/automations",
		"/experiments", "/profiles", "/profiles/" + a.profile, "/social-accounts", "/applications", "/integrations",
		"/service-levels", "/audit-log", "/people", "/sign-on", "/programs"}
	for i := range read {
		read[i] = "/settings" + read[i]
	}
	s.inChromium(t, "walks.mjs", nil, map[string]any{"walk": "walkOfAnAuditor", "read": read})
}

// A client decides about 16 posts on a phone, six of them with a note, and takes one decision back.
func TestAClientOnAPhoneInChromium(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	posts := []string{a.item}
	for n := range 15 {
		posts = append(posts, s.own(t, a.factory, fmt.Sprint("Coffee of the day ", n, "\n\nRoasted in the harbour, ",
			"and ground while you wait. The first cup is on us, the second one costs less than the bus.")))
	}
	link := s.must(t, "POST", "/v1/review-links", object{"content_item_ids": posts, "may": "decide",
		"name": "Posts of December"}, 201)["url"]
	s.inChromium(t, "walks.mjs", nil, map[string]any{"walk": "walkOfAClient", "link": link, "posts": posts})
	states := map[string]int{}
	for i, id := range posts {
		approval := s.must(t, "GET", "/v1/content-items/"+id, nil, 200)["approval"].(object)
		states[approval["state"].(string)]++
		if note := "Note about " + id; i < 6 && approval["note"] != note {
			t.Errorf("the note about the post %d is %v, not %q", i, approval["note"], note)
		}
	}
	if states["changes_requested"] != 6 || states["approved"] != 9 || states["pending"] != 1 {
		t.Errorf("the client has decided %v", states)
	}
}
