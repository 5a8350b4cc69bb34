package console

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

var (
	menuCount = regexp.MustCompile(`<a class="count" href="([^"]+)"[^>]*>\s*(\d+)<`)
	tabCount  = regexp.MustCompile(`<a class="chip" href="([^"]+)"[^>]*>[^<]* <span class="tabular-nums">(\d+)<`)
	dayCount  = regexp.MustCompile(`<a class="mt-2 text-xs underline" href="([^"]+)">See all (\d+)<`)
	listed    = regexp.MustCompile(`<(?:h2|h3|td|li)[^>]*>\s*<a [^>]*href="/settings/(?:content-items|webhooks)/((?:cnt|whk)_\w+)`)
)

// rows returns the ids of what a list shows in its rows.
func (p page) rows() (ids []string) {
	for _, found := range listed.FindAllStringSubmatch(p.main(), -1) {
		ids = append(ids, found[1])
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// Each number of the menu, of Today and of tabs is that of the list that it links to.
func TestNumbersAreThoseOfTheListsTheyLink(t *testing.T) {
	s := start(t)
	receiver := newReceiver(t)
	sandbox := func(method, path string, body any, want int) map[string]any {
		t.Helper()
		status, data := s.call(t, s.Test, method, path, body)
		if status != want {
			t.Fatalf("%s %s: %d %v", method, path, status, data)
		}
		return data
	}
	sandbox("POST", "/v1/webhooks", object{"url": receiver.URL + "/hook", "event_types": []string{"content.*"}}, 201)
	sandbox("POST", "/v1/webhooks", object{"url": "http://127.0.0.1:9/", "event_types": []string{"balance.low"}}, 201)
	profile := sandbox("POST", "/v1/profiles", object{"name": "Harbour Coffee"}, 201)["id"]
	made := map[string]any{}
	for _, approval := range []string{"none", "required"} {
		made[approval] = sandbox("POST", "/v1/factories", object{"type": "brand", "name": "Harbour " + approval,
			"approval": approval, "profile_id": profile, "settings": object{"brand_name": "Harbour"}}, 201)["id"]
	}
	account := func(of any) string {
		return sandbox("POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
			"channel": telegram.Channel, "profile_id": of}, 201)["id"].(string)
	}
	first := account(profile)
	item := func(approval, caption string) string {
		return sandbox("POST", "/v1/content-items", object{"factory_id": made[approval], "kind": "post",
			"source": "provided", "caption": caption}, 202)["id"].(string)
	}
	ends := func(id, outcome string) {
		t.Helper()
		body := object{"outcome": outcome}
		if outcome == "failed" {
			body["failure_code"] = "platform_unavailable"
		}
		sandbox("POST", "/v1/content-items/"+id+"/publish", object{"social_account_ids": []string{first}, "sandbox": body}, 202)
		poll.Until(t, "the item is "+outcome, func() bool {
			return sandbox("GET", "/v1/content-items/"+id, nil, 200)["state"] == outcome
		})
	}
	for n := range 3 {
		ends(item("none", "Failed "+strconv.Itoa(n)), "failed")
	}
	ends(item("none", "Fine"), "published")
	for n := range 4 {
		id := item("required", "Waits "+strconv.Itoa(n))
		if n == 0 {
			sandbox("POST", "/v1/approvals/"+id+"/request-changes", object{"note": "Shorter"}, 200)
			continue
		}
		sandbox("POST", "/v1/content-items/"+id+"/schedule", object{"social_account_ids": []string{first},
			"publish_at": s.clock.now().UTC().AddDate(0, 0, n)}, 200)
	}
	b, auditor := s.signedIn(t, "owner"), s.signedIn(t, "auditor")
	for _, one := range []*browser{b, auditor} {
		one.post("/settings/mode", url.Values{"mode": {"test"}})
	}
	poll.Until(t, "the webhook fails", func() bool {
		return strings.Contains(b.get("/settings/webhooks?state=failing").main(), "/webhooks/whk_")
	})
	followed := map[string]int{}
	follow := func(kind string, link, n string) {
		t.Helper()
		to := html.UnescapeString(link)
		if strings.HasPrefix(to, "?") {
			to = "/settings/approvals" + to
		}
		if got := b.get(to).rows(); strconv.Itoa(len(got)) != n {
			t.Errorf("%s: the number %s leads to %d rows at %s: %v", kind, n, len(got), to, got)
		}
		followed[kind]++
	}
	today := b.get("/settings")
	_, menu, _ := strings.Cut(today.body, "<nav")
	menu, _, _ = strings.Cut(menu, "</nav>")
	for _, found := range menuCount.FindAllStringSubmatch(menu, -1) {
		follow("menu", found[1], found[2])
	}
	for _, found := range dayCount.FindAllStringSubmatch(today.body, -1) {
		follow("days", found[1], found[2])
	}
	for _, filters := range []string{"?tab=all", "?tab=all&platform=telegram", "?tab=all&platform=vk"} {
		for _, found := range tabCount.FindAllStringSubmatch(b.get("/settings/approvals"+filters).main(), -1) {
			follow("tabs"+filters, found[1], found[2])
		}
	}
	told := regexp.MustCompile(`(\d+) posts of Harbour Coffee were not published`).FindStringSubmatch(today.body)
	why := regexp.MustCompile(`href="(/settings/content-items\?of=[^"]+)"`).FindStringSubmatch(auditor.get("/settings").body)
	if told == nil || why == nil {
		t.Fatalf("the failed posts are not told: %s", today.main())
	}
	follow("failed posts", why[1], told[1])
	approve := regexp.MustCompile(`Posts to approve[^:<]*: (\d+)`).FindStringSubmatch(today.body)
	if approve == nil {
		t.Fatal("the approvals are not told")
	}
	follow("approvals", "/settings/approvals?tab=all", approve[1])
	if followed["menu"] != 3 || followed["tabs?tab=all"] < 2 || followed["tabs?tab=all&platform=vk"] != 0 {
		t.Errorf("only %v were followed", followed)
	}
}
