package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// One event failed for good. Six days later, a moment in which the receiver is down does not disable the webhook.
func TestAReceiverOfRareEventsIsNotDisabledAtOnce(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		if n <= len(webhook.Schedule)+2 {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}, "*")
	first := w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(6 * 24 * time.Hour)
	second := w.Happen(event.ContentGenerated)
	w.Run()
	if got := w.Delivery(first, r.Hook.ID); got.State != "failed" {
		t.Errorf("the first delivery is %s", got.State)
	}
	got, wh := w.Delivery(second, r.Hook.ID), w.Webhook(r.Hook.ID)
	if got.State != "delivered" || wh.State != "enabled" || wh.FailingSince != nil {
		t.Errorf("the second delivery is %s, and the webhook %+v", got.State, wh)
	}
}

// A delivery that failed for good is sent again six days later: its age is that of the new schedule.
func TestARedeliveryDoesNotDisableAtOnce(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		if n <= len(webhook.Schedule)+2 {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}, "*")
	first := w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(6 * 24 * time.Hour)
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+w.Delivery(first, r.Hook.ID).ID+"/redeliver",
		nil).Into(t, http.StatusAccepted, &webhook.Delivery{})
	w.Relay()
	w.Run()
	got, wh := w.Delivery(first, r.Hook.ID), w.Webhook(r.Hook.ID)
	if got.State != "delivered" || wh.State != "enabled" {
		t.Errorf("the delivery is %s, and the webhook %+v", got.State, wh)
	}
}

func TestAnEventArrivesSigned(t *testing.T) {
	w := deliverNewWorld(t)
	w.Clock.Add(time.Since(w.Clock.Now()).Truncate(time.Millisecond)) // the official library compares with now
	r := w.Receive(func(_ int, rw http.ResponseWriter) { _, _ = rw.Write([]byte("thanks")) }, "content.*")
	ref := w.Happen(event.ContentGenerated, media.File{ID: "f", Type: media.Image, MIMEType: "image/png",
		Key: "media/a.png", Bytes: 1})
	w.Run()
	got := r.Receipts()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	key, err := standardwebhooks.NewWebhook(r.Hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Verify(got[0].Body, got[0].Header); err != nil {
		t.Error(err)
	}
	if err := key.Verify(append(got[0].Body, ' '), got[0].Header); err == nil {
		t.Error("another body has the same signature")
	}
	h := got[0].Header
	if h.Get("User-Agent") != "ContentAutomation-Webhooks/1.0" || h.Get("Content-Type") != "application/json" ||
		h.Get("webhook-id") != ref.ID || h.Get("webhook-endpoint-id") != r.Hook.ID ||
		h.Get("webhook-request-id") != "req-1" ||
		h.Get("webhook-timestamp") != strconv.FormatInt(w.Clock.Now().Unix(), 10) || h["Idempotency-Key"] != nil {
		t.Errorf("headers %v", h)
	}
	var body event.Event
	if err := json.Unmarshal(got[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	if body.ID != ref.ID || body.Type != ref.Type || body.AccountID != ref.Account || body.Mode != "test" ||
		body.APIVersion != "v1" || !body.CreatedAt.Equal(w.Clock.Now()) {
		t.Errorf("body %s", got[0].Body)
	}
	var object struct {
		Text  string
		Media []media.View
	}
	if err := json.Unmarshal(body.Data.Object, &object); err != nil || object.Text != "a < b & ü" ||
		len(object.Media) != 1 || !strings.Contains(object.Media[0].URL, "X-Amz-Signature=") {
		t.Errorf("body %s: %v", got[0].Body, err)
	}
	d := w.Delivery(ref, r.Hook.ID)
	if d.State != "delivered" || d.NextAttemptAt != nil || d.FailedReason != nil || d.Lease != nil ||
		len(d.Attempts) != 1 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; a.Status == nil || *a.Status != 200 || a.Error != nil || a.ResponseBody != "thanks" ||
		!a.At.Equal(w.Clock.Now()) {
		t.Errorf("attempt %+v", a)
	}
	if wh := w.Webhook(r.Hook.ID); wh.LastSuccessAt == nil || !wh.LastSuccessAt.Equal(w.Clock.Now()) ||
		wh.FailingSince != nil || wh.Version != 1 {
		t.Errorf("webhook %+v", wh)
	}
}

func TestTheScheduleOfRetries(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500), "content.generated")
	begun := w.Clock.Now()
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	var gaps []time.Duration
	at := begun
	for _, g := range r.Receipts() {
		gaps = append(gaps, g.At.Sub(at))
		at = g.At
		if g.ID != ref.ID {
			t.Errorf("webhook-id %s", g.ID)
		}
	}
	want := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 10 * time.Hour}
	if len(gaps) != len(want) {
		t.Fatalf("attempts after %v", gaps)
	}
	for i := range want {
		if gaps[i] != want[i] {
			t.Errorf("attempts after %v, want %v", gaps, want)
			break
		}
	}
	d := w.Delivery(ref, r.Hook.ID)
	if d.State != "failed" || d.FailedReason == nil || *d.FailedReason != "exhausted" || len(d.Attempts) != 8 ||
		d.NextAttemptAt != nil {
		t.Errorf("delivery %+v", d)
	}
	for _, a := range d.Attempts {
		if a.Status == nil || *a.Status != 500 || a.Error == nil ||
			*a.Error != "The receiver answered 500 Internal Server Error." {
			t.Errorf("attempt %+v", a)
		}
	}
	for _, m := range w.Attempts.Sent {
		if m.Group != r.Hook.ID {
			t.Errorf("sent %+v", m)
		}
	}
	if wh := w.Webhook(r.Hook.ID); wh.State != "enabled" || wh.FailingSince == nil || !wh.FailingSince.Equal(begun) ||
		wh.LastSuccessAt != nil {
		t.Errorf("webhook %+v", wh)
	}
}

