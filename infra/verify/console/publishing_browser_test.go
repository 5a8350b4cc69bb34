//go:build console

package console

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// published fills the demo account with what the pages of publishing show. Its names are hostile.
func (s *system) published(t *testing.T) (pages []string, given map[string]any) {
	t.Helper()
	a := s.agency(t)
	s.must(t, "PATCH", "/v1/profiles/"+a.profile, object{"name": "Harbour " + hostile, "spend_limit_credits": 100_000}, 200)
	s.must(t, "PATCH", "/v1/factories/"+a.factory, object{"name": "Harbour on social media " + hostile}, 200)
	account := s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram", "bot_token": telegram.Token,
		"channel": telegram.Channel, "profile_id": a.profile}, 201)["id"].(string)
	post := s.generated(t, a.factory, "post", "A cup of coffee "+hostile)
	carousel := s.generated(t, a.factory, "carousel", "Five roasts")
	story := s.generated(t, a.factory, "story", "The harbour in the morning")
	s.must(t, "POST", "/v1/approvals/"+carousel+"/request-changes", object{"note": "Name the price. " + hostile}, 200)
	day := s.clock.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2)
	for n := range 6 {
		id := s.own(t, a.factory, fmt.Sprint("Coffee of the day ", n, " ", hostile))
		s.must(t, "POST", "/v1/approvals/"+id+"/approve", nil, 200)
		s.must(t, "POST", "/v1/content-items/"+id+"/schedule", object{"social_account_ids": []string{account},
			"publish_at": day.Add(time.Duration(9+n) * time.Hour)}, 200)
	}
	s.must(t, "POST", "/v1/content-items/"+post+"/schedule", object{"social_account_ids": []string{account},
		"publish_at": day.Add(33 * time.Hour)}, 200)
	broken := &atomic.Bool{}
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() && strings.HasPrefix(r.URL.Path, "/broken") {
			http.Error(w, "", http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>News</title></channel></rss>`)
	}))
	t.Cleanup(feed.Close)
	seller := s.must(t, "POST", "/v1/factories", object{"type": "seller", "name": "Shop", "settings": object{
		"currency": "EUR"}}, 201)["id"].(string)
	automation := s.must(t, "POST", "/v1/automations", object{"factory_id": a.factory, "template": object{"kind": "post",
		"prompt": "News: {{title}}"}, "trigger": object{"kind": "feed", "url": feed.URL + "/broken.xml"}}, 201)["id"].(string)
	broken.Store(true)
	looks := 0
	poll.Until(t, "the automation has failed", func() bool {
		if looks++; looks%100 == 1 { // the feed is read every 15 minutes
			s.clock.advance(16 * time.Minute)
		}
		return s.must(t, "GET", "/v1/automations/"+automation, nil, 200)["failure"] != nil
	})
	s.must(t, "POST", "/v1/automations", object{"factory_id": seller, "template": object{"kind": "post",
		"prompt": "New: {{name}}"}, "trigger": object{"kind": "product"}}, 201)
	s.must(t, "POST", "/v1/review-links", object{"factory_id": a.factory, "name": "For the client " + hostile}, 201)
	key := s.must(t, "POST", "/v1/api-keys", object{"name": "Key of the client", "kind": "live",
		"scopes": []string{"content:read"}, "profile_ids": []string{a.profile}}, 201)["id"].(string)
	items := "/settings/content-items/"
	pages = []string{"/settings", "/settings/approvals", items + post, items + carousel, items + story, "/settings/review-links",
		"/settings/review-links/new", "/settings/calendar", "/settings/calendar?view=week&date=" + day.Format(time.DateOnly),
		"/settings/profiles", "/settings/profiles/new", "/settings/profiles/" + a.profile, "/settings/profiles/" + a.profile + "/connect-page",
		"/settings/exports", "/settings/automations",
		"/settings/automations/new", "/settings/automations/" + automation, "/settings/integrations",
		"/settings/social-accounts?profile_id=" + a.profile, "/settings/api-keys", "/settings/api-keys/" + key,
		"/settings/api-keys/new"}
	return pages, map[string]any{"post": post, "carousel": carousel, "story": story, "own": a.item, "feed": feed.URL +
		"/feed.xml", "day": day.Format(time.DateOnly), "profile": a.profile}
}

func TestPublishingInChromium(t *testing.T) {
	s := start(t)
	pages, given := s.published(t)
	if err := s.InviteUsers(t.Context(), tenant.Account(s.Account)); err != nil {
		t.Fatal(err)
	}
	later := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		days, _ := time.ParseDuration(r.FormValue("by"))
		s.clock.advance(days)
	}))
	defer later.Close()
	given["advance"] = later.URL
	one, err := url.Parse(s.must(t, "GET", "/v1/content-items/"+given["post"].(string), nil, 200)["media"].([]any)[0].(object)["url"].(string))
	if err != nil {
		t.Fatal(err)
	}
	given["media"] = one.Scheme + "://" + one.Host
	if strings.HasPrefix(given["media"].(string), s.BaseURL) {
		t.Log("media are on the host of the pages")
	}
	s.inChromium(t, "publishing.mjs", pages, given)
}
