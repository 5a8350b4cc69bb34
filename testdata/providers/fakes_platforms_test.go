package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
	"github.com/content-automation/api/testdata/fakes"
	"github.com/content-automation/api/testdata/platforms/bluesky"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
	"github.com/content-automation/api/testdata/platforms/rutube"
	"github.com/content-automation/api/testdata/platforms/telegram"
	"github.com/content-automation/api/testdata/platforms/vk"
)

// All fakes work below their prefixes, from the connection to the post.
func TestConnectAndPublishOnEveryPlatform(t *testing.T) {
	clock := fixture.NewClock()
	server := httptest.NewServer(fakes.Platforms(clock.Now, time.Second))
	defer server.Close()
	for _, name := range registry.Names() {
		adapter, ok := registry.Live(name, wire.Config{BaseURL: server.URL + "/" + name, Now: clock.Now,
			App: func(context.Context) (platform.App, error) {
				return platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret}, nil
			}})
		if !ok {
			t.Fatal(name)
		}
		f := &platformtest.Fixture{Adapter: adapter, HTTP: noRedirect, Now: clock.Now, Advance: clock.Advance}
		grant := platform.Grant{Token: telegram.Token, Choice: telegram.Channel, Username: rutube.Username,
			Password: rutube.Password}
		if name == "bluesky" {
			grant = platform.Grant{Username: bluesky.Handle, Password: bluesky.Password}
		}
		if adapter.Capabilities().Connect == platform.ConnectOAuth {
			var err error
			if grant, err = fixture.OAuthGrant(f); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		accounts, err := adapter.Connect(t.Context(), grant)
		if err != nil || len(accounts) != 1 {
			t.Fatalf("%s: %+v, %v", name, accounts, err)
		}
		// Files of a local system are on loopback.
		video := fixture.Video("a", 9000)
		video.URL = "http://127.0.0.1:9000/a.mp4"
		done, err := platformtest.Publish(t.Context(), &platformtest.Fixture{Adapter: adapter, Fake: quiet{},
			Now: clock.Now, Advance: clock.Advance}, accounts[0],
			platform.Post{Key: "pub_1", Kind: platform.KindVideo, Title: "A shoe", Caption: "It runs",
				Media: []platform.Media{video}})
		if err != nil || !done.Done() || done.Post.URL == "" {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	answer, err := http.Get(server.URL + "/_posts")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var posts map[string][]control.Post
	if err := json.NewDecoder(answer.Body).Decode(&posts); err != nil {
		t.Fatal(err)
	}
	for _, name := range registry.Names() {
		if len(posts[name]) != 1 {
			t.Errorf("%s has the posts %+v, want one", name, posts[name])
		}
	}
}

var noRedirect = &http.Client{CheckRedirect: func(*http.Request,
	[]*http.Request) error {
	return http.ErrUseLastResponse
}}

// quiet stands for a fake that gets no calls.
type quiet struct{ platformtest.Fake }

func TestFaultsOverHTTP(t *testing.T) {
	server := httptest.NewServer(fakes.Platforms(time.Now, time.Second))
	defer server.Close()
	for form, want := range map[string]int{
		"platform=vk&fault=rate+limited": 204, "platform=vk&fault=rate+limited&call=2": 204,
		"platform=myspace&fault=garbage": 400,
		"platform=vk&fault=flood":        400, "platform=vk&fault=garbage&call=0": 400,
		"platform=vk&fault=garbage&call=x": 400,
	} {
		answer, err := http.Post(server.URL+"/_fail?"+form, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", form, answer.StatusCode, want)
		}
	}
	answer, err := http.Post(server.URL+"/vk/method/wall.get", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), `"error_code":6`) {
		t.Errorf("the next call: %s, %v", body, err)
	}
}

// A double gives a call the answer that it is told to, and answers itself again after that.
func TestAnswersOverHTTP(t *testing.T) {
	server := httptest.NewServer(fakes.Platforms(time.Now, time.Second))
	defer server.Close()
	const said = `{"error":{"error_code":214,"error_msg":"Access to adding post denied"}}`
	for query, want := range map[string]int{
		"platform=vk&call=wall.get$&status=200&times=2&header=Retry-After:+60": 204,
		"platform=myspace&call=wall.get&status=200":                            400, "platform=vk&status=200": 400,
		"platform=vk&call=wall.get&status=99": 400, "platform=vk&call=(&status=200": 400,
		"platform=vk&call=wall.get&status=200&times=x": 400,
	} {
		answer, err := http.Post(server.URL+"/_answer?"+query, "application/json", strings.NewReader(said))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", query, answer.StatusCode, want)
		}
	}
	for n, want := range []string{said, said, `"error_code":3`} {
		answer, err := http.Post(server.URL+"/vk/method/wall.get", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), want) ||
			n < 2 && answer.Header.Get("Retry-After") != "60" {
			t.Errorf("call %d: %s with %v, %v", n+1, body, answer.Header, err)
		}
	}
}

