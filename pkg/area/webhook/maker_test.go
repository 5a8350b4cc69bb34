package webhook_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
)

func TestAWebhookGetsWhatItsMakerMayRead(t *testing.T) {
	w := newWorld(t)
	narrow := w.Key(auth.WebhooksManage, auth.AccountRead)
	r := w.ReceiveFor(narrow, nil, "*", "content.*")
	if r.Hook.CreatedBy != narrow.Principal.Actor.ID || w.Webhook(r.Hook.ID).CreatedBy != r.Hook.CreatedBy {
		t.Errorf("created_by is %q", r.Hook.CreatedBy)
	}
	everything := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	low := w.Happen(event.BalanceLow)
	w.Run()
	if got := r.Receipts(); len(got) != 1 || got[0].ID != low.ID || len(w.Deliveries(r.Hook.ID)) != 1 {
		t.Errorf("received %d events, with %d deliveries", len(got), len(w.Deliveries(r.Hook.ID)))
	}
	if n := len(everything.Receipts()); n != 2 {
		t.Errorf("the key with all scopes received %d", n)
	}
}

func TestAChangeOfTheMakersScopesCountsForTheNextEvent(t *testing.T) {
	w := newWorld(t)
	maker := w.Key(auth.AllScopes()...)
	r := w.ReceiveFor(maker, nil, "content.*")
	for i, c := range []struct {
		scopes []auth.Scope
		gets   bool
	}{
		{auth.AllScopes(), true}, {[]auth.Scope{auth.AccountRead, auth.WebhooksManage}, false},
		{[]auth.Scope{auth.ContentRead}, true},
	} {
		w.Rescope(maker, c.scopes...)
		before := len(r.Receipts())
		w.Happen(event.ContentGenerated)
		w.Run()
		if got := len(r.Receipts()) > before; got != c.gets {
			t.Errorf("%d: received %v", i, got)
		}
	}
}

// Deliveries that were on their way when the maker lost its scope are not sent any more, even if a caller requests
// them again.
func TestWhatTheMakerMayNoLongerReadIsNotSent(t *testing.T) {
	w := newWorld(t)
	maker := w.Key(auth.AllScopes()...)
	r := w.ReceiveFor(maker, answers(200, 500), "content.*")
	delivered := w.Happen(event.ContentGenerated)
	w.Run()
	retried := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Second))
	dispatched := w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Clock.Add(time.Minute)
	lost := w.Happen(event.ContentGenerated)
	w.Events.Wipe()
	w.Rescope(maker, auth.AccountRead, auth.WebhooksManage)
	w.Run()

	path := "/v1/webhooks/" + r.Hook.ID
	w.API.Call(http.MethodPost, path+"/deliveries/"+w.Delivery(delivered, r.Hook.ID).ID+"/redeliver", nil).Into(t,
		http.StatusAccepted, new(any))
	w.Relay()
	w.Run()
	for _, ref := range []event.Ref{delivered, retried, dispatched} {
		d := w.Delivery(ref, r.Hook.ID)
		if d.State != webhook.DeliveryFailed || d.FailedReason == nil ||
			*d.FailedReason != webhook.FailedNotPermitted {
			t.Errorf("the delivery is %s: %v", d.State, d.FailedReason)
		}
	}
	if all := undelivered(t, w, r.Hook.ID); len(all) != 0 {
		t.Errorf("listed as undelivered: %+v", all)
	}
	w.API.Call(http.MethodPost, path+"/replay", map[string]any{"since": w.Clock.Now().Add(-time.Hour)}).Into(t,
		http.StatusAccepted, new(any))
	w.Relay()
	w.Run()
	if n := len(r.Receipts()); n != 2 {
		t.Errorf("%d requests, not the 2 from before", n)
	}
	// With the scope they can be had again.
	w.Rescope(maker, auth.ContentRead)
	if all := undelivered(t, w, r.Hook.ID); len(all) != 4 || all[0].EventID != lost.ID {
		t.Errorf("listed as undelivered: %+v", all)
	}
}

