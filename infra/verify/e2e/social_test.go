package e2e

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
)

// socialAccount is a social account as callers see it.
type socialAccount struct {
	ID, State, Handle, Platform string
	FactoryIDs                  []string `json:"factory_ids"`
	AuthorizationURL            string   `json:"authorization_url"`
	TokenExpiresAt              string   `json:"token_expires_at"`
}

// returnPage is the page to which the customers of these tests return.
const returnPage = "https://app.example.com/social"

func returning(s *account.Settings) { s.ReturnURLs = &[]string{returnPage} }

// connect connects a social account.
func (c *customer) connect(secret string, body object) socialAccount {
	c.t.Helper()
	return into[socialAccount](call(c.t, secret, http.MethodPost, "/v1/social/accounts", body), http.StatusCreated)
}

func (c *customer) social(secret, id string) socialAccount {
	c.t.Helper()
	return into[socialAccount](call(c.t, secret, http.MethodGet, "/v1/social/accounts/"+id, nil), http.StatusOK)
}

// browse makes a request with the cookies like a browser, but follows no redirect.
func browse(t *testing.T, method, address string, cookies ...*http.Cookie) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// allow opens the link, which names the customer, continues to the platform, and allows the
// connection there. It returns the address of the callback, and the cookies of the browser.
func allow(t *testing.T, link, customer string) (string, []*http.Cookie) {
	t.Helper()
	shown, text := browse(t, http.MethodGet, link)
	_, rest, _ := strings.Cut(text, `<a class="go" href="`)
	page, _, _ := strings.Cut(rest, `"`)
	page = html.UnescapeString(page)
	if shown.StatusCode != http.StatusOK || !strings.Contains(text, customer) ||
		!strings.HasPrefix(page, running.Platforms) ||
		shown.Header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(shown.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("the link answers %s %v %s", shown.Status, shown.Header, text)
	}
	if resp, body := browse(t, http.MethodGet, page); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, "Allow") {
		t.Fatalf("the platform's page: %s %s", resp.Status, body)
	}
	resp, body := browse(t, http.MethodPost, page)
	back := resp.Header.Get("Location")
	at, err := url.Parse(back)
	if err != nil || resp.StatusCode != http.StatusFound ||
		!strings.HasPrefix(back, running.BaseURL+"/v1/social/callback?") {
		t.Fatalf("the platform answers %s to %s: %s", resp.Status, back, body)
	}
	noteSecret(at.Query().Get("code"))
	return back, shown.Cookies()
}

