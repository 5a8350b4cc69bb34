package webhook

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store/storetest"
)

func TestBothSecretsSignForADayAfterARotation(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	path := "/v1/webhooks/" + r.hook.ID
	first := r.hook.Secret
	var second, third NewWebhook
	w.api.Call(http.MethodPost, path+"/rotate-secret", nil, "If-Match", `"9"`).Refused(t, 412, "version_mismatch", "If-Match")
	w.api.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &second)
	if second.Secret == first || second.ID != r.hook.ID || second.Version != 2 {
		t.Errorf("rotated: %+v", second.Webhook)
	}
	// verifies tells which secrets verify the latest request.
	verifies := func() (which []bool) {
		w.happen(event.ContentGenerated)
		w.run()
		got := r.receipts()
		last := got[len(got)-1]
		for _, secret := range []string{first, second.Secret, third.Secret} {
			key, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			which = append(which, key.VerifyIgnoringTimestamp(last.body, last.header) == nil)
		}
		return which
	}
	if got := verifies(); !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("after the rotation: %v", got)
	}
	w.clock.Add(24 * time.Hour)
	r.hook.Secret = second.Secret // from now on the receiver refuses all but this
	if got := verifies(); !slices.Equal(got, []bool{false, true, false}) {
		t.Errorf("a day later: %v", got)
	}
	w.api.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &third)
	w.api.Call(http.MethodPost, path+"/rotate-secret", nil).Into(t, http.StatusOK, &third)
	r.hook.Secret = third.Secret
	if got := verifies(); !slices.Equal(got, []bool{false, false, true}) {
		t.Errorf("after two rotations at once: %v", got)
	}
	w.api.Stranger().Call(http.MethodPost, path+"/rotate-secret", nil).Refused(t, 404, "not_found", "")
	w.api.Live().Call(http.MethodPost, path+"/rotate-secret", nil).Refused(t, 404, "not_found", "")
}

func TestTheLogOfDeliveries(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(200, 500), "*")
	begun := w.clock.Now()
	refs := []event.Ref{w.happen(event.ContentGenerated)}
	w.run()
	for range 4 {
		w.clock.Add(time.Minute)
		refs = append(refs, w.happen(event.ContentFailed))
	}
	w.run(w.clock.Now().Add(time.Second))
	path := "/v1/webhooks/" + r.hook.ID + "/deliveries"

	all := apitest.All[Delivery](w.api, path, 2)
	if len(all) != 5 {
		t.Fatalf("%d deliveries", len(all))
	}
	for i, d := range all {
		if want := refs[4-i]; d.EventID != want.ID || d.EventType != want.Type || d.WebhookID != r.hook.ID || len(d.Attempts) != 1 {
			t.Errorf("delivery %d: %+v", i, d)
		}
	}
	for query, want := range map[string]int{
		"state=delivered": 1, "state=pending": 4, "state=failed": 0,
		"from=" + begun.Add(time.Minute).Format(time.RFC3339):                 4,
		"to=" + begun.Add(time.Minute).Format(time.RFC3339):                   1,
		"state=pending&from=" + begun.Add(3*time.Minute).Format(time.RFC3339): 2,
	} {
		if got := apitest.All[Delivery](w.api, path+"?"+query, 3); len(got) != want {
			t.Errorf("%s: %d deliveries, want %d", query, len(got), want)
		}
	}
	raw := w.api.Call(http.MethodGet, path+"?state=pending", nil).Raw
	for _, secret := range []string{"claim", `"next"`, "failures", "secret"} {
		if strings.Contains(raw, secret) {
			t.Errorf("the answer shows %s: %s", secret, raw)
		}
	}
	w.api.Call(http.MethodGet, path+"?state=lost", nil).Refused(t, 422, "validation_failed", "state")
	w.api.Call(http.MethodGet, path+"?cursor=x", nil).Refused(t, 400, "invalid_cursor", "cursor")
	for _, other := range []*apitest.Caller{w.api.Stranger(), w.api.Live()} {
		other.Call(http.MethodGet, path, nil).Refused(t, 404, "not_found", "")
	}
	w.api.Call(http.MethodGet, "/v1/webhooks/"+id.New(id.Webhook, begun)+"/deliveries", nil).Refused(t, 404, "not_found", "")
}

// relay sends the jobs that calls have committed to their queues, as the relay does.
func (w *world) relay() {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] == job.Kind && !w.relayed[row["pk"]] {
			w.relayed[row["pk"]] = true
			var j job.Job
			if err := json.Unmarshal([]byte(row["doc"]), &j); err != nil {
				w.t.Fatal(err)
			}
			q := map[job.Queue]*fakeQueue{job.Deliver: w.attempts, job.Dispatch: w.events}[j.Queue]
			q.put(queue.Message{Body: row["doc"], Group: row["acc"]})
		}
	}
}

