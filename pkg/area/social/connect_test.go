package social_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
	"github.com/content-automation/api/testdata/platforms/vk"
)

func TestAccountsAreConnectedByOAuth(t *testing.T) {
	for name, handle := range map[string]string{"instagram": "acme", "tiktok": "Acme", "youtube": "@acme",
		"vk": "@acme"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.connect(w.Caller, object{"platform": name, "return_url": back + "?tab=2",
				"metadata": object{"client": "7"}})
			if a.State != social.Pending || a.Handle != "" || a.Platform != name || len(a.FactoryIDs) != 0 ||
				len(w.events()) != 0 {
				t.Errorf("at first it is %+v", a)
			}
			to := continues(t, w.open(http.MethodGet, a).Body.String())
			if at, err := url.Parse(to); err != nil || !strings.HasPrefix(to, "http://platforms.test/"+name+"/") ||
				at.Query().Get("redirect_uri") != base+"/v1/social/callback" ||
				at.Query().Get("code_challenge_method") != "S256" {
				t.Errorf("the owner is sent to %s", to)
			}
			page := w.visit(w.allow(a))
			w.shows(page, http.StatusOK, "is connected", back+"?social_account_id="+a.ID+"&amp;tab=2")
			if got := page.Header().Get("Refresh"); got != "3; url="+back+"?social_account_id="+a.ID+"&tab=2" {
				t.Errorf("the browser goes on to %s", got)
			}
			got := w.get(a.ID)
			if got.State != social.Connected || strings.TrimPrefix(string(got.Handle), "@") != strings.TrimPrefix(handle,
				"@") || got.DisplayName == "" || got.TokenExpiresAt == nil || got.AuthorizationURL != nil ||
				got.Metadata["client"] != "7" {
				t.Errorf("it is %+v", got)
			}
			if got := w.events(); got["social_account.connected"] != 1 || len(got) != 1 {
				t.Errorf("the events are %v", got)
			}
			w.without("access-token-0", "refresh-token-0", "code-")
		})
	}
}

func TestAccountsAreConnectedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		body    object
		handle  string
		secrets []string
	}{
		"telegram": {telegramBody(), telegram.Channel, []string{telegram.Token, strings.Split(telegram.Token, ":")[1]}},
		"rutube": {object{"platform": "rutube", "username": rutube.Username, "password": rutube.Password}, "",
			[]string{rutube.Password}},
		"vk": {object{"platform": "vk", "community_token": vk.CommunityToken}, "@acme",
			[]string{vk.CommunityToken}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var a, again social.Account
			first := w.Call(http.MethodPost, "/v1/social/accounts", c.body, "Idempotency-Key", "one")
			first.Into(t, http.StatusCreated, &a)
			if a.State != social.Connected || c.handle != "" && string(a.Handle) != c.handle ||
				a.AuthorizationURL != nil ||
				a.TokenExpiresAt != nil {
				t.Errorf("it is %+v", a)
			}
			if repeat := w.Call(http.MethodPost, "/v1/social/accounts", c.body, "Idempotency-Key",
				"one"); repeat.Raw != first.Raw {
				t.Errorf("a repeat answers %s", repeat.Raw)
			}
			// Without the key it is the same account, too.
			if again = w.connect(w.Caller, c.body); again.ID != a.ID || again.Version != a.Version+1 {
				t.Errorf("again it is %+v", again)
			}
			if all := apitest.All[social.Account](w.Caller, "/v1/social/accounts", 10); len(all) != 1 {
				t.Errorf("there are %d accounts", len(all))
			}
			w.without(c.secrets...)
		})
	}
}

// The sandbox takes the same way, without a platform that asks.
func TestAccountsOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	w.apps = ""
	for name := range strings.FieldsSeq(oauthed) {
		a := w.connect(w.test, object{"platform": name})
		to, err := url.Parse(*a.AuthorizationURL)
		if err != nil || to.Host != "api.example.com" || to.Path != "/v1/social/callback" {
			t.Fatalf("%s: the owner is sent to %s", name, *a.AuthorizationURL)
		}
		w.shows(w.visit(to.Query()), http.StatusOK, "is connected", "You can close this window")
		var got social.Account
		w.test.Call(http.MethodGet, "/v1/social/accounts/"+a.ID, nil).Into(t, http.StatusOK, &got)
		if got.State != social.Connected || !strings.HasPrefix(string(got.Handle), "sandbox-"+name) {
			t.Errorf("%s: it is %+v", name, got)
		}
		again := w.connect(w.test, object{"social_account_id": a.ID})
		to, _ = url.Parse(*again.AuthorizationURL)
		w.shows(w.visit(to.Query()), http.StatusOK, "is connected")
	}
	if a := w.connect(w.test, object{"platform": "telegram", "bot_token": "1:any",
		"channel": "@acme"}); a.State != social.Connected || a.Handle != "acme" {
		t.Errorf("telegram: it is %+v", a)
	}
	if a := w.connect(w.test, object{"platform": "rutube", "username": "acme",
		"password": "x"}); a.State != social.Connected {
		t.Errorf("rutube: it is %+v", a)
	}
	if all := apitest.All[social.Account](w.Caller, "/v1/social/accounts", 10); len(all) != 0 {
		t.Errorf("a live key sees %+v", all)
	}
}

