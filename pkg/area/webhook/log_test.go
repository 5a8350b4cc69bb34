package webhook_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestBothSecretsSignForADayAfterARotation(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(nil, "*")
	path := "/v1/webhooks/" + r.Hook.ID
	first := r.Hook.Secret
	var second, third webhook.NewWebhook
	w.API.Call(http.MethodPost, path+"/rotate-secret", nil, "If-Match", `"9"`).Refused(t, 412,
		"version_mismatch", "If-Match")
	w.API.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &second)
	if second.Secret == first || second.ID != r.Hook.ID || second.Version != 2 {
		t.Errorf("rotated: %+v", second.Webhook)
	}
	// verifies reports which secrets verify the latest request.
	verifies := func() (which []bool) {
		w.Happen(event.ContentGenerated)
		w.Run()
		got := r.Receipts()
		last := got[len(got)-1]
		for _, secret := range []string{first, second.Secret, third.Secret} {
			key, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			which = append(which, key.VerifyIgnoringTimestamp(last.Body, last.Header) == nil)
		}
		return which
	}
	if got := verifies(); !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("after the rotation: %v", got)
	}
	w.Clock.Add(24 * time.Hour)
	r.Hook.Secret = second.Secret // from now on the receiver refuses all but this
	if got := verifies(); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("a day later: %v", got)
	}
	w.API.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &third)
	w.API.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &third)
	r.Hook.Secret = third.Secret
	if got := verifies(); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("after two rotations at once: %v", got)
	}
	w.API.Stranger().Call(http.MethodPost, path+"/rotate-secret", nil).Refused(t, 404, "not_found", "")
	w.API.Live().Call(http.MethodPost, path+"/rotate-secret", nil).Refused(t, 404, "not_found", "")
}

func TestTheLogOfDeliveries(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(answers(200, 500), "*")
	begun := w.Clock.Now()
	refs := []event.Ref{w.Happen(event.ContentGenerated)}
	w.Run()
	for range 4 {
		w.Clock.Add(time.Minute)
		refs = append(refs, w.Happen(event.ContentFailed))
	}
	w.Run(w.Clock.Now().Add(time.Second))
	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries"

	all := apitest.All[webhook.Delivery](w.API, path, 2)
	if len(all) != 5 {
		t.Fatalf("%d deliveries", len(all))
	}
	for i, d := range all {
		if want := refs[4-i]; d.EventID != want.ID || d.EventType != want.Type || d.WebhookID != r.Hook.ID ||
			len(d.Attempts) != 1 {
			t.Errorf("delivery %d: %+v", i, d)
		}
	}
	for query, want := range map[string]int{
		"state=delivered": 1, "state=pending": 4, "state=failed": 0, "state=delivered,pending": 5,
		"state=failed,delivered": 1, "order=asc&state=delivered,pending": 5,
		"event_id=" + refs[2].ID: 1, "event_id=" + refs[2].ID + "&state=pending,failed": 1, "event_id=" + refs[2].ID +
			"&state=delivered": 0,
		"event_id=" + refs[2].ID + "&from=" +
			begun.Add(2*time.Minute).Format(time.RFC3339): 1,
		"event_id=" + refs[2].ID + "&from=" +
			begun.Add(3*time.Minute).Format(time.RFC3339): 0,
		"event_id=" + refs[2].ID + "&to=" +
			begun.Add(2*time.Minute).Format(time.RFC3339): 0,
		"event_id=" + refs[2].ID + "&from=" + begun.Format(time.RFC3339) +
			"&to=" + begun.Add(3*time.Minute).Format(time.RFC3339) + "&order=asc": 1,
		"event_id=" + id.New(id.Event, begun):           0,
		"event_id=" + refs[2].ID + "&state=undelivered": 1, "event_id=" + refs[0].ID + "&state=undelivered": 0,
		"from=" + begun.Add(time.Minute).Format(time.RFC3339):                 4,
		"to=" + begun.Add(time.Minute).Format(time.RFC3339):                   1,
		"state=pending&from=" + begun.Add(3*time.Minute).Format(time.RFC3339): 2,
	} {
		if got := apitest.All[webhook.Delivery](w.API, path+"?"+query, 3); len(got) != want {
			t.Errorf("%s: %d deliveries, want %d", query, len(got), want)
		}
	}
	for _, ref := range refs {
		if got := apitest.All[webhook.Delivery](w.API, path+"?event_id="+ref.ID, 1); len(got) != 1 ||
			got[0].EventID != ref.ID {
			t.Errorf("of %s: %+v", ref.ID, got)
		}
	}
	first := w.API.Call(http.MethodGet, path+"?limit=1&state=pending,delivered", nil)
	w.API.Call(http.MethodGet, path+"?limit=1&state=pending&cursor="+*first.NextCursor, nil).Refused(t, 400,
		"invalid_cursor", "cursor")
	raw := w.API.Call(http.MethodGet, path+"?state=pending", nil).Raw
	for _, secret := range []string{"lease", `"next"`, "failures", "secret"} {
		if strings.Contains(raw, secret) {
			t.Errorf("the answer shows %s: %s", secret, raw)
		}
	}
	for query, param := range map[string]string{
		"state=lost": "state", "state=failed,lost": "state", "state=failed,undelivered": "state",
		"event_id=evt_1": "event_id", "event_id=": "event_id", "event_id=" + r.Hook.ID: "event_id",
	} {
		w.API.Call(http.MethodGet, path+"?"+query, nil).Refused(t, 422, "validation_failed", param)
	}
	w.API.Call(http.MethodGet, path+"?cursor=x", nil).Refused(t, 400, "invalid_cursor", "cursor")
	for _, other := range []*apitest.Caller{w.API.Stranger(), w.API.Live()} {
		other.Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	}
	w.API.Call(http.MethodGet, "/v1/webhooks/"+id.New(id.Webhook, begun)+"/deliveries", nil).Refused(t, 404,
		"not_found", "")
}

