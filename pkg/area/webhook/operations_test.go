package webhook_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

func TestTheSecretIsInTheAnswerOfCreateOnly(t *testing.T) {
	db, _, c := webhooktest.On(t)
	created := c.Call(http.MethodPost, "/v1/webhooks", map[string]any{
		"url": hookURL, "event_types": []string{"content.generated", "balance.*"}, "description": "CRM",
		"metadata": map[string]string{"team": "a"},
	})
	if created.Status != http.StatusCreated {
		t.Fatalf("answered %d %s", created.Status, created.Raw)
	}
	var w webhook.NewWebhook
	created.Into(t, http.StatusCreated, &w)
	key, found := strings.CutPrefix(w.Secret, "whsec_")
	if b, err := base64.StdEncoding.DecodeString(key); !found || err != nil || len(b) != 32 {
		t.Errorf("secret %q", w.Secret)
	}
	if w.State != "enabled" || w.Version != 1 || *w.URL != hookURL || w.Description != "CRM" ||
		w.Metadata["team"] != "a" ||
		!slices.Equal(w.EventTypes, []string{"content.generated", "balance.*"}) || !id.Valid(id.Webhook, w.ID) {
		t.Errorf("created %+v", w)
	}
	for _, row := range storetest.Rows(t, db) {
		for name, value := range row {
			if strings.Contains(value, key) {
				t.Errorf("the secret is stored in clear in %s of a %s", name, row["kind"])
			}
		}
	}
	for _, a := range []apitest.Answer{
		c.Call(http.MethodGet, "/v1/webhooks/"+w.ID, nil),
		c.Call(http.MethodGet, "/v1/webhooks", nil),
		c.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"description": "x"}),
		c.Call(http.MethodDelete, "/v1/webhooks/"+w.ID, nil),
	} {
		if a.Error != nil || !strings.Contains(a.Raw, w.ID) || strings.Contains(a.Raw, key) ||
			strings.Contains(a.Raw, "secret") {
			t.Errorf("answered %s", a.Raw)
		}
	}
	c.Call(http.MethodGet, "/v1/webhooks/"+w.ID, nil).Refused(t, 404, "not_found", "")
}

func TestARepeatedCreateAnswersTheSameSecret(t *testing.T) {
	_, _, c := webhooktest.On(t)
	body := map[string]any{"url": hookURL, "event_types": []string{"*"}}
	first := c.Call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k")
	again := c.Call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k")
	if first.Raw != again.Raw || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s\n%s", first.Raw, again.Raw)
	}
	var all []webhook.Webhook
	c.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 {
		t.Errorf("%d webhooks", len(all))
	}
}

// Another key with webhooks:manage makes a webhook of its own; it does not get the
// secret of the first one.
func TestARepeatIsOfItsCallerAlone(t *testing.T) {
	_, clock, c := webhooktest.On(t)
	body := map[string]any{"url": hookURL, "event_types": []string{"*"}}
	var mine, others, late webhook.NewWebhook
	c.Call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k").Into(t, http.StatusCreated, &mine)
	other := c.As(func(p *auth.Principal) { p.Actor = auth.Key("key_other") })
	other.Call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k").Into(t, http.StatusCreated, &others)
	if others.ID == mine.ID || others.Secret == mine.Secret {
		t.Errorf("the other caller got %+v", others)
	}
	var rotated webhook.NewWebhook
	rotate := "/v1/webhooks/" + mine.ID + "/rotate-secret"
	c.Call(http.MethodPost, rotate, nil, "Idempotency-Key", "r", "If-Match", `"1"`).Into(t, http.StatusOK, &rotated)
	if a := other.Call(http.MethodPost, rotate, nil, "Idempotency-Key", "r", "If-Match",
		`"1"`); a.Status != http.StatusPreconditionFailed {
		t.Errorf("the other caller repeats the rotation: %d %s", a.Status, a.Raw)
	}
	clock.Add(10 * time.Minute)
	late.Secret = "unset" // as null leaves it
	c.Call(http.MethodPost, "/v1/webhooks", body, "Idempotency-Key", "k").Into(t, http.StatusCreated, &late)
	if late.ID != mine.ID || late.Secret != "unset" || late.SecretShownAt == nil {
		t.Errorf("created, after ten minutes: %+v", late)
	}
	late = webhook.NewWebhook{Secret: "unset"}
	c.Call(http.MethodPost, rotate, nil, "Idempotency-Key", "r", "If-Match", `"1"`).Into(t, http.StatusOK, &late)
	if late.ID != mine.ID || late.Secret != "unset" || late.SecretShownAt == nil {
		t.Errorf("rotated, after ten minutes: %+v", late)
	}
}