func TestBadRequestsToConnect(t *testing.T) {
	w := newWorld(t)
	with := func(body object, pairs ...string) object {
		for i := 0; i < len(pairs); i += 2 {
			body[pairs[i]] = pairs[i+1]
		}
		return body
	}
	other := w.connect(w.Stranger(), telegramBody())
	sandboxed := w.connect(w.test, object{"platform": "telegram", "bot_token": "1:any", "channel": "@acme"})
	own := w.connect(w.Caller, telegramBody())
	for name, c := range map[string]struct {
		body   object
		status int
		code   string
		param  string
	}{
		"an unknown platform": {object{"platform": "myspace"}, 422, "validation_failed", "/platform"},
		"no platform":         {object{}, 422, "validation_failed", "/platform"},
		"telegram without a token": {object{"platform": "telegram", "channel": "@acme"}, 422,
			"validation_failed", "/bot_token"},
		"telegram without a channel": {object{"platform": "telegram", "bot_token": telegram.Token}, 422,
			"validation_failed", "/channel"},
		"telegram with a password": {with(telegramBody(), "password", "x"), 422, "validation_failed",
			"/password"},
		"telegram with a return URL": {with(telegramBody(), "return_url", back), 422, "validation_failed",
			"/return_url"},
		"rutube without a password": {object{"platform": "rutube", "username": "acme"}, 422, "validation_failed",
			"/password"},
		"rutube with a channel": {object{"platform": "rutube", "username": "acme", "password": "x",
			"channel": "@acme"}, 422, "validation_failed", "/channel"},
		"OAuth with a token": {object{"platform": "tiktok", "bot_token": "1:x"}, 422, "validation_failed",
			"/bot_token"},
		"OAuth with a login": {object{"platform": "youtube", "username": "acme", "password": "x"}, 422,
			"validation_failed", "/username"},
		"a community token elsewhere": {object{"platform": "instagram", "community_token": "x"}, 422,
			"validation_failed", "/community_token"},
		"a page that is not allowed": {object{"platform": "tiktok", "return_url": "https://evil.example/social"},
			422, "validation_failed", "/return_url"},
		"a script for a page": {object{"platform": "tiktok", "return_url": "javascript:alert(1)"}, 422,
			"validation_failed", "/return_url"},
		"a token of no bot": {with(telegramBody(), "bot_token", "7000000002:AAF-another"), 422,
			"validation_failed", "/bot_token"},
		"a token that is none": {with(telegramBody(), "bot_token", "../getMe"), 422, "validation_failed",
			"/bot_token"},
		"a channel that is not the bot's": {with(telegramBody(), "channel", "@other"), 422,
			"validation_failed", "/channel"},
		"a wrong password": {object{"platform": "rutube", "username": rutube.Username,
			"password": "wrong"}, 422, "validation_failed", "/password"},
		"another customer's account": {with(telegramBody(), "social_account_id", other.ID), 404, "not_found", "/social_account_id"},
		"an account of the other mode": {with(telegramBody(), "social_account_id", sandboxed.ID), 404,
			"not_found", "/social_account_id"},
		"an account of another platform": {object{"platform": "vk", "social_account_id": own.ID}, 422,
			"validation_failed", "/platform"},
		"too late before it can be": {with(telegramBody(), "late_after_seconds", "soon"), 422, "validation_failed",
			"/late_after_seconds"},
		"a member that there is not": {with(telegramBody(), "token", "x"), 422, "validation_failed", "/token"},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.Call(http.MethodPost, "/v1/social/accounts", c.body)
			a.Refused(t, c.status, errs.Code(c.code), c.param)
			if name == "a wrong password" && !strings.Contains(a.Raw, "set one in the settings of Rutube first") {
				t.Errorf("the answer does not say who has no password: %s", a.Raw)
			}
			for _, secret := range []any{c.body["bot_token"], c.body["password"]} {
				if text, _ := secret.(string); len(text) > 4 && strings.Contains(a.Raw, text) {
					t.Errorf("the answer repeats a secret: %s", a.Raw)
				}
			}
		})
	}
	if all := apitest.All[social.Account](w.Caller, "/v1/social/accounts", 10); len(all) != 1 || all[0].Version != 1 {
		t.Errorf("left over: %+v", all)
	}
}

