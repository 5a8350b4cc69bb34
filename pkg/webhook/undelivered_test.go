package webhook

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/id"
)

func TestWhatNeverArrived(t *testing.T) {
	w := newWorld(t)
	before := w.happen(event.ContentGenerated)
	w.run()
	w.clock.Add(time.Minute)
	statuses := answers(200)
	r := w.receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	w.clock.Add(time.Minute)
	delivered := w.happen(event.ContentGenerated)
	w.run()
	statuses = answers(500)
	w.clock.Add(time.Minute)
	failed := w.happen(event.ContentFailed)
	w.run()
	since := w.clock.Now().Add(time.Second)
	w.clock.Add(time.Minute)
	waiting := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(10 * time.Second))
	w.clock.Add(time.Minute)
	lost := w.happen(event.ContentPublished) // its way to dispatch is wiped
	w.events.wipe()
	w.clock.Add(time.Minute)
	unwanted := w.happen(event.BalanceLow)
	w.events.wipe()

	path := "/v1/webhooks/" + r.hook.ID + "/deliveries?state=undelivered"
	list := func(query string) (all []Delivery) {
		t.Helper()
		w.api.Call(http.MethodGet, path+query, nil).Into(t, http.StatusOK, &all)
		return all
	}
	all := list("")
	want := []struct {
		ref      string
		state    string
		attempts int
	}{{lost.ID, statePending, 0}, {waiting.ID, statePending, 2}, {failed.ID, stateFailed, 8}}
	if len(all) != len(want) {
		t.Fatalf("listed %+v; not %s, %s, %s", all, before.ID, delivered.ID, unwanted.ID)
	}
	for i, d := range all {
		if d.EventID != want[i].ref || d.State != want[i].state || len(d.Attempts) != want[i].attempts || d.WebhookID != r.hook.ID {
			t.Errorf("%d: %+v, want %+v", i, d, want[i])
		}
	}
	if all[0].NextAttemptAt != nil || all[1].NextAttemptAt == nil {
		t.Errorf("next attempts: %v, %v", all[0].NextAttemptAt, all[1].NextAttemptAt)
	}
	if some := list("&from=" + since.Format(time.RFC3339)); len(some) != 2 || some[1].EventID != waiting.ID {
		t.Errorf("since %v: %+v", since, some)
	}
	// What happened before there was the webhook is listed where the caller asks for it:
	// a replay would deliver it.
	old := before.ID
	if some := list("&from=" + w.clock.Now().Add(-72*time.Hour).Format(time.RFC3339) + "&limit=100"); len(some) != 4 || some[3].EventID != old {
		t.Errorf("since yesterday: %+v", some)
	}
	if some := list("&to=" + w.clock.Now().Add(-72*time.Hour).Format(time.RFC3339)); len(some) != 0 {
		t.Errorf("until before there was the webhook: %+v", some)
	}
	// What the sweeper makes of the lost one has the id that was shown.
	w.publish(lost)
	statuses = answers(200)
	w.run()
	if d := w.delivery(lost, r.hook.ID); d.ID != all[0].ID || d.State != stateDelivered {
		t.Errorf("shown as %s, it became %+v", all[0].ID, d)
	}
	for _, other := range []*apitest.Caller{w.api.Stranger(), w.api.Live()} {
		other.Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	}
	w.api.Call(http.MethodGet, "/v1/webhooks/"+id.New(id.Webhook, since)+"/deliveries?state=undelivered", nil).Refused(t, 404, "not_found", "")
	w.api.Call(http.MethodGet, path+"&cursor=x", nil).Refused(t, 400, "invalid_cursor", "cursor")
}

// TestTheLogOfADeletedWebhook asks for each state: the log is kept, and what was never
// written to one is unknown.
func TestTheLogOfADeletedWebhook(t *testing.T) {
	w := newWorld(t)
	statuses := answers(200)
	r := w.receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "*")
	arrived := w.happen(event.ContentGenerated)
	w.run()
	statuses = answers(500)
	w.clock.Add(time.Minute)
	waiting := w.happen(event.ContentFailed)
	w.run(w.clock.Now())
	silent := create(t, w.api, hookURL, "training.failed")
	path := func(webhook, query string) string { return "/v1/webhooks/" + webhook + "/deliveries" + query }
	for _, hook := range []string{r.hook.ID, silent.ID} {
		w.api.Call(http.MethodDelete, "/v1/webhooks/"+hook, nil).Into(t, http.StatusOK, &Webhook{})
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
		var all []Delivery
		w.api.Call(http.MethodGet, path(r.hook.ID, query), nil).Into(t, http.StatusOK, &all)
		got := []string{}
		for _, d := range all {
			got = append(got, d.EventID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
		for _, other := range []*apitest.Caller{w.api.Stranger(), w.api.Live()} {
			other.Call(http.MethodGet, path(r.hook.ID, query), nil).Refused(t, 404, "not_found", "")
		}
		w.api.Call(http.MethodGet, path(silent.ID, query), nil).Refused(t, 404, "not_found", "")
		w.api.Call(http.MethodGet, path("x", query), nil).Refused(t, 404, "not_found", "")
	}
}

// TestWhatHasNoDeliveryIsRedelivered asks for what is listed but was never made.
func TestWhatHasNoDeliveryIsRedelivered(t *testing.T) {
	w := newWorld(t)
	before := w.happen(event.ContentGenerated)
	unwanted := w.happen(event.BalanceLow)
	w.events.wipe()
	w.clock.Add(time.Minute)
	r := w.receive(answers(200), "content.*")
	w.clock.Add(time.Minute)
	lost := w.happen(event.ContentFailed)
	w.events.wipe()
	path := "/v1/webhooks/" + r.hook.ID + "/deliveries"
	var all []Delivery
	w.api.Call(http.MethodGet, path+"?state=undelivered&from=2020-01-01T00:00:00Z", nil).Into(t, http.StatusOK, &all)
	if len(all) != 2 || all[0].EventID != lost.ID || all[1].EventID != before.ID {
		t.Fatalf("listed %+v", all)
	}
	for _, listed := range all {
		for range 2 { // the second time it is there
			var got Delivery
			w.api.Call(http.MethodPost, path+"/"+listed.ID+"/redeliver", nil).Into(t, http.StatusAccepted, &got)
			if got.ID != listed.ID || got.EventID != listed.EventID || got.State != statePending || got.NextAttemptAt == nil {
				t.Errorf("answered %+v", got)
			}
		}
	}
	w.relay()
	w.run()
	for _, ref := range []event.Ref{lost, before} {
		if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || len(d.Attempts) != 1 {
			t.Errorf("%+v", d)
		}
	}
	at, _ := id.Time(unwanted.ID)
	for _, other := range []*apitest.Caller{w.api, w.api.Stranger(), w.api.Live()} {
		other.Call(http.MethodPost, path+"/"+deliveryID(at, unwanted.ID, r.hook.ID)+"/redeliver", nil).Refused(t, 404, "not_found", "")
	}
	if got := r.receipts(); len(got) != 2 {
		t.Errorf("%d requests", len(got))
	}
}
