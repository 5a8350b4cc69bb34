package area_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/infra/verify/harness/platformtest/fixture"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

// hookToken is the operator's secret for webhooks.
const hookToken = "hook-token-0001"

// hintWorld is the service with a clock.
type hintWorld struct {
	T       *testing.T
	DB      *store.DB
	Clock   *fixture.Clock
	handler http.Handler
	// app is what the operator has stored for each platform, and broken the error of reading it.
	app    platform.App
	broken error
}

func hintNewWorld(t *testing.T) *hintWorld {
	w := &hintWorld{T: t, Clock: fixture.NewClock(), app: platform.App{ID: oauth.ClientID, Secret: oauth.ClientSecret,
		HookToken: hookToken, Confirmations: "77=c0ffee"}}
	w.DB = storetest.Open(t, w.Clock.Now)
	platforms := social.NewPlatforms(social.PlatformsConfig{Now: w.Clock.Now, Only: registry.With(nil),
		Apps: func(context.Context, string) (platform.App, error) { return w.app, w.broken }})
	w.handler = engagement.NewHints(w.DB, platforms, w.Clock.Now).With(http.NotFoundHandler())
	return w
}

// posted keeps an account of a customer with a published post, and returns the account's id.
func (w *hintWorld) posted(customer, name, remote, post string, state social.State) string {
	w.T.Helper()
	o, now := tenant.Of(tenant.Account(customer), tenant.Live), w.Clock.Now()
	r := social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
		State: state, FactoryIDs: []string{}}, PlatformID: remote}
	it, err := r.Item(o)
	if err != nil {
		w.T.Fatal(err)
	}
	entry, err := item.PostDocument{Item: "cnt_" + post, Publication: "pub_" + post, Account: r.ID}.Entry(now, o,
		item.PostKey(name, remote, post))
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	tx.Create(entry, nil)
	if err := w.DB.Commit(context.Background(), tx); err != nil {
		w.T.Fatal(err)
	}
	return r.ID
}

// send sends a webhook, and returns the answer.
func (w *hintWorld) send(method, query, body, signature string) (int, string) {
	w.T.Helper()
	req := httptest.NewRequest(method, social.CallbackPath+"?"+query, strings.NewReader(body))
	if signature != "" {
		req.Header.Set("X-Hub-Signature-256", signature)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, req)
	return rec.Code, rec.Body.String()
}

// woken returns how often the comments on each publication were to be read.
func (w *hintWorld) woken() string {
	w.T.Helper()
	n := map[string]int{}
	for _, row := range storetest.Rows(w.T, w.DB) {
		for _, post := range []string{"pub_178", "pub_179"} {
			if strings.Contains(row["pk"], "wake#") && strings.Contains(row["pk"], post) {
				n[post]++
			}
		}
	}
	return fmt.Sprint(n)
}

