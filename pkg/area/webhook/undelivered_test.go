package webhook_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	endpoint "github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
)

func TestWhatNeverArrived(t *testing.T) {
	w := newWorld(t)
	before := w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(time.Minute)
	statuses := answers(200)
	r := w.Receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	w.Clock.Add(time.Minute)
	delivered := w.Happen(event.ContentGenerated)
	w.Run()
	statuses = answers(500)
	w.Clock.Add(time.Minute)
	failed := w.Happen(event.ContentFailed)
	w.Run()
	since := w.Clock.Now().Add(time.Second)
	w.Clock.Add(time.Minute)
	waiting := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(10 * time.Second))
	w.Clock.Add(time.Minute)
	lost := w.Happen(event.ContentPublished) // its way to dispatch is wiped
	w.Events.Wipe()
	w.Clock.Add(time.Minute)
	unwanted := w.Happen(event.BalanceLow)
	w.Events.Wipe()

	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries?state=undelivered"
	list := func(query string) (all []endpoint.Delivery) {
		t.Helper()
		w.API.Call(http.MethodGet, path+query, nil).Into(t, http.StatusOK, &all)
		return all
	}
	all := list("")
	want := []struct {
		ref      string
		state    string
		attempts int
	}{{lost.ID, endpoint.DeliveryPending, 0}, {waiting.ID, endpoint.DeliveryPending, 2},
		{failed.ID, endpoint.DeliveryFailed, 8}}
	if len(all) != len(want) {
		t.Fatalf("listed %+v; not %s, %s, %s", all, before.ID, delivered.ID, unwanted.ID)
	}
	for i, d := range all {
		if d.EventID != want[i].ref || d.State != want[i].state || len(d.Attempts) != want[i].attempts ||
			d.WebhookID != r.Hook.ID {
			t.Errorf("%d: %+v, want %+v", i, d, want[i])
		}
	}
	if all[0].NextAttemptAt != nil || all[1].NextAttemptAt == nil {
		t.Errorf("next attempts: %v, %v", all[0].NextAttemptAt, all[1].NextAttemptAt)
	}
	if first := all[0].WaitingFor; first == nil || *first != endpoint.WaitsDispatch ||
		*all[1].WaitingFor != endpoint.WaitsRetry || all[2].WaitingFor != nil {
		t.Errorf("waiting for %v, %v, %v", first, all[1].WaitingFor, all[2].WaitingFor)
	}
	if some := list("&from=" + since.Format(time.RFC3339)); len(some) != 2 || some[1].EventID != waiting.ID {
		t.Errorf("since %v: %+v", since, some)
	}
	// Events from before the webhook was created are listed if the caller asks for them: a replay would deliver them.
	old := before.ID
	if some := list("&from=" + w.Clock.Now().Add(-72*time.Hour).Format(time.RFC3339) + "&limit=100"); len(some) != 4 ||
		some[3].EventID != old {
		t.Errorf("since yesterday: %+v", some)
	}
	if some := list("&to=" + w.Clock.Now().Add(-72*time.Hour).Format(time.RFC3339)); len(some) != 0 {
		t.Errorf("until before there was the webhook: %+v", some)
	}
	// The delivery that the sweeper makes of the lost event has the id that was shown.
	w.Publish(lost)
	statuses = answers(200)
	w.Run()
	if d := w.Delivery(lost, r.Hook.ID); d.ID != all[0].ID || d.State != endpoint.DeliveryDelivered {
		t.Errorf("shown as %s, it became %+v", all[0].ID, d)
	}
	for _, other := range []*apitest.Caller{w.API.Stranger(), w.API.Live()} {
		other.Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	}
	w.API.Call(http.MethodGet, "/v1/webhooks/"+id.New(id.Webhook, since)+"/deliveries?state=undelivered",
		nil).Refused(t, 404, "not_found", "")
	w.API.Call(http.MethodGet, path+"&cursor=x", nil).Refused(t, 400, "invalid_cursor", "cursor")
}