func TestSocialAccountsAreConnectedAtThePlatforms(t *testing.T) {
	t.Parallel()
	noteSecret(telegram.Token, rutube.Password, bluesky.Password, "access-token-0", "refresh-token-0")
	c := newCustomer(t, returning)
	secret := c.live.Secret
	for _, p := range into[[]struct {
		ID         string
		Configured bool
	}](call(t, secret, http.MethodGet, "/v1/social/platforms", nil), http.StatusOK) {
		if !p.Configured {
			t.Errorf("%s is not configured", p.ID)
		}
	}
	factory := c.factory(secret)
	connected := map[string]string{}
	for _, platform := range []string{"instagram", "tiktok", "youtube", "vk", "facebook", "linkedin", "threads",
		"pinterest", "x"} {
		a := c.connect(secret, object{"platform": platform, "return_url": returnPage})
		if a.State != "pending" || !strings.HasPrefix(a.AuthorizationURL, running.BaseURL+"/v1/social/callback?link=") {
			t.Fatalf("%s: %+v", platform, a)
		}
		callback, cookies := allow(t, a.AuthorizationURL, c.id)
		if resp, body := browse(t, http.MethodGet, callback); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(body, "See first who asks") {
			t.Errorf("%s: in another browser the callback answers %s %s", platform, resp.Status, body)
		}
		resp, body := browse(t, http.MethodGet, callback, cookies...)
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, "is connected") ||
			resp.Header.Get("Refresh") != "3; url="+returnPage+"?social_account_id="+a.ID ||
			resp.Header.Get("Cache-Control") != "no-store" ||
			!strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: the callback answers %s %v %s", platform, resp.Status, resp.Header, body)
		}
		if resp, _ := browse(t, http.MethodGet, callback, cookies...); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: the second time the callback answers %s", platform, resp.Status)
		}
		// A member of LinkedIn has no handle, and the token of a page of Facebook does not end.
		if a = c.social(secret, a.ID); a.State != "connected" || a.Handle == "" && platform != "linkedin" ||
			a.TokenExpiresAt == "" && platform != "facebook" {
			t.Errorf("%s: %+v", platform, a)
		}
		connected[platform] = a.ID
	}
	for _, body := range []object{
		{"platform": "telegram", "bot_token": telegram.Token, "channel": telegram.Channel},
		{"platform": "rutube", "username": rutube.Username, "password": rutube.Password},
		{"platform": "bluesky", "username": bluesky.Handle, "password": bluesky.Password},
	} {
		a := c.connect(secret, body)
		if a.State != "connected" {
			t.Errorf("%+v", a)
		}
		connected[a.Platform] = a.ID
	}
	var want []string
	for _, id := range connected {
		want = append(want, id)
		into[socialAccount](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+id, nil),
			http.StatusOK)
	}
	if listed := into[[]socialAccount](call(t, secret, http.MethodGet, "/v1/social/accounts?state=connected", nil),
		http.StatusOK); len(listed) != len(connected) {
		t.Errorf("the list has %+v", listed)
	}
	f := into[struct {
		Accounts []string `json:"social_account_ids"`
	}](call(t, secret, http.MethodGet, "/v1/factories/"+factory, nil), http.StatusOK)
	if !slices.Equal(f.Accounts, want) {
		t.Errorf("the factory has %v, not %v", f.Accounts, want)
	}

	t.Run("a video is published on each", func(t *testing.T) { c.publishEverywhere(t, factory, len(connected)) })
	t.Run("a token is refreshed", func(t *testing.T) { c.refresh(t, connected["tiktok"]) })

	t.Run("disconnected", func(t *testing.T) {
		id := connected["youtube"]
		if a := into[socialAccount](call(t, secret, http.MethodDelete, "/v1/social/accounts/"+id, nil),
			http.StatusOK); a.State != "disconnected" || len(a.FactoryIDs) != 0 {
			t.Errorf("%+v", a)
		}
		db := store.Open(running.AWS(), running.Table)
		poll.Until(t, "the token is revoked", func() bool {
			it, err := db.Get(t.Context(), store.IDKey("task#social.disconnect#"+id+"#1"))
			if err != nil {
				t.Fatal(err)
			}
			return it.Filters["state"] == "ended"
		})
	})
	t.Run("the factory is deleted", func(t *testing.T) {
		call(t, secret, http.MethodDelete, "/v1/factories/"+factory, nil)
		poll.Until(t, "its accounts are detached",
			func() bool { return len(c.social(secret, connected["telegram"]).FactoryIDs) == 0 })
	})
	if n := len(into[[]webhookEvent](call(t, secret, http.MethodGet, "/v1/events?type=social_account.connected", nil),
		http.StatusOK)); n != 12 {
		t.Errorf("there are %d events", n)
	}
}