// Platforms show the bounds of texts and files.
func TestPlatformsShowTheirBounds(t *testing.T) {
	w := newWorld(t)
	shown := map[string]social.Accept{}
	for _, p := range apitest.All[social.Platform](w.Caller, "/v1/social/platforms", 4) {
		for _, a := range p.Accepts {
			shown[p.ID+" "+a.Kind] = a
		}
	}
	post, video := shown["tiktok post"].Image, shown["tiktok video"].Video
	if post == nil || post.MaxShort == nil || *post.MaxShort != 1080 || post.MaxLong == nil || *post.MaxLong != 1920 ||
		post.MinShort != nil || post.MaxPixels != nil {
		t.Errorf("photos of TikTok: %+v", post)
	}
	if video == nil || video.MinShort == nil || *video.MinShort != 360 || video.MaxWidth != nil {
		t.Errorf("videos of TikTok: %+v", video)
	}
	reel := shown["instagram video"]
	if m := reel.Caption.MaxMentions; m == nil || *m != 20 || reel.Caption.MaxLinks != nil ||
		reel.Video.MaxWidth == nil || *reel.Video.MaxWidth != 1920 {
		t.Errorf("Reels: %+v %+v", reel.Caption, reel.Video)
	}
	if !slices.Contains(shown["instagram story"].Without, "first_comment") {
		t.Errorf("stories have %v", shown["instagram story"].Without)
	}
	if m := shown["vk post"].Image.MaxSides; m == nil || *m != 14_000 {
		t.Errorf("photos of VK: %+v", shown["vk post"].Image)
	}
}

func TestAPlatformThatIsNotSetUp(t *testing.T) {
	w := newWorld(t)
	w.apps = "tiktok"
	shown := map[string]bool{}
	for _, p := range apitest.All[social.Platform](w.Caller, "/v1/social/platforms", 4) {
		shown[p.ID] = p.Configured
		if len(p.Accepts) == 0 || p.Name == "" || p.Connect == "" {
			t.Errorf("shown is %+v", p)
		}
	}
	want := map[string]bool{"instagram": false, "tiktok": true, "youtube": false, "telegram": true, "vk": false,
		"rutube": true}
	if !maps.Equal(shown, want) {
		t.Errorf("configured are %v", shown)
	}
	w.Call(http.MethodPost, "/v1/social/accounts", object{"platform": "instagram"}).Refused(t, 422,
		errs.ValidationFailed, "/platform")
	a := w.Call(http.MethodPost, "/v1/social/accounts", object{"platform": "bluesky", "username": "a", "password": "b"})
	a.Refused(t, 422, errs.ValidationFailed, "/platform")
	if !strings.Contains(a.Raw, "Send one of instagram, tiktok, youtube, telegram, vk, rutube") {
		t.Errorf("a platform that is not switched on: %s", a.Raw)
	}
	// VK takes the token of a community without an application.
	w.connect(w.Caller, object{"platform": "vk", "community_token": vk.CommunityToken})
	for _, p := range apitest.All[social.Platform](w.test, "/v1/social/platforms", 10) {
		if !p.Configured {
			t.Errorf("%s is not configured in the sandbox", p.ID)
		}
	}
	w.apps = "unreadable"
	w.Call(http.MethodGet, "/v1/social/platforms", nil).Refused(t, 503, errs.ProviderUnavailable, "")
	w.Call(http.MethodPost, "/v1/social/accounts", object{"platform": "tiktok"}).Refused(t, 503,
		errs.ProviderUnavailable, "")
}

func TestAPlatformThatIsDown(t *testing.T) {
	for _, f := range []platformtest.Fault{platformtest.ServerError, platformtest.RateLimited, platformtest.AnswerLost,
		platformtest.Garbage} {
		w := newWorld(t)
		w.telegram.Fail(1, f)
		a := w.Call(http.MethodPost, "/v1/social/accounts", telegramBody(), "Idempotency-Key", "one")
		a.Refused(t, 503, errs.ProviderUnavailable, "")
		if a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: it does not say when to try again", f)
		}
		var made social.Account
		w.Call(http.MethodPost, "/v1/social/accounts", telegramBody(), "Idempotency-Key", "one").Into(t,
			http.StatusCreated, &made)
	}
}
