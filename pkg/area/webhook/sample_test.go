package webhook_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
)

func TestASampleGoesToOneWebhookAlone(t *testing.T) {
	w := newWorld(t)
	// The first does not subscribe to the tested type; the other gets everything.
	r, other := w.Receive(answers(500, 200), "balance.low"), w.Receive(answers(200), "*")
	path := "/v1/webhooks/" + r.Hook.ID + "/test"
	var d webhook.Delivery
	w.API.Call(http.MethodPost, path, map[string]any{"event_type": "content.failed"}).Into(t, http.StatusAccepted, &d)
	if d.State != webhook.DeliveryPending || d.EventType != event.ContentFailed || d.WebhookID != r.Hook.ID ||
		len(d.Attempts) != 0 {
		t.Errorf("answered %+v", d)
	}
	w.Relay()
	w.Run()
	got := r.Receipts()
	if len(got) != 2 || got[0].ID != d.EventID || got[1].ID != d.EventID {
		t.Fatalf("received %+v", got)
	}
	var e event.Event
	if err := json.Unmarshal(got[1].Body, &e); err != nil || e.ID != d.EventID || e.Type != event.ContentFailed ||
		e.AccountID != w.API.Principal.Account {
		t.Errorf("%v: %s", err, got[1].Body)
	}
	if string(e.Data.Object) == "" || string(e.Data.Object) == "null" {
		t.Errorf("the sample is about nothing: %s", got[1].Body)
	}
	if n := len(other.Receipts()); n != 0 {
		t.Errorf("another webhook got %d", n)
	}
	if told := w.Told(event.ContentFailed); len(told) != 0 {
		t.Errorf("the sample is among the events: %+v", told)
	}
	var listed []webhook.Delivery
	w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID+"/deliveries", nil).Into(t, http.StatusOK, &listed)
	if len(listed) != 1 || listed[0].ID != d.ID || listed[0].State != webhook.DeliveryDelivered ||
		len(listed[0].Attempts) != 2 {
		t.Errorf("deliveries %+v", listed)
	}

	w.API.Call(http.MethodPost, path, map[string]any{"event_type": "content.made"}).Refused(t, 422, "validation_failed",
		"/event_type")
	w.API.Call(http.MethodPost, path, map[string]any{}).Refused(t, 422, "validation_failed", "/event_type")
	w.API.Call(http.MethodPost, "/v1/webhooks/"+id.New(id.Webhook, w.Clock.Now())+"/test",
		map[string]any{"event_type": "balance.low"}).Refused(t, 404, "not_found", "")
	w.API.Stranger().Call(http.MethodPost, path, map[string]any{"event_type": "balance.low"}).Refused(t, 404,
		"not_found", "")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
	refused := w.API.Call(http.MethodPost, path, map[string]any{"event_type": "balance.low"})
	refused.Refused(t, 409, "invalid_state", "")
	refused.Context(t, `{"state":"disabled","allowed":["update","rotate_secret","delete"]}`)
	w.Relay()
	if w.Run(); len(r.Receipts()) != 2 {
		t.Error("a refused call had an effect")
	}
}

func TestAskedDeliveriesSayWhereAndWhenToLook(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(200), "*")
	hookPath := "/v1/webhooks/" + r.Hook.ID
	follow := func(path string, body any, seconds string, shown any) (at string) {
		t.Helper()
		a := w.API.Call(http.MethodPost, path, body)
		if a.Status != http.StatusAccepted || a.Header.Get("Retry-After") != seconds {
			t.Errorf("%s: answered %d with %v", path, a.Status, a.Header)
		}
		w.API.Call(http.MethodGet, a.Header.Get("Location"), nil).Into(t, http.StatusOK, shown)
		return a.Header.Get("Location")
	}
	var one webhook.DeliveryDetails
	if at := follow(hookPath+"/test", map[string]any{"event_type": "balance.low"}, "2", &one); one.EventType !=
		"balance.low" || !strings.HasSuffix(at, one.ID) {
		t.Errorf("%s shows %+v", at, one)
	}
	w.Clock.Add(time.Second)
	var d webhook.Delivery
	w.API.Call(http.MethodPost, hookPath+"/test", map[string]any{"event_type": "content.failed"}).Into(t,
		http.StatusAccepted, &d)
	w.Clock.Add(time.Second)
	if at := follow(hookPath+"/deliveries/"+d.ID+"/redeliver", nil, "2", &one); one.ID != d.ID {
		t.Errorf("%s shows %+v", at, one)
	}
	w.Relay()
	w.Run()
	var listed []webhook.Delivery
	if at := follow(hookPath+"/replay", map[string]any{"since": d.CreatedAt}, "5", &listed); len(listed) != 1 ||
		listed[0].ID != d.ID {
		t.Errorf("%s lists %+v", at, listed)
	}
}

func TestThereIsASampleOfEveryType(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(200), "*")
	for _, known := range event.Types {
		var d webhook.Delivery
		w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/test", map[string]any{"event_type": known.Type}).Into(t,
			http.StatusAccepted, &d)
		w.Relay()
		w.Run()
		w.Clock.Add(time.Minute)
	}
	if n := len(r.Receipts()); n != len(event.Types) {
		t.Errorf("received %d of %d", n, len(event.Types))
	}
}