// publishEverywhere publishes a video on all accounts of a factory, and reads the metrics
// of a post.
func (c *customer) publishEverywhere(t *testing.T, factory string, accounts int) {
	c.topUp(1000)
	secret, caption := c.live.Secret, "Everywhere, by "+strings.TrimPrefix(c.id, "acc_")
	made := into[contentItem](call(t, secret, http.MethodPost, contentPath, object{
		"factory_id": factory, "kind": "video", "visuals": "stills", "duration_seconds": 10,
		"prompt": "A shoe made of recycled nets", "caption": caption,
	}), http.StatusAccepted)
	if got := ended(t, secret, made.ID); got.State != "generated" {
		t.Fatalf("%+v", got)
	}
	before := into[published](call(t, secret, http.MethodPost, contentPath+"/"+made.ID+"/publish", object{
		"options": object{"tiktok": object{"privacy": "public", "comments": true, "duet": false, "stitch": false,
			"disclosure": "none", "consent": true}}}), http.StatusAccepted)
	if len(before.Publications) != accounts {
		t.Fatalf("%+v", before)
	}
	got := until(t, secret, made.ID, "published")
	for _, p := range got.Publications {
		if p.State != "published" || p.URL == nil {
			t.Errorf("%s: %+v", p.Platform, p.Failure)
		}
		if p.Platform == "youtube" {
			c.wake(tenant.Live, publication.Read, made.ID, p.ID)
		}
	}
	if n := posts(t, caption); n != accounts {
		t.Errorf("there are %d posts on %d accounts", n, accounts)
	}
	poll.Until(t, "the metrics of "+made.ID, func() bool {
		return slices.ContainsFunc(until(t, secret, made.ID, "published").Publications,
			func(p publicationView) bool { return p.Metrics != nil && p.Metrics.Views != nil })
	})
}

// refresh makes the service refresh the token of an account, as if a platform had reported its
// end.
func (c *customer) refresh(t *testing.T, id string) {
	db := store.Open(running.AWS(), running.Table)
	read := func() (store.Item, social.Record) {
		it, err := db.Get(t.Context(), store.IDKey(id))
		if err != nil {
			t.Fatal(err)
		}
		r, err := social.Decode(&it)
		if err != nil {
			t.Fatal(err)
		}
		return it, r
	}
	it, r := read()
	tx := &store.Tx{}
	if err := social.Expired(tx, time.Now(), it, r.Tokens, platform.TokenExpired()); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "the token is refreshed", func() bool {
		_, r := read()
		return r.Tokens == 2 &&
			r.State == social.Connected
	})
}

func TestSocialAccountsOfTheSandbox(t *testing.T) {
	c := newCustomer(t)
	secret := c.test.Secret
	a := c.connect(secret, object{"platform": "instagram"})
	if !strings.HasPrefix(a.AuthorizationURL, running.BaseURL+"/v1/social/callback?") {
		t.Fatalf("the sandbox asks at %s", a.AuthorizationURL)
	}
	if resp, body := browse(t, http.MethodGet, a.AuthorizationURL); resp.StatusCode != http.StatusOK ||
		!strings.Contains(body, "is connected") {
		t.Fatalf("the callback answers %s %s", resp.Status, body)
	}
	if got := c.social(secret, a.ID); got.State != "connected" {
		t.Errorf("%+v", got)
	}
	if err := call(t, c.live.Secret, http.MethodGet, "/v1/social/accounts/"+a.ID, nil).refused(http.StatusNotFound,
		"not_found"); err != nil {
		t.Error(err)
	}
	poll.Until(t, "the event", func() bool {
		return len(into[[]webhookEvent](call(t, secret, http.MethodGet, "/v1/events?object_id="+a.ID, nil),
			http.StatusOK)) == 1
	})
	if err := call(t, secret, http.MethodPost, "/v1/social/accounts",
		object{"platform": "tiktok", "return_url": returnPage}).refused(http.StatusUnprocessableEntity,
		"validation_failed"); err != nil {
		t.Error(err)
	}
	for _, address := range []string{"/v1/social/callback", "/v1/social/callback?state=x&code=y"} {
		if resp, body := browse(t, http.MethodGet, running.BaseURL+address); resp.StatusCode != http.StatusBadRequest ||
			!strings.Contains(body, "not valid") {
			t.Errorf("%s answers %s %s", address, resp.Status, body)
		}
	}
}

// telegram connects a channel of Telegram to a factory.
func (c *customer) telegram(secret, factory, channel string) string {
	c.t.Helper()
	connected := into[struct{ ID string }](call(c.t, secret, "POST", "/v1/social/accounts",
		object{"platform": "telegram", "bot_token": "123456:abcdefghijklmnopqrstuvwxyz012345678", "channel": channel}),
		http.StatusCreated)
	path := "/v1/factories/" + factory + "/social-accounts/" + connected.ID
	into[object](call(c.t, secret, "PUT", path, nil), http.StatusOK)
	return connected.ID
}
