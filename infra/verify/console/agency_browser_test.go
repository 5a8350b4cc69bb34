//go:build console

package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// An agency of eight clients clears 62 posts in ten clicks, by a mouse and by keys.
func TestAnAgencyInChromium(t *testing.T) {
	s := start(t)
	const posts = 62
	names := []string{"Harbour Coffee", "مطعم الياسمين", "Donaudampfschifffahrtsgesellschaftskapitänskajüte und Söhne",
		"Client 3", "Nordlicht Bäckerei", "Peak Cycles", "Tea House", "Clínica Sonrisa"}
	day := s.clock.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2).Add(9 * time.Hour)
	var factories, accounts []string
	for n, name := range names {
		profile := s.must(t, "POST", "/v1/profiles", object{"name": name, "spend_limit_credits": 5000 * (n + 1)},
			201)["id"].(string)
		accounts = append(accounts, s.must(t, "POST", "/v1/social/accounts", object{"platform": "telegram",
			"bot_token": telegram.Token, "channel": telegram.Channel, "profile_id": profile}, 201)["id"].(string))
		factories = append(factories, s.must(t, "POST", "/v1/factories", object{"type": "brand", "name": "Posts of " + name,
			"settings": object{"brand_name": "X"}, "profile_id": profile, "approval": "required"}, 201)["id"].(string))
	}
	picture := ""
	for n := range posts {
		if n < len(names) {
			id := s.generated(t, factories[n], []string{"post", "carousel"}[n%2], "Cold brew of "+names[n])
			media := s.must(t, "GET", "/v1/content-items/"+id, nil, 200)["media"].([]any)
			one, err := url.Parse(media[0].(object)["url"].(string))
			if err != nil {
				t.Fatal(err)
			}
			picture = one.Scheme + "://" + one.Host
			s.must(t, "POST", "/v1/content-items/"+id+"/schedule", object{"social_account_ids": []string{accounts[n]},
				"publish_at": day.AddDate(0, 0, n-1).Add(time.Duration(n) * time.Minute)}, 200)
			continue
		}
		s.own(t, factories[n%len(names)], fmt.Sprintf("Post %d. قهوتنا الجديدة", n))
	}
	planned := s.own(t, factories[0], "Beans from Huila")
	s.must(t, "POST", "/v1/approvals/"+planned+"/approve", nil, 200)
	s.must(t, "POST", "/v1/content-items/"+planned+"/schedule", object{"social_account_ids": []string{accounts[0]},
		"publish_at": day}, 200)
	if err := s.InviteUsers(t.Context(), tenant.Account(s.Account)); err != nil {
		t.Fatal(err)
	}
	later := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.clock.advance(time.Minute)
	}))
	defer later.Close()
	s.inChromium(t, "agency.mjs", []string{"/settings", "/settings/approvals", "/settings/content-items",
		"/settings/calendar", "/settings/search?q=coffee", "/settings/content-items/" + planned}, map[string]any{
		"scripts": "ar", "zone": "Europe/Berlin", "advance": later.URL, "media": picture, "posts": posts, "planned": planned, "day": day.Format(time.DateOnly),
		"next": day.AddDate(0, 0, 1).Format(time.DateOnly)})
}
