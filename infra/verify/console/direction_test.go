package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/content-automation/api/testdata/platforms/telegram"
)

// arabic is in each text of the account: what a page shows of others.
const arabic = "مطعم الياسمين"

// undirected returns the texts of others whose direction is that of the page. The elements of a choice have that of its
// list, and titles of windows and what is only read out have none.
func undirected(body string) (all []string) {
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		return []string{err.Error()}
	}
	var walk func(n *html.Node, directed bool)
	walk = func(n *html.Node, directed bool) {
		directed = directed || slices.Contains([]string{"bdi", "title", "pre", "code"}, n.Data) ||
			slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
				return a.Key == "dir" && a.Val == "auto" || a.Key == "class" && a.Val == "sr-only"
			})
		if n.Type == html.TextNode && !directed && strings.Contains(n.Data, arabic) {
			all = append(all, "<"+n.Parent.Data+"> "+strings.Join(strings.Fields(n.Data), " "))
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child, directed)
		}
	}
	walk(root, false)
	return all
}

// No page shows a text of others in the direction of its own words: not the account area, not the page of a review
// link, not that by which an account is connected, and no e-mail.
func TestTextsOfOthersHaveTheirOwnDirection(t *testing.T) {
	s := start(t)
	long := arabic + strings.Repeat(" والقهوة", 5)
	id := func(method, path string, body any, want int) string {
		t.Helper()
		return s.must(t, method, path, body, want)["id"].(string)
	}
	profile := id("POST", "/v1/profiles", object{"name": long, "spend_limit_credits": 5000}, 201)
	factory := id("POST", "/v1/factories", object{"type": "brand", "name": long, "profile_id": profile,
		"approval": "required", "settings": object{"brand_name": arabic}}, 201)
	account := id("POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": profile}, 201)
	item := s.own(t, factory, long)
	s.must(t, "POST", "/v1/content-items/"+item+"/schedule", object{"social_account_ids": []string{account},
		"publish_at": s.clock.now().UTC().AddDate(0, 0, 2)}, 200)
	other := s.own(t, factory, long)
	s.must(t, "POST", "/v1/approvals/"+other+"/request-changes", object{"note": long}, 200)
	link := s.must(t, "POST", "/v1/review-links", object{"factory_id": factory, "name": long, "may": "decide"}, 201)
	hook := id("POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"*"},
		"description": long}, 201)
	key := id("POST", "/v1/api-keys", object{"name": long, "kind": "live", "scopes": []string{"content:read"},
		"profile_ids": []string{profile}}, 201)
	automation := id("POST", "/v1/automations", object{"factory_id": factory, "template": object{"kind": "post",
		"prompt": long}, "trigger": object{"kind": "time", "cron": "30 9 * * 1-5"}}, 201)
	template := id("POST", "/v1/templates", object{"name": long, "theme": "calm", "profile_id": profile}, 201)
	experiment := id("POST", "/v1/experiments", object{"factory_id": factory, "question": long, "factors": []object{{
		"name": "pillar", "arms": []string{arabic, "Care"}}}, "metric": object{"name": "likes", "platform": "instagram"},
		"budget": object{"posts": 120, "days": 60}}, 201)
	shop := s.shelf(t)
	shop.table.Store("sku,name,Preis,availability\nS-1," + long + ",10.00 EUR,in_stock\nS-2," + long + ",free,in_stock\n")
	b := s.signedIn(t, "owner")
	b.post(shop.path(), url.Values{"url": {shop.url}, "format": {"csv"}, "mapping": {"price = Preis"}, "schedule": {"manual"},
		"daily_time": {"06:30"}, "on_price_change": {"hold"}, "on_sold_out": {"keep"}, "on_removed": {"hold"},
		"photos": {"none"}, "version": {"0"}}).shows(t, "The feed is set.")
	b.post(shop.path()+"/sync", url.Values{})
	feed := shop.ended(b)
	run := between(feed.body, shop.path()+"/runs/", `"`)
	seen := 0
	check := func(path, body string) {
		t.Helper()
		seen += strings.Count(body, arabic)
		for _, text := range undirected(body) {
			t.Errorf("%s: %s", path, text)
		}
	}
	of, feedAt := "?profile_id="+profile, strings.TrimPrefix(shop.path(), "/settings")
	for _, path := range []string{"", "/approvals", "/approvals?tab=all", "/calendar", "/calendar?view=week", "/calendar" + of,
		"/content-items", "/content-items/" + item, "/content-items/" + other, "/content-items/" + item + "/unschedule",
		"/profiles", "/profiles/" + profile, "/profiles/" + profile + "/delete", "/profiles/" + profile + "/erase",
		"/social-accounts" + of, "/social-accounts/" + account + "/disconnect", "/integrations", "/review-links",
		"/review-links/new?factory_id=" + factory, "/api-keys", "/api-keys/new", "/api-keys/" + key, "/api-keys/" + key + "/edit",
		"/api-keys/" + key + "/rotate", "/api-keys/" + key + "/revoke", "/mandates", "/webhooks", "/webhooks/" + hook,
		"/webhooks/" + hook + "/edit", "/webhooks/" + hook + "/delete", "/events", "/usage", "/automations", "/automations/new",
		"/automations/" + automation, "/automations/" + automation + "/delete", "/audit-log", "/audit-log?reads=1", "/exports",
		"/erasure", "/experiments", "/experiments/" + experiment, "/templates", "/templates/" + template, "/templates/new", "/people",
		"/feeds", feedAt, feedAt + "/runs/" + run, feedAt + "/products", "/factory-months?factory_id=" + factory, "/programs",
		"/service-levels", "/sign-on", "/profile", "/applications", "/search?q=" + url.QueryEscape(arabic), "/profiles/" + profile + "/connect-page"} {
		p := b.get("/settings" + path)
		if p.status != http.StatusOK {
			t.Errorf("%s: %d", path, p.status)
		}
		check(path, p.body)
	}
	check("the review page", b.send(http.MethodGet, link["url"].(string), nil).body)
	if seen < 60 {
		t.Errorf("only %d texts of others were seen", seen)
	}
}