func undelivered(t *testing.T, w *webhooktest.World, webhookID string) (all []webhook.Delivery) {
	t.Helper()
	w.API.Call(http.MethodGet, "/v1/webhooks/"+webhookID+"/deliveries?state=undelivered", nil).Into(t,
		http.StatusOK, &all)
	return all
}

func TestARevokedOrExpiredMakerKeepsItsLastScopes(t *testing.T) {
	w := newWorld(t)
	past := w.Clock.Now().Add(-time.Hour)
	for state, change := range map[string]func(*keyrecord.Record){
		"revoked": func(k *keyrecord.Record) { k.State = keyrecord.Revoked },
		"expired": func(k *keyrecord.Record) { k.ExpiresAt = resource.InstantOrNil(&past) },
	} {
		maker := w.Key(auth.ContentRead, auth.WebhooksManage)
		r := w.ReceiveFor(maker, nil, "*")
		maker.ChangeKey(change)
		ref := w.Happen(event.ContentGenerated)
		w.Happen(event.StudioGenerated)
		w.Run()
		if got := r.Receipts(); len(got) != 1 || got[0].ID != ref.ID {
			t.Errorf("%s: received %d events", state, len(got))
		}
	}
}

// No scopes are known of a key without an item, so it may read nothing.
func TestAnUnknownMakerMayReadNothing(t *testing.T) {
	w := newWorld(t)
	r := w.ReceiveFor(w.API.As(func(p *auth.Principal) { p.Actor = auth.Key("key_01h455vb4pex5vsknk084sn02q") }), nil,
		"*")
	w.Happen(event.BalanceLow)
	w.Run()
	if n := len(r.Receipts()) + len(w.Deliveries(r.Hook.ID)); n != 0 {
		t.Errorf("%d requests and deliveries", n)
	}
}

// A person's scopes are those that it had when it made the webhook.
func TestAWebhookOfAPerson(t *testing.T) {
	w := newWorld(t)
	person := w.API.As(func(p *auth.Principal) {
		p.Actor, p.Scopes = auth.Actor{Kind: auth.Person, ID: "anna"},
			[]auth.Scope{auth.WebhooksManage, auth.ContentRead}
	})
	r := w.ReceiveFor(person, nil, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Happen(event.StudioGenerated)
	w.Run()
	if got := r.Receipts(); len(got) != 1 || got[0].ID != ref.ID || r.Hook.CreatedBy != "anna" {
		t.Errorf("received %d events, created by %s", len(got), r.Hook.CreatedBy)
	}
	if raw := w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID, nil).Raw; strings.Contains(raw, "maker_scopes") {
		t.Errorf("answered %s", raw)
	}
	none := w.API.As(func(p *auth.Principal) {
		p.Actor, p.Scopes = auth.Actor{Kind: auth.Person, ID: w.API.Principal.Actor.ID},
			[]auth.Scope{auth.WebhooksManage}
	})
	r = w.ReceiveFor(none, nil, "*")
	w.Happen(event.ContentGenerated)
	w.Run()
	if n := len(r.Receipts()); n != 0 {
		t.Errorf("a person with the id of a key received %d events", n)
	}
}

func TestTypesThatTheCallerMayNotReadAreRefused(t *testing.T) {
	w := newWorld(t)
	narrow := w.Key(auth.WebhooksManage, auth.AccountRead)
	types := func(types ...string) map[string]any { return map[string]any{"url": hookURL, "event_types": types} }
	narrow.Call(http.MethodPost, "/v1/webhooks", types("balance.low", "content.generated")).Refused(t,
		http.StatusForbidden, "scope_escalation", "/event_types/1")
	h := create(t, narrow, hookURL, "balance.low", "content.*")
	path := "/v1/webhooks/" + h.ID
	narrow.Call(http.MethodPatch, path, map[string]any{"event_types": []string{"studio.failed"}}).Refused(t,
		http.StatusForbidden, "scope_escalation", "/event_types/0")
	narrow.Call(http.MethodPatch, path, map[string]any{"event_types": []string{"webhook.disabled", "*"}}).Into(t,
		http.StatusOK, new(any))
	if got := w.Webhook(h.ID).EventTypes; len(got) != 2 {
		t.Errorf("event_types is %v", got)
	}
}