// TestTheLogOfADeletedWebhook lists each state: the log is kept, and events that were never written to it are
// unknown.
func TestTheLogOfADeletedWebhook(t *testing.T) {
	w := newWorld(t)
	statuses := answers(200)
	r := w.Receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "*")
	arrived := w.Happen(event.ContentGenerated)
	w.Run()
	statuses = answers(500)
	w.Clock.Add(time.Minute)
	waiting := w.Happen(event.ContentFailed)
	w.Run(w.Clock.Now())
	silent := create(t, w.API, hookURL, "api_key.revoked")
	path := func(webhook, query string) string { return "/v1/webhooks/" + webhook + "/deliveries" + query }
	for _, wh := range []string{r.Hook.ID, silent.ID} {
		w.API.Call(http.MethodDelete, "/v1/webhooks/"+wh, nil).Into(t, http.StatusOK, &endpoint.Webhook{})
	}
	for query, want := range map[string][]string{
		"":                           {waiting.ID, arrived.ID},
		"?state=delivered":           {arrived.ID},
		"?state=pending":             {waiting.ID},
		"?state=failed":              {},
		"?state=undelivered":         {waiting.ID},
		"?to=2020-01-01T00:00:00Z":   {},
		"?state=failed&limit=1":      {},
		"?state=delivered&limit=1":   {arrived.ID},
		"?from=2020-01-01T00:00:00Z": {waiting.ID, arrived.ID},
	} {
		var all []endpoint.Delivery
		w.API.Call(http.MethodGet, path(r.Hook.ID, query), nil).Into(t, http.StatusOK, &all)
		got := []string{}
		for _, d := range all {
			got = append(got, d.EventID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
		for _, other := range []*apitest.Caller{w.API.Stranger(), w.API.Live()} {
			other.Call(http.MethodGet, path(r.Hook.ID, query), nil).Refused(t, 404, "not_found", "")
		}
		w.API.Call(http.MethodGet, path(silent.ID, query), nil).Refused(t, 404, "not_found", "")
		w.API.Call(http.MethodGet, path("x", query), nil).Refused(t, 404, "not_found", "")
	}
}

// TestWhatHasNoDeliveryIsRedelivered redelivers an event that is listed but has no delivery.
func TestWhatHasNoDeliveryIsRedelivered(t *testing.T) {
	w := newWorld(t)
	before := w.Happen(event.ContentGenerated)
	unwanted := w.Happen(event.BalanceLow)
	w.Events.Wipe()
	w.Clock.Add(time.Minute)
	r := w.Receive(answers(200), "content.*")
	w.Clock.Add(time.Minute)
	lost := w.Happen(event.ContentFailed)
	w.Events.Wipe()
	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries"
	var all []endpoint.Delivery
	w.API.Call(http.MethodGet, path+"?state=undelivered&from=2020-01-01T00:00:00Z", nil).Into(t, http.StatusOK, &all)
	if len(all) != 2 || all[0].EventID != lost.ID || all[1].EventID != before.ID {
		t.Fatalf("listed %+v", all)
	}
	for _, listed := range all {
		for range 2 { // the second time it is there
			var got endpoint.Delivery
			w.API.Call(http.MethodPost, path+"/"+listed.ID+"/redeliver", nil).Into(t, http.StatusAccepted, &got)
			if got.ID != listed.ID || got.EventID != listed.EventID || got.State != endpoint.DeliveryPending ||
				got.NextAttemptAt == nil {
				t.Errorf("answered %+v", got)
			}
		}
	}
	w.Relay()
	w.Run()
	for _, ref := range []event.Ref{lost, before} {
		if d := w.Delivery(ref, r.Hook.ID); d.State != endpoint.DeliveryDelivered || len(d.Attempts) != 1 {
			t.Errorf("%+v", d)
		}
	}
	at, _ := id.Time(unwanted.ID)
	for _, other := range []*apitest.Caller{w.API, w.API.Stranger(), w.API.Live()} {
		other.Call(http.MethodPost, path+"/"+endpoint.DeliveryID(at, unwanted.ID, r.Hook.ID)+"/redeliver",
			nil).Refused(t, 404, "not_found", "")
	}
	if got := r.Receipts(); len(got) != 2 {
		t.Errorf("%d requests", len(got))
	}
}