func TestRedeliver(t *testing.T) {
	w := newWorld(t)
	statuses := answers(500)
	r := w.Receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	d := w.Delivery(ref, r.Hook.ID)
	path := "/v1/webhooks/" + r.Hook.ID + "/deliveries/" + d.ID + "/redeliver"
	again := func() (got webhook.Delivery) {
		t.Helper()
		w.API.Call(http.MethodPost, path, nil).Into(t, http.StatusAccepted, &got)
		if got.ID != d.ID || got.State != "pending" || got.FailedReason != nil || got.NextAttemptAt == nil {
			t.Errorf("answered %+v", got)
		}
		w.Relay()
		return got
	}

	// One that failed gets its whole schedule again.
	again()
	w.Run(w.Clock.Now().Add(10 * time.Second))
	if d = w.Delivery(ref, r.Hook.ID); d.State != "pending" || len(d.Attempts) != 10 || d.Failures != 2 {
		t.Errorf("delivery %+v", d)
	}
	// One that waits for a retry is attempted at once, however often that is asked.
	statuses = answers(200)
	again()
	again()
	w.Run()
	if d = w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 11 {
		t.Errorf("delivery %+v", d)
	}
	// One that was delivered is delivered again.
	again()
	w.Run()
	if d = w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 12 {
		t.Errorf("delivery %+v", d)
	}
	got := r.Receipts()
	if len(got) != 12 {
		t.Errorf("%d requests", len(got))
	}
	for _, g := range got {
		if g.ID != ref.ID {
			t.Errorf("webhook-id %s", g.ID)
		}
	}

	other := r.Hook.ID
	for _, bad := range []string{
		"/v1/webhooks/" + other + "/deliveries/x/redeliver",
		"/v1/webhooks/" + other + "/deliveries/" + id.New(id.Delivery, w.Clock.Now()) + "/redeliver",
		"/v1/webhooks/" + id.New(id.Webhook, w.Clock.Now()) + "/deliveries/" + d.ID + "/redeliver",
		"/v1/webhooks/x/deliveries/" + d.ID + "/redeliver",
	} {
		w.API.Call(http.MethodPost, bad, nil).Refused(t, 404, "not_found", "")
	}
	w.API.Stranger().Call(http.MethodPost, path, nil).Refused(t, 404, "not_found", "")
	w.API.Live().Call(http.MethodPost, path, nil).Refused(t, 404, "not_found", "")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
	w.API.Call(http.MethodPost, path, nil).Refused(t, 409, "invalid_state", "")
	w.Relay()
	if w.Run(); len(r.Receipts()) != 12 {
		t.Error("a refused call had an effect")
	}
}

func TestRedeliverWhileAnAttemptIsUnderWay(t *testing.T) {
	w := newWorld(t)
	var d webhook.DeliveryRecord
	r := w.Receive(nil, "*")
	r.Plan = func(n int, _ http.ResponseWriter) {
		if n == 1 {
			d = w.Deliveries(r.Hook.ID)[0]
			w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t,
				http.StatusAccepted, &webhook.Delivery{})
			w.Relay()
		}
	}
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || d.Lease != nil ||
		len(r.Receipts()) != 1 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestADeliveryKeepsTheLastAttempts(t *testing.T) {
	w := newWorld(t)
	wh := create(t, w.API, hookURL, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	reason := "no"
	for i := range webhook.MaxAttempts + 5 {
		it, err := w.DB.Get(t.Context(), w.Ref(wh.ID).DeliveryKey(w.Delivery(ref, wh.ID).ID))
		if err != nil {
			t.Fatal(err)
		}
		d, err := webhook.ReadDelivery(&it)
		if err != nil {
			t.Fatal(err)
		}
		d.Failures = 0
		attempt := webhook.Attempt{LatencyMS: int64(i), Error: &reason}
		d.Record(webhook.Outcome{Attempt: attempt}, time.Unix(int64(i), 0), time.Second)
		if err := d.WriteTo(&it); err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	d := w.Delivery(ref, wh.ID)
	if len(d.Attempts) != webhook.MaxAttempts || d.Next != webhook.MaxAttempts+6 {
		t.Errorf("delivery %+v", d)
	}
	for i, a := range d.Attempts {
		if a.LatencyMS != int64(i+5) {
			t.Errorf("attempt %d is %+v", i, a)
		}
	}
}