func TestBadWebhooksAreRefused(t *testing.T) {
	c := apitest.NewClock()
	deployed := webhooktest.NewCaller(t, storetest.Open(t, c.Now), c, webhook.NewClient(false))
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
		{"control character", map[string]any{"url": good, "event_types": []string{"*"}, "description": "a\x00"},
			"/description"},
		{"metadata of numbers", map[string]any{"url": good, "event_types": []string{"*"},
			"metadata": map[string]any{"a": 1}}, "/metadata/a"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			deployed.Call(http.MethodPost, "/v1/webhooks", bad.body).Refused(t, 422, "validation_failed", bad.param)
		})
	}
	w := create(t, deployed, good, "*")
	deployed.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"url": "https://192.168.0.1/"}).Refused(t, 422,
		"validation_failed", "/url")
	deployed.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"state": "paused"}).Refused(t, 422,
		"validation_failed", "/state")
	deployed.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"secret": nil}).Refused(t, 422,
		"validation_failed", "/secret")
	var all []webhook.Webhook
	deployed.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || *all[0].URL != good || all[0].Version != 1 {
		t.Errorf("left over: %+v", all)
	}
}

func TestTwentyWebhooksAndNoMore(t *testing.T) {
	_, clock, c := webhooktest.On(t)
	var last webhook.NewWebhook
	for range webhook.MaxPerOwner {
		clock.Add(time.Millisecond)
		last = create(t, c, hookURL, "*")
	}
	body := map[string]any{"url": hookURL, "event_types": []string{"*"}}
	c.Call(http.MethodPost, "/v1/webhooks", body).Refused(t, 409, "invalid_state", "")
	// The other mode and other accounts have a count of their own.
	create(t, c.Live(), hookURL, "*")
	create(t, c.Stranger(), hookURL, "*")

	var page []webhook.Webhook
	first := c.Call(http.MethodGet, "/v1/webhooks?limit=15", nil)
	first.Into(t, http.StatusOK, &page)
	if len(page) != 15 || page[0].ID != last.ID || first.NextCursor == nil {
		t.Fatalf("first page: %d webhooks", len(page))
	}
	rest := c.Call(http.MethodGet, "/v1/webhooks?limit=15&cursor="+*first.NextCursor, nil)
	rest.Into(t, http.StatusOK, &page)
	if len(page) != 5 || rest.NextCursor != nil {
		t.Errorf("second page: %d webhooks", len(page))
	}

	if a := c.Call(http.MethodDelete, "/v1/webhooks/"+last.ID, nil); a.Status != http.StatusOK {
		t.Fatalf("delete: %s", a.Raw)
	}
	create(t, c, hookURL, "*")
	c.Call(http.MethodPost, "/v1/webhooks", body).Refused(t, 409, "invalid_state", "")
}

func TestWebhooksMadeAtTheSameTimeAreCountedToo(t *testing.T) {
	_, _, c := webhooktest.On(t)
	statuses := make([]int, webhook.MaxPerOwner+10)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			statuses[i] = c.Call(http.MethodPost, "/v1/webhooks",
				map[string]any{"url": hookURL, "event_types": []string{"*"}}).Status
		})
	}
	all.Wait()
	made := 0
	for _, s := range statuses {
		switch s {
		case http.StatusCreated:
			made++
		case http.StatusConflict:
		default:
			t.Errorf("answered %d", s)
		}
	}
	var there []webhook.Webhook
	c.Call(http.MethodGet, "/v1/webhooks?limit=100", nil).Into(t, http.StatusOK, &there)
	if made != webhook.MaxPerOwner || len(there) != webhook.MaxPerOwner {
		t.Errorf("%d webhooks were made, %d are there", made, len(there))
	}
}

