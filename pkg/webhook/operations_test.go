package webhook

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

const hook = "http://127.0.0.1:9/hook"

func TestTheSecretIsInTheAnswerOfCreateOnly(t *testing.T) {
	_, _, c := on(t)
	created := c.call(http.MethodPost, "/v1/webhooks", map[string]any{
		"url": hook, "event_types": []string{"content.generated", "balance.*"}, "description": "CRM", "metadata": map[string]string{"team": "a"},
	})
	if created.status != http.StatusCreated {
		t.Fatalf("answered %d %s", created.status, created.body)
	}
	var w NewWebhook
	created.into(t, &w)
	key, found := strings.CutPrefix(w.Secret, "whsec_")
	if b, err := base64.StdEncoding.DecodeString(key); !found || err != nil || len(b) != 32 {
		t.Errorf("secret %q", w.Secret)
	}
	if w.State != "enabled" || w.Version != 1 || w.URL != hook || w.Description != "CRM" || w.Metadata["team"] != "a" ||
		!slices.Equal(w.EventTypes, []string{"content.generated", "balance.*"}) || !id.Valid(id.Webhook, w.ID) {
		t.Errorf("created %+v", w)
	}
	for _, a := range []answer{
		c.call(http.MethodGet, "/v1/webhooks/"+w.ID, nil),
		c.call(http.MethodGet, "/v1/webhooks", nil),
		c.call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"description": "x"}),
		c.call(http.MethodDelete, "/v1/webhooks/"+w.ID, nil),
	} {
		if a.Error != nil || !holds(a.body, w.ID) || holds(a.body, key) || holds(a.body, "secret") {
			t.Errorf("answered %s", a.body)
		}
	}
	c.call(http.MethodGet, "/v1/webhooks/"+w.ID, nil).refused(t, 404, "not_found", "")
}

func TestARepeatedCreateAnswersTheSameSecret(t *testing.T) {
	_, _, c := on(t)
	body := map[string]any{"url": hook, "event_types": []string{"*"}}
	first := c.call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k")
	again := c.call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k")
	if string(first.body) != string(again.body) || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s\n%s", first.body, again.body)
	}
	var all []Webhook
	c.call(http.MethodGet, "/v1/webhooks", nil).into(t, &all)
	if len(all) != 1 {
		t.Errorf("%d webhooks", len(all))
	}
}

func TestBadWebhooksAreRefused(t *testing.T) {
	c := newClock()
	deployed := newCaller(t, storetest.Open(t, c.now), c, NewClient(false))
	const good = "https://1.1.1.1/hook"
	for _, bad := range []struct {
		name  string
		body  map[string]any
		param string
	}{
		{"http", map[string]any{"url": "http://1.1.1.1/", "event_types": []string{"*"}}, "/url"},
		{"loopback", map[string]any{"url": "https://127.0.0.1/", "event_types": []string{"*"}}, "/url"},
		{"private", map[string]any{"url": "https://10.1.2.3/", "event_types": []string{"*"}}, "/url"},
		{"metadata", map[string]any{"url": "https://169.254.169.254/", "event_types": []string{"*"}}, "/url"},
		{"mapped", map[string]any{"url": "https://[::ffff:10.0.0.1]/", "event_types": []string{"*"}}, "/url"},
		{"password", map[string]any{"url": "https://a:b@1.1.1.1/", "event_types": []string{"*"}}, "/url"},
		{"no url", map[string]any{"url": "", "event_types": []string{"*"}}, "/url"},
		{"url left out", map[string]any{"event_types": []string{"*"}}, "/url"},
		{"types left out", map[string]any{"url": good}, "/event_types"},
		{"no types", map[string]any{"url": good, "event_types": []string{}}, "/event_types"},
		{"unknown type", map[string]any{"url": good, "event_types": []string{"*", "content.eaten"}}, "/event_types/1"},
		{"unknown area", map[string]any{"url": good, "event_types": []string{"weather.*"}}, "/event_types/0"},
		{"half an area", map[string]any{"url": good, "event_types": []string{"content"}}, "/event_types/0"},
		{"type twice", map[string]any{"url": good, "event_types": []string{"*", "*"}}, "/event_types"},
		{"unknown member", map[string]any{"url": good, "event_types": []string{"*"}, "secret": "whsec_x"}, "/secret"},
		{"control character", map[string]any{"url": good, "event_types": []string{"*"}, "description": "a\x00"}, "/description"},
		{"metadata of numbers", map[string]any{"url": good, "event_types": []string{"*"}, "metadata": map[string]any{"a": 1}}, "/metadata/a"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			deployed.call(http.MethodPost, "/v1/webhooks", bad.body).refused(t, 422, "validation_failed", bad.param)
		})
	}
	w := deployed.create(good, "*")
	deployed.call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"url": "https://192.168.0.1/"}).refused(t, 422, "validation_failed", "/url")
	deployed.call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"state": "paused"}).refused(t, 422, "validation_failed", "/state")
	deployed.call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"secret": nil}).refused(t, 422, "validation_failed", "/secret")
	var all []Webhook
	deployed.call(http.MethodGet, "/v1/webhooks", nil).into(t, &all)
	if len(all) != 1 || all[0].URL != good || all[0].Version != 1 {
		t.Errorf("left over: %+v", all)
	}
}