func signed(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

const announced = `{"object": "instagram", "entry": [{"id": "17841", "time": 1, "changes": [` +
	`{"field": "comments", "value": {"id": "9", "text": "Hi", "media": {"id": "178"}}}]}]}`

// Two customers have one page. A verified webhook about the post of one has its comments read, once.
func TestAWebhookHasCommentsRead(t *testing.T) {
	w := hintNewWorld(t)
	w.posted("acc_1", "instagram", "17841", "178", social.Connected)
	w.posted("acc_2", "instagram", "17841", "179", social.Connected)
	for _, c := range []struct {
		name, body, signature string
		status                int
	}{
		{"no signature", announced, "", http.StatusForbidden},
		{"another secret", announced, signed(announced, "guess"), http.StatusForbidden},
		{"another body", announced + " ", signed(announced, oauth.ClientSecret), http.StatusForbidden},
		{"no hex", announced, "sha256=zz", http.StatusForbidden},
		{"too large", strings.Repeat(" ", 256<<10) + announced, "", http.StatusRequestEntityTooLarge},
	} {
		if status, answer := w.send(http.MethodPost, "hook=instagram", c.body, c.signature); status != c.status ||
			answer != "" || w.woken() != "map[]" {
			t.Errorf("%s: %d %q, %s", c.name, status, answer, w.woken())
		}
	}
	for range 2 {
		if status, _ := w.send(http.MethodPost, "hook=instagram", announced, signed(announced,
			oauth.ClientSecret)); status != http.StatusOK || w.woken() != "map[pub_178:1]" {
			t.Errorf("%d, %s", status, w.woken())
		}
	}
	next := strings.Replace(announced, `"time": 1`, `"time": 2`, 1)
	w.send(http.MethodPost, "hook=instagram", next, signed(next, oauth.ClientSecret))
	if w.woken() != "map[pub_178:2]" {
		t.Error(w.woken())
	}
}

// Webhooks that name nothing of a connected account have no effect, and are taken.
func TestAWebhookWithoutEffect(t *testing.T) {
	for name, c := range map[string]struct {
		state social.State
		body  string
	}{
		"disconnected":    {social.Disconnected, announced},
		"needs reconnect": {social.NeedsReconnect, announced},
		"another post":    {social.Connected, strings.Replace(announced, "178\"}", "177\"}", 1)},
		"another page":    {social.Connected, strings.Replace(announced, "17841", "17842", 1)},
		"another field":   {social.Connected, strings.Replace(announced, "comments", "mentions", 1)},
		"another object":  {social.Connected, strings.Replace(announced, "instagram", "page", 1)},
		"no JSON":         {social.Connected, "{"},
	} {
		w := hintNewWorld(t)
		w.posted("acc_1", "instagram", "17841", "178", c.state)
		if status, _ := w.send(http.MethodPost, "hook=instagram", c.body, signed(c.body,
			oauth.ClientSecret)); status != http.StatusOK || w.woken() != "map[]" {
			t.Errorf("%s: %d, %s", name, status, w.woken())
		}
	}
}

func TestTheAddressOfWebhooksIsVerified(t *testing.T) {
	w := hintNewWorld(t)
	check := func(token, challenge string) string {
		return url.Values{"hook": {"instagram"}, "hub.mode": {"subscribe"}, "hub.verify_token": {token},
			"hub.challenge": {challenge}}.Encode()
	}
	for _, c := range []struct {
		method, query, body string
		status              int
		answer              string
	}{
		{http.MethodGet, check(hookToken, "1158201444"), "", http.StatusOK, "1158201444"},
		{http.MethodGet, check("guess", "1158201444"), "", http.StatusForbidden, ""},
		{http.MethodGet, check("", "1158201444"), "", http.StatusForbidden, ""},
		{http.MethodGet, check(hookToken, strings.Repeat("1", 101)), "", http.StatusForbidden, ""},
		{http.MethodGet, "hook=instagram", "", http.StatusForbidden, ""},
		{http.MethodPut, "hook=instagram", "", http.StatusMethodNotAllowed, ""},
		{http.MethodPost, "hook=tiktok", "{}", http.StatusNotFound, ""},
		{http.MethodPost, "hook=myspace", "{}", http.StatusNotFound, ""},
		{http.MethodPost, "hook=vk", `{"type": "confirmation", "group_id": 77, "secret": "` + hookToken + `"}`,
			http.StatusOK, "c0ffee"},
		{http.MethodPost, "hook=vk", `{"type": "confirmation", "group_id": 78, "secret": "` + hookToken + `"}`,
			http.StatusForbidden, ""},
		{http.MethodPost, "hook=vk", `{"type": "confirmation", "group_id": 77}`, http.StatusForbidden, ""},
	} {
		if status, answer := w.send(c.method, c.query, c.body, ""); status != c.status || answer != c.answer {
			t.Errorf("%s %s %s: %d %q", c.method, c.query, c.body, status, answer)
		}
	}
	w.app = platform.App{}
	if status, _ := w.send(http.MethodGet, check(hookToken, "1"), "", ""); status != http.StatusNotFound {
		t.Errorf("without an application: %d", status)
	}
	w.broken = errors.New("no route to host")
	if status, _ := w.send(http.MethodGet, check(hookToken, "1"), "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("with an unreadable application: %d", status)
	}
}

func TestAWebhookOfVK(t *testing.T) {
	w := hintNewWorld(t)
	w.posted("acc_1", "vk", "-77", "178", social.Connected)
	body := `{"type": "wall_reply_new", "group_id": 77, "event_id": "e1", "secret": "` + hookToken +
		`", "object": {"id": 5, "text": "Hi", "post_id": 178}}`
	forged := strings.Replace(body, hookToken, "guess", 1)
	if status, _ := w.send(http.MethodPost, "hook=vk", forged, ""); status != http.StatusForbidden ||
		w.woken() != "map[]" {
		t.Errorf("forged: %d, %s", status, w.woken())
	}
	for range 2 {
		if status, answer := w.send(http.MethodPost, "hook=vk", body, ""); status != http.StatusOK || answer != "ok" ||
			w.woken() != "map[pub_178:1]" {
			t.Errorf("%d %q, %s", status, answer, w.woken())
		}
	}
}

// A webhook has few values, whatever its size.
func TestWorstCaseHints(t *testing.T) {
	w := hintNewWorld(t)
	for kind, body := range map[string]string{"objects": "[" + strings.Repeat("{},", 87_000) + "{}]",
		"depth": strings.Repeat(`{"a":`, 50_000), "values": `{"entry":[` + strings.Repeat("0,", 130_000) + "0]}"} {
		cost.AtMost(t, kind, func() {
			if status, _ := w.send(http.MethodPost, "hook=instagram", body,
				signed(body, oauth.ClientSecret)); status != http.StatusRequestEntityTooLarge {
				t.Errorf("%s: %d", kind, status)
			}
		})
	}
}
