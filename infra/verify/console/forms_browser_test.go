//go:build console

package console

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

// inSandbox fills the sandbox with names of 60 letters, and of a language from right to left. It returns all pages.
func (s *system) inSandbox(t *testing.T) (pages []string) {
	t.Helper()
	made := func(path string, body object) string {
		t.Helper()
		status, data := s.call(t, s.Test, "POST", path, body)
		if status >= 300 {
			t.Fatalf("%s: %d %v", path, status, data)
		}
		return data["id"].(string)
	}
	var profile, factory, item string
	for _, name := range []string{strings.Repeat("Donaudampfschiff", 4)[:60], arabic} {
		profile = made("/v1/profiles", object{"name": name, "spend_limit_credits": 5000})
		factory = made("/v1/factories", object{"type": "seller", "name": name, "profile_id": profile,
			"settings": object{"currency": "EUR"}, "approval": "required"})
		made("/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
			"channel": telegram.Channel, "profile_id": profile})
		item = made("/v1/content-items", object{"factory_id": factory, "kind": "post", "source": "provided", "caption": name})
		made("/v1/templates", object{"name": name, "theme": "bold"})
	}
	key := made("/v1/api-keys", object{"name": arabic, "kind": "test", "scopes": []string{"account:read"}})
	hook := made("/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"content.*"}, "description": arabic})
	template := made("/v1/templates", object{"name": arabic, "theme": "playful"})
	automation := made("/v1/automations", object{"factory_id": factory, "template": object{"kind": "post", "prompt": arabic},
		"trigger": object{"kind": "time", "cron": "30 9 * * 1-5"}})
	for _, path := range []string{"", "/approvals", "/calendar", "/content-items", "/content-items?tab=failed", "/content-items/" + item,
		"/automations", "/automations/new", "/automations/" + automation, "/feeds", "/feeds/" + factory, "/templates",
		"/templates/" + template, "/profiles", "/profiles/new", "/profiles/" + profile, "/social-accounts", "/integrations",
		"/api-keys", "/api-keys/" + key, "/webhooks", "/webhooks/" + hook, "/events", "/audit-log", "/usage", "/people", "/sign-on",
		"/programs", "/exports", "/erasure", "/mandates", "/applications", "/service-levels", "/factory-months", "/experiments",
		"/review-links", "/review-links/new", "/profile", "/profile/notifications", "/search?q=coffee"} {
		pages = append(pages, "/settings"+path)
	}
	return append(pages, "/", "/api-docs/reference", "/api-docs/reference/createFactory", "/api-docs/search?q=schedule",
		"/api-docs/guides/quick-start")
}

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
	sandbox := s.inSandbox(t)
	field := func(name, value string) map[string]string { return map[string]string{name: value} }
	form := func(path string, fields map[string]string, keep ...string) object {
		return object{"path": "/settings" + path, "fields": fields, "keep": keep}
	}
	s.inChromium(t, "forms.mjs", []string{"/settings/templates", "/settings/templates/new", "/settings/templates/" + template,
		"/settings/exports", "/settings/search?q=store"}, map[string]any{
		"sandbox": sandbox, "link": link, "media": s.BaseURL, "factory": factory, "automation": "/settings/automations/new",
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
