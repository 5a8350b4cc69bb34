//go:build console

package console

import (
	"fmt"
	"testing"
)

// Nothing that was typed is lost by the button Back, what has many options is typed, and templates work by a mouse.
func TestFormsInChromium(t *testing.T) {
	s := start(t)
	a := s.agency(t)
	posts := []string{a.item}
	for n := range 3 {
		posts = append(posts, s.own(t, a.factory, fmt.Sprint("Coffee of the day ", n)))
	}
	link := s.must(t, "POST", "/v1/review-links", object{"content_item_ids": posts, "may": "decide"}, 201)["url"]
	var factory, profile, template string
	for n := range 20 {
		name := fmt.Sprint("Store ", n)
		profile = s.must(t, "POST", "/v1/profiles", object{"name": name}, 201)["id"].(string)
		id := s.must(t, "POST", "/v1/factories", object{"type": "seller", "name": name,
			"settings": object{"currency": "EUR"}}, 201)["id"].(string)
		s.must(t, "POST", "/v1/api-keys", object{"name": name, "kind": "live", "scopes": []string{"account:read"}}, 201)
		if n == 17 {
			factory = id
		}
	}
	template = s.must(t, "POST", "/v1/templates", object{"name": "مطعم الياسمين " + hostile, "theme": "calm"}, 201)["id"].(string)
	field := func(name, value string) map[string]string { return map[string]string{name: value} }
	form := func(path string, fields map[string]string, keep ...string) object {
		return object{"path": "/settings" + path, "fields": fields, "keep": keep}
	}
	s.inChromium(t, "forms.mjs", []string{"/settings/templates", "/settings/templates/new", "/settings/templates/" + template,
		"/settings/exports", "/settings/search?q=store"}, map[string]any{
		"link": link, "media": s.BaseURL, "factory": factory, "automation": "/settings/automations/new",
		"choices": []string{"/settings/profiles/new", "/settings/automations/new", "/settings/review-links/new", "/settings/exports",
			"/settings/applications", "/settings/events", "/settings/audit-log", "/settings/calendar", "/settings/approvals",
			"/settings/content-items", "/settings/social-accounts", "/settings/api-keys", "/settings/api-keys/new",
			"/settings/factory-months", "/settings/experiments", "/settings/templates/new", "/settings/people",
			"/settings/profiles/" + profile, "/settings/feeds/" + factory, "/settings/profile/notifications"},
		"forms": []object{
			form("/webhooks/new", map[string]string{"url": "http://nowhere", "description": "My CRM"}),
			form("/profiles/new", map[string]string{"name": "Harbour", "limit": "many"}),
			form("/profiles/"+profile, map[string]string{"name": "Harbour", "limit": "many"}),
			form("/automations/new", map[string]string{"url": "ftp://nowhere", "prompt": "Write about {{nothing}}"}),
			form("/api-keys/new", map[string]string{"name": "CRM", "ips": "nowhere"}),
			form("/people/invite", field("email", "ada at acme")),
			form("/feeds/"+factory, map[string]string{"url": "http://nowhere", "currency": "EURO"}),
			form("/templates/"+template, map[string]string{"name": "Spring", "design": "{"}),

			form("/calendar", field("zone", "Mars/Olympus")),
		}})
}