func TestASuccessEndsTheRetries(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500, 302, 404, 204), "*")
	ref := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(6 * time.Minute))
	d := w.Delivery(ref, r.Hook.ID)
	if d.State != "pending" || len(d.Attempts) != 3 || d.NextAttemptAt == nil ||
		!d.NextAttemptAt.Equal(d.Attempts[2].At.Add(30*time.Minute)) {
		t.Fatalf("delivery %+v", d)
	}
	if wh := w.Webhook(r.Hook.ID); wh.FailingSince == nil {
		t.Errorf("webhook %+v", wh)
	}
	w.Run()
	d = w.Delivery(ref, r.Hook.ID)
	if d.State != "delivered" || len(d.Attempts) != 4 || !strings.Contains(*d.Attempts[1].Error, "redirect (302)") ||
		d.Attempts[3].Error != nil {
		t.Errorf("delivery %+v", d)
	}
	if wh := w.Webhook(r.Hook.ID); wh.FailingSince != nil || wh.LastSuccessAt == nil {
		t.Errorf("webhook %+v", wh)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	w := deliverNewWorld(t)
	w.Chance = 0 // no jitter upwards
	plan := []struct {
		status int
		after  string
	}{
		{429, "60"}, // more than 5 s
		{503, ""},   // filled with a date below: in one hour
		{503, "1"},  // less than 30 min
		{500, "90000"},
		{200, ""},
	}
	plan[1].after = w.Clock.Now().Add(time.Hour).Format(http.TimeFormat)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		rw.Header().Set("Retry-After", plan[n-1].after)
		rw.WriteHeader(plan[n-1].status)
	}, "*")
	begun := w.Clock.Now()
	w.Happen(event.ContentGenerated)
	w.Run()
	got := r.Receipts()
	if len(got) != 5 {
		t.Fatalf("%d requests", len(got))
	}
	low := func(d time.Duration) time.Duration { return d - d/10 }
	for i, want := range []time.Duration{0, time.Minute, time.Hour, time.Hour + low(30*time.Minute),
		time.Hour + low(30*time.Minute) + low(2*time.Hour)} {
		if at := got[i].At.Sub(begun); at != want {
			t.Errorf("attempt %d after %v, want %v", i+1, at, want)
		}
	}
}