// The fakes refuse the same calls as the platforms. Each first refuses a call without a valid
// token.
func TestFakesAreStrict(t *testing.T) {
	server := httptest.NewServer(fakes.Platforms(time.Now, time.Second))
	defer server.Close()
	form := "application/x-www-form-urlencoded"
	bot := "/telegram/bot" + telegram.Token
	community := "Bearer " + vk.CommunityToken
	params := func(q url.Values) string {
		q.Set("v", "5.199")
		return q.Encode()
	}
	owner := strconv.Itoa(-vk.Group)
	for name, c := range map[string]struct {
		path, kind, body, authorization string
		want                            string
	}{
		"instagram without a token": {"/instagram/v26.0/17841400000000001/media", form,
			"image_url=https://a.test/a.jpg", "", `"code":190`},
		"tiktok without a token": {"/tiktok/v2/post/publish/video/init/", "application/json", "{}", "",
			"access_token_invalid"},
		"youtube without a token": {"/youtube/upload/youtube/v3/videos", "application/json", "{}", "",
			"authError"},
		"vk without a token":     {"/vk/method/wall.post", form, params(url.Values{}), "", `"error_code":5`},
		"rutube without a token": {"/rutube/api/video/", "application/json", "{}", "", "invalid token"},
		"telegram with another token": {"/telegram/bot1:a/sendMessage", "application/json",
			`{"chat_id":"@acme_news","text":"a"}`, "", "Unauthorized"},
		"telegram, an empty text": {bot + "/sendMessage", "application/json",
			`{"chat_id":"@acme_news","text":" "}`, "", "message text is empty"},
		"telegram, a long text": {bot + "/sendMessage", "application/json",
			`{"chat_id":"@acme_news","text":"` + strings.Repeat("a", 4097) + `"}`, "", "too long"},
		"telegram, another chat": {bot + "/sendMessage", "application/json", `{"chat_id":"@others","text":"a"}`,
			"", "chat not found"},
		"telegram, another parameter": {bot + "/sendMessage", "application/json",
			`{"chat_id":"@acme_news","text":"a","silent":true}`, "", "not known"},
		"telegram, no such method": {bot + "/postMessage", "application/json", `{}`, "", "Not Found"},
		"vk, without a version":    {"/vk/method/wall.post", form, "message=a", community, `"error_code":3`},
		"vk, another parameter": {"/vk/method/wall.post", form, params(url.Values{"text": {"a"}}), community,
			`"error_code":100`},
		"vk, another wall": {"/vk/method/wall.post", form,
			params(url.Values{"owner_id": {"-1"}, "message": {"a"}}), community, `"error_code":15`},
		"vk, nothing to post": {"/vk/method/wall.post", form,
			params(url.Values{"owner_id": {owner}, "from_group": {"1"}, "guid": {"1"}}), community, `"error_code":100`},
		"vk, media of a community": {"/vk/method/wall.post", form,
			params(url.Values{"owner_id": {owner}, "from_group": {"1"}, "guid": {"1"}, "attachments": {"photo-1_1"}}),
			community, `"error_code":27`},
		"rutube with another password": {"/rutube/api/accounts/token_auth/", form, "username=acme&password=none", "",
			"wrong name or password"},
		"tiktok, no such grant":  {"/tiktok/v2/oauth/token/", form, "grant_type=password", "", "invalid_grant"},
		"youtube, no such grant": {"/youtube/token", form, "grant_type=password", "", "invalid_grant"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", c.kind)
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: %d %s, %v; want %s", name, answer.StatusCode, body, err, c.want)
		}
	}
}
