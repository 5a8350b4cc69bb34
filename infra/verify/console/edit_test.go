package console

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sentField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// saved sends the form of a page that lists changes, as its button does.
func (b *browser) saved(p page, path, step string) page {
	b.t.Helper()
	form := url.Values{"step": {step}}
	_, changes, _ := strings.Cut(p.main(), "<form")
	for _, m := range sentField.FindAllStringSubmatch(changes, -1) {
		if m[1] != "token" {
			form.Add(m[1], html.UnescapeString(m[2]))
		}
	}
	return b.post(path, form)
}

// A person changes a key by a form, which lists the changes before they are saved.
func TestAKeyIsEdited(t *testing.T) {
	s := start(t)
	made := s.must(t, "POST", "/v1/api-keys", object{"name": "CRM", "kind": "live", "scopes": []string{"content:read",
		"content:write", "account:read"}, "ip_allow_list": []string{"192.0.2.0/24"}}, 201)
	id := made["id"].(string)
	path := "/settings/api-keys/" + id
	b := s.signedIn(t, "owner")
	b.get(path).shows(t, path+"/edit", "spends credits")
	b.get(path+"/edit").shows(t, `name="scopes-content" value="content:read content:write" checked`,
		`name="scopes-publishing" value="" checked`, `value="192.0.2.0/24"`, `<legend class="sr-only">Studio</legend>`)
	form := url.Values{"name": {"CRM two"}, "version": {"1"}, "ips": {""}, "limit": {"500"}, "expires": {"2099-01-31"},
		"scopes-account": {"account:read"}, "scopes-content": {"content:read"},
		"scopes-publishing": {"content:publish"}}
	listed := b.post(path+"/edit", form)
	listed.shows(t, "Name: CRM → CRM two", "Adds the scope content:publish", "Removes the scope content:write",
		"Removes the address range 192.0.2.0/24", "Expires: Never → 31 Jan 2099", "Spending limit: None → 500",
		"Without a list, all addresses may use the key.")
	if got := s.must(t, "GET", "/v1/api-keys/"+id, nil, 200); got["name"] != "CRM" {
		t.Errorf("the list of changes has saved them: %v", got)
	}
	b.saved(listed, path+"/edit", "back").shows(t, `value="CRM two"`, `value="content:publish" checked`)
	b.saved(listed, path+"/edit", "save").shows(t, "The key is changed.", "CRM two")
	got := s.must(t, "GET", "/v1/api-keys/"+id, nil, 200)
	if scopes := fmt.Sprint(got["scopes"]); scopes != "[account:read content:read content:publish]" ||
		got["spend_limit_credits"] != 500.0 || got["expires_at"] != "2099-01-31T00:00:00.000Z" ||
		len(got["ip_allow_list"].([]any)) != 0 {
		t.Errorf("%v", got)
	}

	// Bad input changes nothing, and is marked at its field. A form that is out of date, or without a change, changes
	// nothing either.
	form.Set("version", "1")
	form.Set("name", "Late")
	b.saved(b.post(path+"/edit", form), path+"/edit", "save").shows(t, "It has changed since you opened the page.")
	b.post(path+"/edit", url.Values{"name": {"x"}}).shows(t, "Choose at least one scope.")
	form.Set("limit", "many")
	b.post(path+"/edit", form).shows(t, `aria-errormessage="limit-error"`)
	form.Set("limit", "")
	form.Set("ips", "nowhere")
	b.saved(b.post(path+"/edit", form), path+"/edit", "save").hides(t, "The key is changed.")
	b.post(path+"/edit", url.Values{"name": {"CRM two"}, "limit": {"500"}, "expires": {"2099-01-31"},
		"scopes": {"account:read", "content:read", "content:publish"}}).shows(t, "The form has no change.")

	// A preset works without a script, and leads back to the form.
	b.post(path+"/edit", url.Values{"name": {"Kept"}, "preset": {"read"}}).shows(t, `value="Kept"`,
		`value="products:read" checked`, `name="scopes-publishing" value="" checked`)
	if p := s.signedIn(t, "auditor").post(path+"/edit", form); p.status != http.StatusOK &&
		p.status != http.StatusForbidden {
		t.Errorf("an auditor: %d", p.status)
	}
	if got := s.must(t, "GET", "/v1/api-keys/"+id, nil, 200); got["name"] != "CRM two" {
		t.Errorf("%v", got)
	}
}

// A new key has the same control of scopes. A set that no level has is kept.
func TestScopesAreChosenByResource(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	b.get("/settings/api-keys/new").shows(t, `name="scopes-content" value="content:read"`,
		"spends credits", "publishes")
	p := b.post("/settings/api-keys", url.Values{"name": {"By resource"}, "kind": {"live"},
		"scopes-account": {"account:read"}, "scopes-content": {"content:read content:write"}, "scopes-studio": {""}})
	found := shownSecret.FindStringSubmatch(p.body)
	if found == nil {
		t.Fatalf("%d %s", p.status, p.main())
	}
	_, me := s.call(t, found[1], "GET", "/v1/me", nil)
	if scopes := fmt.Sprint(me["key"].(object)["scopes"]); scopes != "[account:read content:read content:write]" {
		t.Errorf("%s", scopes)
	}
	odd := s.must(t, "POST", "/v1/api-keys", object{"name": "Odd", "kind": "live",
		"scopes": []string{"content:write"}}, 201)
	b.get("/settings/api-keys/"+odd["id"].(string)+"/edit").shows(t, "As it is",
		`name="scopes-content" value="content:write" checked`)
}

// A webhook is changed by a form, which lists the changes, and single events can be chosen.
func TestAWebhookIsEdited(t *testing.T) {
	s := start(t)
	id := s.must(t, "POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/old", "event_types": []string{"content.*",
		"balance.low"}}, 201)["id"].(string)
	path := "/settings/webhooks/" + id
	b := s.signedIn(t, "owner")
	b.get(path+"/edit").shows(t, `value="http://127.0.0.1:9/old"`, `value="content.*" checked`,
		`value="balance.low" checked`, "Single events")
	form := url.Values{"url": {"http://127.0.0.1:9/new"}, "description": {"CRM"}, "event_types": {"content.*",
		"publication.*"}, "version": {"1"}}
	listed := b.post(path+"/edit", form)
	listed.shows(t, "Address: http://127.0.0.1:9/old → http://127.0.0.1:9/new", "Description: None → CRM",
		"Adds the events publication.*", "Removes the events balance.low",
		"Deliveries that wait are sent to the new address at once.")
	b.saved(listed, path+"/edit", "save").shows(t, "The webhook is changed.", "http://127.0.0.1:9/new")
	got := s.must(t, "GET", "/v1/webhooks/"+id, nil, 200)
	if types := got["event_types"].([]any); got["url"] != "http://127.0.0.1:9/new" || got["description"] != "CRM" ||
		!slices.Contains(types, any("publication.*")) {
		t.Errorf("%v", got)
	}
	form.Set("url", "ftp://x")
	form.Del("version")
	b.saved(b.post(path+"/edit", form), path+"/edit", "save").shows(t, `aria-errormessage="url-error"`)
	form.Del("event_types")
	b.post(path+"/edit", form).shows(t, "Choose at least one event.")
}