func TestTwentyWebhooksAndNoMore(t *testing.T) {
	_, clock, c := on(t)
	var last NewWebhook
	for range maxWebhooks {
		clock.add(time.Millisecond)
		last = c.create(hook, "*")
	}
	body := map[string]any{"url": hook, "event_types": []string{"*"}}
	c.call(http.MethodPost, "/v1/webhooks", body).refused(t, 409, "invalid_state", "")
	// The other mode and other accounts have a count of their own.
	c.as(c.principal.Account, auth.Live).create(hook, "*")
	c.as(id.New(id.Account, clock.now()), auth.Test).create(hook, "*")

	var page []Webhook
	first := c.call(http.MethodGet, "/v1/webhooks?limit=15", nil)
	first.into(t, &page)
	if len(page) != 15 || page[0].ID != last.ID || first.Next == nil {
		t.Fatalf("first page: %d webhooks", len(page))
	}
	rest := c.call(http.MethodGet, "/v1/webhooks?limit=15&cursor="+*first.Next, nil)
	rest.into(t, &page)
	if len(page) != 5 || rest.Next != nil {
		t.Errorf("second page: %d webhooks", len(page))
	}

	if a := c.call(http.MethodDelete, "/v1/webhooks/"+last.ID, nil); a.status != http.StatusOK {
		t.Fatalf("delete: %s", a.body)
	}
	c.create(hook, "*")
	c.call(http.MethodPost, "/v1/webhooks", body).refused(t, 409, "invalid_state", "")
}

func TestOthersWebhooksAreNotFound(t *testing.T) {
	_, clock, c := on(t)
	w := c.create(hook, "*")
	for name, other := range map[string]*caller{
		"another account": c.as(id.New(id.Account, clock.now()), auth.Test),
		"the other mode":  c.as(c.principal.Account, auth.Live),
	} {
		for method, body := range map[string]any{http.MethodGet: nil, http.MethodDelete: nil, http.MethodPatch: map[string]any{"description": "x"}} {
			t.Run(name+" "+method, func(t *testing.T) {
				other.call(method, "/v1/webhooks/"+w.ID, body).refused(t, 404, "not_found", "")
			})
		}
	}
	for _, bad := range []string{"x", id.New(id.Event, clock.now()), id.New(id.Webhook, clock.now())} {
		c.call(http.MethodGet, "/v1/webhooks/"+bad, nil).refused(t, 404, "not_found", "")
	}
}

