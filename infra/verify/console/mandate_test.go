package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A person sets the mandate of a key in its form, which lists the changes, sees it in the list of mandates, and ends
// it.
func TestAMandateIsSetAndEnded(t *testing.T) {
	s := start(t)
	made := s.must(t, "POST", "/v1/api-keys", object{"name": "Agent", "kind": "live", "scopes": []string{
		"account:read"}}, 201)
	id, secret := made["id"].(string), made["secret"].(string)
	path := "/settings/api-keys/" + id
	b := s.signedIn(t, "owner")
	b.get("/settings/mandates").shows(t, "No key has agent limits")
	b.get(path+"/edit").shows(t, "Agent limits", `name="platforms" value="telegram"`,
		`name="needs_person" value="delete"`)
	form := url.Values{"name": {"Agent"}, "version": {"1"}, "scopes-account": {"account:read"},
		"credits_a_day": {"150"},
		"quiet_from":    {"22:00"}, "quiet_to": {"08:00"}, "quiet_zone": {"Europe/Berlin"},
		"platforms":    {"telegram", "vk"},
		"needs_person": {"delete"}, "until": {"2099-01-31"}}
	listed := b.post(path+"/edit", form)
	listed.shows(t, "Credits a day: None → 150", "Platforms that it may publish to: None → telegram, vk",
		"Quiet hours from: None → 22:00", "Quiet hours to: None → 08:00", "Leaves to people: delete",
		"Time zone of the quiet hours: None → Europe/Berlin", "Ends on: None → 31 Jan 2099")
	b.saved(listed, path+"/edit", "save").shows(t, "The key is changed.", "22:00–08:00, Europe/Berlin", "Telegram, VK")
	m := s.must(t, "GET", "/v1/api-keys/"+id, nil, 200)["mandate"].(object)
	if m["credits_a_day"] != 150.0 || fmt.Sprint(m["platforms"]) != "[telegram vk]" ||
		fmt.Sprint(m["needs_person"]) != "[delete]" || m["until"] != "2099-01-31T00:00:00.000Z" || m["id"] != id+":2" {
		t.Errorf("%v", m)
	}
	b.get("/settings/mandates").shows(t, "Agent", "0 / 150", "End the access")
	// A bad time is marked at its field. A form without the fields leaves the mandate as it is.
	bad := url.Values{}
	for name, values := range form {
		bad[name] = values
	}
	bad.Set("version", "2")
	bad.Set("quiet_zone", "Mars/Crater")
	b.saved(b.post(path+"/edit", bad), path+"/edit", "save").shows(t, `aria-errormessage="quiet_zone-error"`)
	b.post(path+"/edit", url.Values{"name": {"Agent"}, "scopes-account": {"account:read"}}).
		shows(t, "The form has no change.")

	// Its end is confirmed, and counts at once.
	b.get("/settings/mandates/"+id+"/end").shows(t, "what they have scheduled is not published")
	if status, _ := s.call(t, secret, "GET", "/v1/me", nil); status != http.StatusOK {
		t.Fatalf("before its end: %d", status)
	}
	b.post("/settings/mandates/"+id+"/end", url.Values{}).shows(t, "The access has ended", "ended")
	if status, answer := s.call(t, secret, "GET", "/v1/me", nil); status != http.StatusForbidden {
		t.Errorf("after its end: %d %v", status, answer)
	}
	if p := s.signedIn(t, "auditor").post("/settings/mandates/"+id+"/end", url.Values{}); strings.Contains(p.body,
		"The access has ended") {
		t.Error("an auditor ends mandates")
	}
}

// The page that connects a program gives it a mandate.
func TestAProgramHasAMandate(t *testing.T) {
	s := start(t)
	b, p := s.signedIn(t, "developer"), s.registered(t)
	code := s.consented(b, "/oauth/authorize?"+p.ask().Encode(), url.Values{"credits_a_day": {"20"},
		"needs_person": {"publish"}}).Get("code")
	_, answer := s.form(t, "/oauth/token", p.redeem(code))
	_, me := s.call(t, fmt.Sprint(answer["access_token"]), "GET", "/v1/me", nil)
	m, _ := me["key"].(object)["mandate"].(object)
	if m == nil || m["credits_a_day"] != 20.0 || fmt.Sprint(m["needs_person"]) != "[publish]" {
		t.Errorf("%v", me["key"])
	}
}