func TestGoneDisablesTheWebhook(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500, 410), "*")
	watcher := w.Receive(nil, "webhook.*")
	first := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Second))
	second := w.Happen(event.ContentFailed) // answered 410, while the first waits for its retry
	w.Run()
	if d := w.Delivery(second, r.Hook.ID); d.State != "failed" || *d.FailedReason != "gone" || len(d.Attempts) != 1 {
		t.Errorf("delivery %+v", d)
	}
	if d := w.Delivery(first, r.Hook.ID); d.State != "failed" || *d.FailedReason != "webhook_disabled" ||
		len(d.Attempts) != 1 || d.NextAttemptAt != nil {
		t.Errorf("delivery %+v", d)
	}
	wh := w.Webhook(r.Hook.ID)
	if wh.State != "disabled" || *wh.DisabledReason != "gone" || wh.Version != 2 {
		t.Errorf("webhook %+v", wh)
	}
	told := w.Told(event.WebhookDisabled)
	if len(told) != 1 {
		t.Fatalf("%d events", len(told))
	}
	w.Publish(event.RefOf(told[0]))
	third := w.Happen(event.ContentGenerated)
	w.Run()
	if got := w.Deliveries(r.Hook.ID); len(got) != 2 {
		t.Errorf("the disabled webhook got %s: %+v", third.ID, got)
	}
	got := watcher.Receipts()
	if len(got) != 1 || !strings.Contains(string(got[0].Body), r.Hook.ID) || !strings.Contains(string(got[0].Body),
		`"disabled_reason":"gone"`) || strings.Contains(string(got[0].Body), "secret") {
		t.Errorf("the other webhook got %+v", got)
	}
}

func TestFiveDaysOfFailuresDisableTheWebhook(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500), "content.*")
	begun := w.Clock.Now()
	for w.Webhook(r.Hook.ID).State == "enabled" {
		if w.Clock.Now().Sub(begun) > 6*24*time.Hour {
			t.Fatal("six days have passed")
		}
		w.Happen(event.ContentGenerated)
		w.Run(w.Clock.Now().Add(4 * time.Hour))
		w.Clock.Add(time.Hour)
	}
	wh := w.Webhook(r.Hook.ID)
	if *wh.DisabledReason != "failing" || !wh.FailingSince.Equal(begun) || len(w.Told(event.WebhookDisabled)) != 1 {
		t.Errorf("webhook %+v", wh)
	}
	if since := wh.UpdatedAt.Sub(begun); since < 5*24*time.Hour || since > 5*24*time.Hour+6*time.Hour {
		t.Errorf("disabled after %v", since)
	}
	w.Run()
	for _, d := range w.Deliveries(r.Hook.ID) {
		if d.State != "failed" {
			t.Errorf("left over: %+v", d)
		}
	}
	if n := len(w.Told(event.WebhookDisabled)); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestOneSuccessKeepsTheWebhook(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500), "content.*")
	begun := w.Clock.Now()
	w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(begun.Add(4 * 24 * time.Hour).Sub(w.Clock.Now()))
	r.Plan = deliverAnswers(200)
	w.Happen(event.ContentGenerated)
	w.Run()
	r.Plan = deliverAnswers(500)
	w.Clock.Add(3 * 24 * time.Hour)
	w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Minute))
	if wh := w.Webhook(r.Hook.ID); wh.State != "enabled" || wh.FailingSince.Sub(begun) < 6*24*time.Hour {
		t.Errorf("webhook %+v", wh)
	}
}

func TestSuccessesWriteTheWebhookOnceAMinute(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	version := func() int64 {
		it, err := w.DB.Get(t.Context(), w.Ref(r.Hook.ID).Key())
		if err != nil {
			t.Fatal(err)
		}
		return it.Version
	}
	before := version()
	for range 20 {
		w.Happen(event.ContentGenerated)
	}
	w.Run()
	w.Clock.Add(59 * time.Second)
	w.Happen(event.ContentGenerated)
	w.Run()
	if got := version() - before; got != 1 {
		t.Errorf("%d writes for the first minute", got)
	}
	w.Clock.Add(time.Second)
	w.Happen(event.ContentGenerated)
	w.Run()
	if got := version() - before; got != 2 {
		t.Errorf("%d writes for two minutes", got)
	}
	if len(r.Receipts()) != 22 {
		t.Errorf("%d requests", len(r.Receipts()))
	}
}

func TestDeliveriesThatNobodyWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*deliverWorld, event.Ref, *webhooktest.Receiver)
		reason    string
	}{
		"disabled": {func(w *deliverWorld, _ event.Ref, r *webhooktest.Receiver) {
			w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
		}, "webhook_disabled"},
		"deleted": {func(w *deliverWorld, _ event.Ref, r *webhooktest.Receiver) {
			w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
		}, "webhook_deleted"},
		"expired": {func(w *deliverWorld, ref event.Ref, _ *webhooktest.Receiver) {
			it, err := w.DB.Get(w.T.Context(), store.IDKey(ref.ID))
			if err != nil {
				w.T.Fatal(err)
			}
			tx := &store.Tx{}
			tx.Delete(it)
			if err := w.DB.Commit(w.T.Context(), tx); err != nil {
				w.T.Fatal(err)
			}
		}, "event_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			w := deliverNewWorld(t)
			r := w.Receive(deliverAnswers(500), "*")
			ref := w.Happen(event.ContentGenerated)
			w.Run(w.Clock.Now().Add(time.Second))
			c.meanwhile(w, ref, r)
			w.Run()
			if d := w.Delivery(ref, r.Hook.ID); d.State != "failed" || d.FailedReason == nil ||
				*d.FailedReason != c.reason || len(d.Attempts) != 1 {
				t.Errorf("delivery %+v", d)
			}
			if n := len(r.Receipts()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestAnotherAddressGetsTheRetries(t *testing.T) {
	w := deliverNewWorld(t)
	old := w.Receive(deliverAnswers(500), "content.*")
	ref := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Second))
	other := w.Receive(nil, "balance.low")
	other.Hook.Secret = old.Hook.Secret
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+old.Hook.ID, map[string]any{"url": other.Server.URL})
	w.Run()
	if len(old.Receipts()) != 1 || len(other.Receipts()) != 1 || w.Delivery(ref, old.Hook.ID).State != "delivered" {
		t.Errorf("%d and %d requests", len(old.Receipts()), len(other.Receipts()))
	}
}

func TestOneBadMessageDoesNotHoldBackTheOthers(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Put(queue.Message{Body: "{"})
	w.Attempts.Put(queue.Message{Body: `{"subject":"dlv_1"}`})
	var batch events.SQSEvent
	for _, m := range w.Attempts.Messages {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.ID, Body: m.Body})
	}
	out, err := w.Deliverer.Handle(t.Context(), batch)
	if err != nil || len(out.BatchItemFailures) != 2 || out.BatchItemFailures[0].ItemIdentifier != "m2" ||
		len(r.Receipts()) != 1 {
		t.Errorf("%+v, %v, %d requests", out, err, len(r.Receipts()))
	}
	out, err = w.Deliverer.Handle(t.Context(), events.SQSEvent{})
	if b, _ := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", b, err)
	}
}

func TestALargeBatchIsReadInParts(t *testing.T) {
	w := deliverNewWorld(t)
	w.MaxBatch = 100
	r := w.Receive(nil, "*")
	for range 80 { // 80 events, 80 deliveries and a webhook: more than one call reads
		w.Happen(event.ContentGenerated)
	}
	w.Run()
	if len(r.Receipts()) != 80 {
		t.Errorf("%d requests", len(r.Receipts()))
	}
	for _, d := range w.Deliveries(r.Hook.ID) {
		if d.State != "delivered" {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestAMessageForADeliveryThatIsGone(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	it, err := w.DB.Get(t.Context(), w.Ref(r.Hook.ID).DeliveryKey(w.Delivery(ref, r.Hook.ID).ID))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Run()
	if len(r.Receipts()) != 0 || len(w.Attempts.Messages) != 0 {
		t.Errorf("%d requests, %d messages", len(r.Receipts()), len(w.Attempts.Messages))
	}
}

func TestAHopThatFailsComesAgain(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(deliverAnswers(500, 500, 500, 200), "*")
	refused := 0
	w.Attempts.Reject = func(m queue.Message) error {
		if refused++; refused%2 == 0 {
			return errors.New("not now")
		}
		return nil
	}
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 4 || len(r.Receipts()) != 4 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

// An attempt that the end of the function would cut off does not begin, and is made by the next function.
func TestAnAttemptBeginsInTime(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(func(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
		ctx, cancel := context.WithTimeout(ctx, webhook.AttemptTimeout)
		defer cancel()
		return w.Deliverer.Handle(ctx, in)
	})
	if n := len(r.Receipts()); n != 0 {
		t.Errorf("%d attempts begin without the time for them", n)
	}
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered || len(d.Attempts) != 1 {
		t.Errorf("delivery %+v", d)
	}
}