func TestChangesHonourIfMatch(t *testing.T) {
	_, _, c := on(t)
	w := c.create(hook, "*")
	path := "/v1/webhooks/" + w.ID
	c.call(http.MethodPatch, path, map[string]any{"description": "x"}, "If-Match", `"7"`).refused(t, 412, "version_mismatch", "If-Match")
	a := c.call(http.MethodPatch, path, map[string]any{"description": "x"}, "If-Match", `"1"`)
	if a.status != 200 || a.header.Get("ETag") != `"2"` {
		t.Fatalf("%d %s", a.status, a.body)
	}
	c.call(http.MethodDelete, path, nil, "If-Match", `"1"`).refused(t, 412, "version_mismatch", "If-Match")
	if a := c.call(http.MethodDelete, path, nil, "If-Match", `"2"`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestUpdateChangesWhatItNamesOnly(t *testing.T) {
	_, clock, c := on(t)
	w := c.create(hook, "content.generated")
	path := "/v1/webhooks/" + w.ID
	var got Webhook
	clock.add(time.Minute)
	c.call(http.MethodPatch, path, map[string]any{"event_types": []string{"content.*"}, "metadata": map[string]any{"a": "b"}}).into(t, &got)
	if got.URL != hook || !slices.Equal(got.EventTypes, []string{"content.*"}) || got.Metadata["a"] != "b" || got.Version != 2 || !got.UpdatedAt.Equal(clock.now()) || !got.CreatedAt.Equal(w.CreatedAt) {
		t.Errorf("%+v", got)
	}
	c.call(http.MethodPatch, path, map[string]any{"state": "disabled"}).into(t, &got)
	if got.State != "disabled" || got.DisabledReason == nil || *got.DisabledReason != "requested" {
		t.Errorf("%+v", got)
	}
	got = Webhook{}
	c.call(http.MethodPatch, path, map[string]any{"state": "enabled", "metadata": map[string]any{"a": nil}}).into(t, &got)
	if got.State != "enabled" || got.DisabledReason != nil || len(got.Metadata) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestEnablingAWebhookForgetsItsFailures(t *testing.T) {
	now := newClock().now()
	gone := reasonGone
	r := record{Webhook: Webhook{URL: "a", State: stateDisabled, DisabledReason: &gone, FailingSince: &now}}
	set := r.settings()
	set.Description = "x"
	if r.apply(set); r.FailingSince == nil || r.DisabledReason != &gone {
		t.Errorf("a change of something else: %+v", r.Webhook)
	}
	set.State = stateEnabled
	if r.apply(set); r.FailingSince != nil || r.DisabledReason != nil {
		t.Errorf("enabled: %+v", r.Webhook)
	}
	r.FailingSince = &now
	set = r.settings()
	set.URL = "b"
	if r.apply(set); r.FailingSince != nil {
		t.Errorf("another address: %+v", r.Webhook)
	}
}

func TestCallsMeetingOnTheSameWebhookBothHold(t *testing.T) {
	db, _, c := on(t)
	w := c.create(hook, "*")
	// The health that deliver notes changes the item, not the resource's version.
	it, err := db.Get(t.Context(), webhookKey(c.principal.Account, "test", w.ID))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if a := c.call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"description": "x"}, "If-Match", `"1"`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestPatternsMatchTypesAreasAndEverything(t *testing.T) {
	for _, known := range event.Types {
		area, _, _ := strings.Cut(string(known.Type), ".")
		for _, other := range event.Types {
			w := Webhook{EventTypes: []string{string(known.Type)}}
			if got := w.wants(other.Type); got != (known.Type == other.Type) {
				t.Errorf("%s wants %s: %v", known.Type, other.Type, got)
			}
			w.EventTypes = []string{area + ".*"}
			if got := w.wants(other.Type); got != strings.HasPrefix(string(other.Type), area+".") {
				t.Errorf("%s.* wants %s: %v", area, other.Type, got)
			}
			w.EventTypes = []string{"webhook.disabled", "*"}
			if !w.wants(other.Type) {
				t.Errorf("* does not want %s", other.Type)
			}
		}
		// content.* is not content_plan.*.
		if !slices.Contains(patterns(), area+".*") || !slices.Contains(patterns(), string(known.Type)) {
			t.Errorf("%s is not among the patterns", known.Type)
		}
	}
	if got := len(patterns()); got != 1+10+len(event.Types) {
		t.Errorf("%d patterns: %v", got, patterns())
	}
}

func TestSecretsNeverShowInPrint(t *testing.T) {
	s, err := newSecret(strings.NewReader(strings.Repeat("k", secretBytes)))
	if err != nil {
		t.Fatal(err)
	}
	r := record{Secrets: secrets{s}}
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		out := fmt.Sprintf(f, r)
		if strings.Contains(out, "kkkk") || strings.Contains(out, "107") || strings.Contains(out, "0x6b") {
			t.Errorf("%s shows %s", f, out)
		}
	}
	if _, err := newSecret(strings.NewReader("short")); err == nil {
		t.Error("a secret was made of too little randomness")
	}
}