// With webhooks:manage alone, a key could otherwise send the events of another key's
// webhook to itself.
func TestAWebhookIsRedirectedOnlyByWhoMayReadItsEvents(t *testing.T) {
	w := newWorld(t)
	maker := w.Key(auth.WebhooksManage, auth.ContentRead, auth.AccountRead)
	posted := map[string]any{"url": hookURL, "event_types": []string{"content.*"}}
	single := map[string]any{"url": hookURL, "event_types": []string{"content.*"},
		"factory_ids": []string{addFactory(t, w.DB, w.API, w.Clock.Now(), factory.StateActive)}}
	chosen := map[string]any{"url": hookURL, "event_types": []string{"content.*"}, "fields": []string{"state"}}
	aimed := webhooktest.Aimed(webhook.KindSQS, webhooktest.QueueARN, webhooktest.RoleARN)
	url := map[string]any{"url": hookURL + "/elsewhere"}
	queue := map[string]any{"destination": map[string]any{"arn": webhooktest.QueueARN + "-2"}}
	narrow := map[string]any{"url": hookURL + "/elsewhere", "event_types": []string{"balance.low"}}
	for name, c := range map[string]struct {
		caller *apitest.Caller
		made   map[string]any
		patch  map[string]any
		param  string // empty: it may
	}{
		"a URL, without the scope": {w.Key(auth.WebhooksManage, auth.AccountRead), posted,
			url, "/url"},
		"a queue, without the scope": {w.Key(auth.WebhooksManage, auth.ContentRead), aimed,
			queue, "/destination"},
		"types, without the scope": {w.Key(auth.WebhooksManage, auth.AccountRead), posted,
			map[string]any{"event_types": []string{"*"}}, "/event_types"},
		"a URL for fewer types, for it redirects what waits": {w.Key(auth.WebhooksManage, auth.AccountRead), posted,
			narrow, "/url"},
		"more factories, without the scope": {w.Key(auth.WebhooksManage), single,
			map[string]any{"factory_ids": []string{}}, "/factory_ids"},
		"more members, without the scope": {w.Key(auth.WebhooksManage), chosen,
			map[string]any{"fields": nil}, "/fields"},
		"other members, with the scopes": {w.Key(auth.WebhooksManage, auth.AccountRead, auth.ContentRead), chosen,
			map[string]any{"fields": []string{"caption"}}, ""},
		"other factories, with the scopes": {w.Key(auth.WebhooksManage, auth.AccountRead,
			auth.ContentRead), single, map[string]any{"factory_ids": []string{}}, ""},
		"what is not about reading": {w.Key(auth.WebhooksManage), posted,
			map[string]any{"description": "x", "event_types": []string{"content.*"}, "url": hookURL}, ""},
		"the same scopes": {w.Key(auth.WebhooksManage, auth.AccountRead,
			auth.ContentRead), posted, url, ""},
		"all scopes": {w.API, aimed, queue, ""},
		"the maker":  {maker, posted, url, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var before webhook.Webhook
			maker.Call(http.MethodPost, "/v1/webhooks", c.made).Into(t, http.StatusCreated, &before)
			a := c.caller.Call(http.MethodPatch, "/v1/webhooks/"+before.ID, c.patch)
			if c.param == "" {
				a.Into(t, http.StatusOK, new(any))
				return
			}
			a.Refused(t, http.StatusForbidden, "scope_escalation", c.param)
			if after := w.Webhook(before.ID); after.Version != before.Version || after.GoesTo() != before.GoesTo() {
				t.Error("the refused change was made")
			}
		})
	}
}

// Whoever has the secret can sign events as the service does.
func TestASecretIsRotatedOnlyByWhoMayReadTheEvents(t *testing.T) {
	w := newWorld(t)
	maker := w.Key(auth.WebhooksManage, auth.ContentRead, auth.AccountRead)
	h := create(t, maker, hookURL, "*")
	path := "/v1/webhooks/" + h.ID + "/rotate-secret"
	w.Key(auth.WebhooksManage, auth.AccountRead).Call(http.MethodPost, path, nil).Refused(t, http.StatusForbidden,
		"scope_escalation", "")
	if after := w.Webhook(h.ID); after.Version != h.Version {
		t.Error("the refused rotation was made")
	}
	for name, c := range map[string]*apitest.Caller{"the maker": maker, "the same scopes": w.Key(auth.WebhooksManage,
		auth.AccountRead, auth.ContentRead), "all scopes": w.API} {
		if a := c.Call(http.MethodPost, path, nil); a.Status != http.StatusOK {
			t.Errorf("%s: %s", name, a.Raw)
		}
	}
}