func TestRedeliver(t *testing.T) {
	w := newWorld(t)
	statuses := answers(500)
	r := w.receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "*")
	ref := w.happen(event.ContentGenerated)
	w.run()
	d := w.delivery(ref, r.hook.ID)
	path := "/v1/webhooks/" + r.hook.ID + "/deliveries/" + d.ID + "/redeliver"
	again := func() (got Delivery) {
		t.Helper()
		w.api.Call(http.MethodPost, path, nil).Into(t, http.StatusAccepted, &got)
		if got.ID != d.ID || got.State != "pending" || got.FailedReason != nil || got.NextAttemptAt == nil {
			t.Errorf("answered %+v", got)
		}
		w.relay()
		return got
	}

	// One that failed gets its whole schedule again.
	again()
	w.run(w.clock.Now().Add(10 * time.Second))
	if d = w.delivery(ref, r.hook.ID); d.State != "pending" || len(d.Attempts) != 10 || d.Failures != 2 {
		t.Errorf("delivery %+v", d)
	}
	// One that waits for a retry is attempted at once, however often that is asked.
	statuses = answers(200)
	again()
	again()
	w.run()
	if d = w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 11 {
		t.Errorf("delivery %+v", d)
	}
	// One that was delivered is delivered again.
	again()
	w.run()
	if d = w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 12 {
		t.Errorf("delivery %+v", d)
	}
	got := r.receipts()
	if len(got) != 12 {
		t.Errorf("%d requests", len(got))
	}
	for _, g := range got {
		if g.id != ref.ID {
			t.Errorf("webhook-id %s", g.id)
		}
	}

	other := r.hook.ID
	for _, bad := range []string{
		"/v1/webhooks/" + other + "/deliveries/x/redeliver",
		"/v1/webhooks/" + other + "/deliveries/" + id.New(id.Delivery, w.clock.Now()) + "/redeliver",
		"/v1/webhooks/" + id.New(id.Webhook, w.clock.Now()) + "/deliveries/" + d.ID + "/redeliver",
		"/v1/webhooks/x/deliveries/" + d.ID + "/redeliver",
	} {
		w.api.Call(http.MethodPost, bad, nil).Refused(t, 404, "not_found", "")
	}
	w.api.Stranger().Call(http.MethodPost, path, nil).Refused(t, 404, "not_found", "")
	w.api.Live().Call(http.MethodPost, path, nil).Refused(t, 404, "not_found", "")
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "disabled"})
	w.api.Call(http.MethodPost, path, nil).Refused(t, 409, "invalid_state", "")
	w.relay()
	if w.run(); len(r.receipts()) != 12 {
		t.Error("a refused call had an effect")
	}
}

func TestRedeliverWhileAnAttemptIsUnderWay(t *testing.T) {
	w := newWorld(t)
	var d delivery
	r := w.receive(nil, "*")
	r.plan = func(n int, _ http.ResponseWriter) {
		if n == 1 {
			d = w.deliveries(r.hook.ID)[0]
			w.api.Call(http.MethodPost, "/v1/webhooks/"+r.hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t, http.StatusAccepted, &Delivery{})
			w.relay()
		}
	}
	ref := w.happen(event.ContentGenerated)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || d.Claim != nil || len(r.receipts()) != 1 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestADeliveryKeepsTheLastAttempts(t *testing.T) {
	w := newWorld(t)
	hook := create(t, w.api, hookURL, "*")
	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	o, reason := w.owner(), "no"
	for i := range maxAttempts + 5 {
		it, err := w.db.Get(t.Context(), o.deliveryKey(hook.ID, w.delivery(ref, hook.ID).ID))
		if err != nil {
			t.Fatal(err)
		}
		d, err := readDelivery(&it)
		if err != nil {
			t.Fatal(err)
		}
		d.restart(time.Unix(int64(i), 0))
		attempt := Attempt{LatencyMS: int64(i), Error: &reason}
		d.record(outcome{Attempt: attempt}, time.Unix(int64(i), 0), time.Second)
		update, err := d.recorded(o, it.Version, attempt)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.UpdateAll(t.Context(), update)[0]; err != nil {
			t.Fatal(err)
		}
	}
	d := w.delivery(ref, hook.ID)
	if len(d.Attempts) != maxAttempts || d.Next != maxAttempts+6 {
		t.Errorf("delivery %+v", d)
	}
	for i, a := range d.Attempts {
		if a.LatencyMS != int64(i+5) {
			t.Errorf("attempt %d is %+v", i, a)
		}
	}
}