func TestOthersWebhooksAreNotFound(t *testing.T) {
	_, clock, c := webhooktest.On(t)
	w := create(t, c, hookURL, "*")
	for name, other := range map[string]*apitest.Caller{
		"another account": c.Stranger(),
		"the other mode":  c.Live(),
	} {
		for method, body := range map[string]any{http.MethodGet: nil, http.MethodDelete: nil,
			http.MethodPatch: map[string]any{"description": "x"}} {
			t.Run(name+" "+method, func(t *testing.T) {
				other.Call(method, "/v1/webhooks/"+w.ID, body).Refused(t, 404, "not_found", "")
			})
		}
	}
	for _, bad := range []string{"x", id.New(id.Event, clock.Now()), id.New(id.Webhook, clock.Now())} {
		c.Call(http.MethodGet, "/v1/webhooks/"+bad, nil).Refused(t, 404, "not_found", "")
	}
}

func TestChangesHonourIfMatch(t *testing.T) {
	_, _, c := webhooktest.On(t)
	w := create(t, c, hookURL, "*")
	path := "/v1/webhooks/" + w.ID
	c.Call(http.MethodPatch, path, map[string]any{"description": "x"}, "If-Match", `"7"`).Refused(t, 412,
		"version_mismatch", "If-Match")
	a := c.Call(http.MethodPatch, path, map[string]any{"description": "x"}, "If-Match", `"1"`)
	if a.Status != 200 || a.Header.Get("ETag") != `"2"` {
		t.Fatalf("%d %s", a.Status, a.Raw)
	}
	c.Call(http.MethodDelete, path, nil, "If-Match", `"1"`).Refused(t, 412, "version_mismatch", "If-Match")
	if a := c.Call(http.MethodDelete, path, nil, "If-Match", `"2"`); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
}

func TestUpdateChangesWhatItNamesOnly(t *testing.T) {
	_, clock, c := webhooktest.On(t)
	w := create(t, c, hookURL, "content.generated")
	path := "/v1/webhooks/" + w.ID
	var got webhook.Webhook
	clock.Add(time.Minute)
	c.Call(http.MethodPatch, path, map[string]any{"event_types": []string{"content.*"},
		"metadata": map[string]any{"a": "b"}}).Into(t, http.StatusOK, &got)
	if *got.URL != hookURL || !slices.Equal(got.EventTypes, []string{"content.*"}) || got.Metadata["a"] != "b" ||
		got.Version != 2 || !got.UpdatedAt.Equal(clock.Now()) || !got.CreatedAt.Equal(w.CreatedAt.Time) {
		t.Errorf("%+v", got)
	}
	c.Call(http.MethodPatch, path, map[string]any{"state": "disabled"}).Into(t, http.StatusOK, &got)
	if got.State != "disabled" || got.DisabledReason == nil || *got.DisabledReason != "requested" {
		t.Errorf("%+v", got)
	}
	got = webhook.Webhook{}
	c.Call(http.MethodPatch, path, map[string]any{"state": "enabled", "metadata": map[string]any{"a": nil}}).Into(t,
		http.StatusOK, &got)
	if got.State != "enabled" || got.DisabledReason != nil || len(got.Metadata) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCallsMeetingOnTheSameWebhookBothHold(t *testing.T) {
	db, _, c := webhooktest.On(t)
	w := create(t, c, hookURL, "*")
	// The health that deliver notes changes the item, not the resource's version.
	it, err := db.Get(t.Context(), webhook.Ref{Owner: tenant.Of(c.Principal.Account, tenant.Test), ID: w.ID}.Key())
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if a := c.Call(http.MethodPatch, "/v1/webhooks/"+w.ID, map[string]any{"description": "x"}, "If-Match",
		`"1"`); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
}