// The maker is looked at only where another key without all reading scopes redirects.
func TestRoundTripsOfARedirection(t *testing.T) {
	w := newWorld(t)
	h := create(t, w.API, hookURL, "*")
	for _, c := range []struct {
		caller *apitest.Caller
		want   string
	}{
		{w.API, "GetItem PutItem"}, {w.Key(auth.AllScopes()...), "GetItem PutItem"},
		{w.Key(auth.WebhooksManage), "GetItem GetItem"},
	} {
		w.Faults.Reset()
		c.caller.Call(http.MethodPatch, "/v1/webhooks/"+h.ID,
			map[string]any{"url": hookURL + "/" + c.caller.Principal.Actor.ID})
		if got := w.Faults.Operations(); got != c.want {
			t.Errorf("%d scopes: %s, want %s", len(c.caller.Principal.Scopes), got, c.want)
		}
	}
}

// Dispatch fails where the maker cannot be read: the event comes again.
func TestAnEventWaitsForItsMakerToBeRead(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	w.Faults.Reject("BatchGetItem", "ValidationException", 1)
	w.Run()
	if n := len(r.Receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestWebhooksEndTogetherWithTheirMaker(t *testing.T) {
	w := newWorld(t)
	maker, child := w.Key(auth.AllScopes()...), w.Key(auth.AllScopes()...)
	one, two := create(t, maker, hookURL, "*"), create(t, child, hookURL, "*")
	live := create(t, maker.Live(), hookURL, "*")
	off := create(t, maker, hookURL, "*")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+off.ID, map[string]any{"state": "disabled"}).Into(t,
		http.StatusOK, new(any))
	others := create(t, w.API, hookURL, "*")
	person := create(t, w.API.As(func(p *auth.Principal) {
		p.Actor.Kind, p.Actor.ID = auth.Person,
			maker.Principal.Actor.ID
	}), hookURL, "*")
	ids := []string{maker.Principal.Actor.ID, child.Principal.Actor.ID}
	for range 2 { // a repeat has no effect
		if err := webhook.DisableMadeBy(t.Context(), w.DB, w.Clock.Now(), w.Owner().Account, ids); err != nil {
			t.Fatal(err)
		}
	}
	var gone webhook.Webhook
	w.API.Live().Call(http.MethodGet, "/v1/webhooks/"+live.ID, nil).Into(t, http.StatusOK, &gone)
	for _, h := range []webhook.Webhook{w.Webhook(one.ID), w.Webhook(two.ID), gone} {
		if h.State != webhook.StateDisabled || *h.DisabledReason != webhook.ReasonMakerRevoked || h.Version != 2 {
			t.Errorf("%s is %s, version %d", h.ID, h.State, h.Version)
		}
	}
	if h := w.Webhook(off.ID); *h.DisabledReason != webhook.ReasonRequested {
		t.Errorf("the reason became %s", *h.DisabledReason)
	}
	for _, id := range []string{others.ID, person.ID} {
		if h := w.Webhook(id); h.State != webhook.StateEnabled {
			t.Errorf("%s, of another maker, is %s", id, h.State)
		}
	}
	if n := len(w.Told(event.WebhookDisabled)); n != 2 {
		t.Errorf("%d events in this mode", n)
	}
	enable := map[string]any{"state": "enabled"}
	w.Key(auth.WebhooksManage).Call(http.MethodPatch, "/v1/webhooks/"+one.ID, enable).Refused(t, http.StatusForbidden,
		"scope_escalation", "/state")
	w.Key(auth.WebhooksManage).Call(http.MethodPatch, "/v1/webhooks/"+off.ID, enable).Into(t, http.StatusOK, new(any))
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+one.ID, enable).Into(t, http.StatusOK, new(any))
}
