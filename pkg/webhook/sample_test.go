package webhook

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
)

func TestASampleGoesToOneWebhookAlone(t *testing.T) {
	w := newWorld(t)
	// It does not subscribe to what it is tested with; the other gets everything.
	r, other := w.receive(answers(500, 200), "balance.low"), w.receive(answers(200), "*")
	path := "/v1/webhooks/" + r.hook.ID + "/test"
	var d Delivery
	w.api.Call(http.MethodPost, path, map[string]any{"event_type": "content.failed"}).Into(t, http.StatusAccepted, &d)
	if d.State != statePending || d.EventType != event.ContentFailed || d.WebhookID != r.hook.ID || len(d.Attempts) != 0 {
		t.Errorf("answered %+v", d)
	}
	w.relay()
	w.run()
	got := r.receipts()
	if len(got) != 2 || got[0].id != d.EventID || got[1].id != d.EventID {
		t.Fatalf("received %+v", got)
	}
	var e event.Event
	if err := json.Unmarshal(got[1].body, &e); err != nil || e.ID != d.EventID || e.Type != event.ContentFailed || e.AccountID != w.api.Principal.Account {
		t.Errorf("%v: %s", err, got[1].body)
	}
	if string(e.Data.Object) == "" || string(e.Data.Object) == "null" {
		t.Errorf("the sample is about nothing: %s", got[1].body)
	}
	if n := len(other.receipts()); n != 0 {
		t.Errorf("another webhook got %d", n)
	}
	if told := w.told(event.ContentFailed); len(told) != 0 {
		t.Errorf("the sample is among the events: %+v", told)
	}
	var listed []Delivery
	w.api.Call(http.MethodGet, "/v1/webhooks/"+r.hook.ID+"/deliveries", nil).Into(t, http.StatusOK, &listed)
	if len(listed) != 1 || listed[0].ID != d.ID || listed[0].State != stateDelivered || len(listed[0].Attempts) != 2 {
		t.Errorf("deliveries %+v", listed)
	}

	w.api.Call(http.MethodPost, path, map[string]any{"event_type": "content.made"}).Refused(t, 422, "validation_failed", "/event_type")
	w.api.Call(http.MethodPost, path, map[string]any{}).Refused(t, 422, "validation_failed", "/event_type")
	w.api.Call(http.MethodPost, "/v1/webhooks/"+id.New(id.Webhook, w.clock.Now())+"/test", map[string]any{"event_type": "balance.low"}).Refused(t, 404, "not_found", "")
	w.api.Stranger().Call(http.MethodPost, path, map[string]any{"event_type": "balance.low"}).Refused(t, 404, "not_found", "")
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "disabled"})
	w.api.Call(http.MethodPost, path, map[string]any{"event_type": "balance.low"}).Refused(t, 409, "invalid_state", "")
	w.relay()
	if w.run(); len(r.receipts()) != 2 {
		t.Error("a refused call had an effect")
	}
}

func TestThereIsASampleOfEveryType(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(200), "*")
	for _, known := range event.Types {
		var d Delivery
		w.api.Call(http.MethodPost, "/v1/webhooks/"+r.hook.ID+"/test", map[string]any{"event_type": known.Type}).Into(t, http.StatusAccepted, &d)
		w.relay()
		w.run()
	}
	if n := len(r.receipts()); n != len(event.Types) {
		t.Errorf("received %d of %d", n, len(event.Types))
	}
}
