package webhook

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

func TestAnEventArrivesSigned(t *testing.T) {
	w := newWorld(t)
	w.clock.Add(time.Since(w.clock.Now()).Truncate(time.Millisecond)) // the official library compares with now
	r := w.receive(func(_ int, rw http.ResponseWriter) { _, _ = rw.Write([]byte("thanks")) }, "content.*")
	ref := w.happen(event.ContentGenerated, media.File{ID: "f", Type: media.Image, MIMEType: "image/png", Key: "media/a.png", Bytes: 1})
	w.run()
	got := r.receipts()
	if len(got) != 1 {
		t.Fatalf("%d requests", len(got))
	}
	key, err := standardwebhooks.NewWebhook(r.hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Verify(got[0].body, got[0].header); err != nil {
		t.Error(err)
	}
	if err := key.Verify(append(got[0].body, ' '), got[0].header); err == nil {
		t.Error("another body has the same signature")
	}
	h := got[0].header
	if h.Get("User-Agent") != "ContentAutomation-Webhooks/1.0" || h.Get("Content-Type") != "application/json" || h.Get("webhook-id") != ref.ID ||
		h.Get("webhook-timestamp") != strconv.FormatInt(w.clock.Now().Unix(), 10) || h["Idempotency-Key"] != nil {
		t.Errorf("headers %v", h)
	}
	var body event.Event
	if err := json.Unmarshal(got[0].body, &body); err != nil {
		t.Fatal(err)
	}
	if body.ID != ref.ID || body.Type != ref.Type || body.AccountID != ref.Account || body.Mode != "test" || body.APIVersion != "v1" || !body.CreatedAt.Equal(w.clock.Now()) {
		t.Errorf("body %s", got[0].body)
	}
	var object struct {
		Text  string
		Media []media.View
	}
	if err := json.Unmarshal(body.Data.Object, &object); err != nil || object.Text != "a < b & ü" || len(object.Media) != 1 || !strings.Contains(object.Media[0].URL, "X-Amz-Signature=") {
		t.Errorf("body %s: %v", got[0].body, err)
	}
	d := w.delivery(ref, r.hook.ID)
	if d.State != "delivered" || d.NextAttemptAt != nil || d.FailedReason != nil || d.Claim != nil || len(d.Attempts) != 1 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; a.Status == nil || *a.Status != 200 || a.Error != nil || a.ResponseBody != "thanks" || !a.At.Equal(w.clock.Now()) {
		t.Errorf("attempt %+v", a)
	}
	if hook := w.webhook(r.hook.ID); hook.LastSuccessAt == nil || !hook.LastSuccessAt.Equal(w.clock.Now()) || hook.FailingSince != nil || hook.Version != 1 {
		t.Errorf("webhook %+v", hook)
	}
}

func TestTheScheduleOfRetries(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500), "content.generated")
	begun := w.clock.Now()
	ref := w.happen(event.ContentGenerated)
	w.run()
	var gaps []time.Duration
	at := begun
	for _, g := range r.receipts() {
		gaps = append(gaps, g.at.Sub(at))
		at = g.at
		if g.id != ref.ID {
			t.Errorf("webhook-id %s", g.id)
		}
	}
	want := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour}
	if len(gaps) != len(want) {
		t.Fatalf("attempts after %v", gaps)
	}
	for i := range want {
		if gaps[i] != want[i] {
			t.Errorf("attempts after %v, want %v", gaps, want)
			break
		}
	}
	d := w.delivery(ref, r.hook.ID)
	if d.State != "failed" || d.FailedReason == nil || *d.FailedReason != "exhausted" || len(d.Attempts) != 8 || d.NextAttemptAt != nil {
		t.Errorf("delivery %+v", d)
	}
	for _, a := range d.Attempts {
		if a.Status == nil || *a.Status != 500 || a.Error == nil || *a.Error != "The receiver answered 500 Internal Server Error." {
			t.Errorf("attempt %+v", a)
		}
	}
	for _, m := range w.attempts.sent {
		msg, err := parseMessage(m.Body)
		if err != nil || m.Group != r.hook.ID || msg.Attempt > 8 {
			t.Errorf("sent %+v", m)
		}
	}
	if hook := w.webhook(r.hook.ID); hook.State != "enabled" || hook.FailingSince == nil || !hook.FailingSince.Equal(begun) || hook.LastSuccessAt != nil {
		t.Errorf("webhook %+v", hook)
	}
}

func TestASuccessEndsTheRetries(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500, 302, 404, 204), "*")
	ref := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(6 * time.Minute))
	d := w.delivery(ref, r.hook.ID)
	if d.State != "pending" || len(d.Attempts) != 3 || d.NextAttemptAt == nil || !d.NextAttemptAt.Equal(d.Attempts[2].At.Add(30*time.Minute)) {
		t.Fatalf("delivery %+v", d)
	}
	if hook := w.webhook(r.hook.ID); hook.FailingSince == nil {
		t.Errorf("webhook %+v", hook)
	}
	w.run()
	d = w.delivery(ref, r.hook.ID)
	if d.State != "delivered" || len(d.Attempts) != 4 || !strings.Contains(*d.Attempts[1].Error, "redirect (302)") || d.Attempts[3].Error != nil {
		t.Errorf("delivery %+v", d)
	}
	if hook := w.webhook(r.hook.ID); hook.FailingSince != nil || hook.LastSuccessAt == nil {
		t.Errorf("webhook %+v", hook)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	w := newWorld(t)
	w.chance = 0 // no jitter upwards
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
	plan[1].after = w.clock.Now().Add(time.Hour).Format(http.TimeFormat)
	r := w.receive(func(n int, rw http.ResponseWriter) {
		rw.Header().Set("Retry-After", plan[n-1].after)
		rw.WriteHeader(plan[n-1].status)
	}, "*")
	begun := w.clock.Now()
	w.happen(event.ContentGenerated)
	w.run()
	got := r.receipts()
	if len(got) != 5 {
		t.Fatalf("%d requests", len(got))
	}
	low := func(d time.Duration) time.Duration { return d - d/10 }
	for i, want := range []time.Duration{0, time.Minute, time.Hour, time.Hour + low(30*time.Minute), time.Hour + low(30*time.Minute) + low(2*time.Hour)} {
		if at := got[i].at.Sub(begun); at != want {
			t.Errorf("attempt %d after %v, want %v", i+1, at, want)
		}
	}
}

func TestGoneDisablesTheWebhook(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500, 410), "*")
	watcher := w.receive(nil, "webhook.*")
	first := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(time.Second))
	second := w.happen(event.ContentFailed) // answered 410, while the first waits for its retry
	w.run()
	if d := w.delivery(second, r.hook.ID); d.State != "failed" || *d.FailedReason != "gone" || len(d.Attempts) != 1 {
		t.Errorf("delivery %+v", d)
	}
	if d := w.delivery(first, r.hook.ID); d.State != "failed" || *d.FailedReason != "webhook_disabled" || len(d.Attempts) != 1 || d.NextAttemptAt != nil {
		t.Errorf("delivery %+v", d)
	}
	hook := w.webhook(r.hook.ID)
	if hook.State != "disabled" || *hook.DisabledReason != "gone" || hook.Version != 2 {
		t.Errorf("webhook %+v", hook)
	}
	told := w.told(event.WebhookDisabled)
	if len(told) != 1 {
		t.Fatalf("%d events", len(told))
	}
	w.publish(event.RefOf(told[0]))
	third := w.happen(event.ContentGenerated)
	w.run()
	if got := w.deliveries(r.hook.ID); len(got) != 2 {
		t.Errorf("the disabled webhook got %s: %+v", third.ID, got)
	}
	got := watcher.receipts()
	if len(got) != 1 || !strings.Contains(string(got[0].body), r.hook.ID) || !strings.Contains(string(got[0].body), `"disabled_reason":"gone"`) || strings.Contains(string(got[0].body), "secret") {
		t.Errorf("the other webhook got %+v", got)
	}
}

func TestFiveDaysOfFailuresDisableTheWebhook(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500), "content.*")
	begun := w.clock.Now()
	for w.webhook(r.hook.ID).State == "enabled" {
		if w.clock.Now().Sub(begun) > 6*24*time.Hour {
			t.Fatal("six days have passed")
		}
		w.happen(event.ContentGenerated)
		w.run(w.clock.Now().Add(4 * time.Hour))
		w.clock.Add(time.Hour)
	}
	hook := w.webhook(r.hook.ID)
	if *hook.DisabledReason != "failing" || !hook.FailingSince.Equal(begun) || len(w.told(event.WebhookDisabled)) != 1 {
		t.Errorf("webhook %+v", hook)
	}
	if since := hook.UpdatedAt.Sub(begun); since < 5*24*time.Hour || since > 5*24*time.Hour+6*time.Hour {
		t.Errorf("disabled after %v", since)
	}
	w.run()
	for _, d := range w.deliveries(r.hook.ID) {
		if d.State != "failed" {
			t.Errorf("left over: %+v", d)
		}
	}
	if n := len(w.told(event.WebhookDisabled)); n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestOneSuccessKeepsTheWebhook(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500), "content.*")
	begun := w.clock.Now()
	w.happen(event.ContentGenerated)
	w.run()
	w.clock.Add(begun.Add(4 * 24 * time.Hour).Sub(w.clock.Now()))
	r.plan = answers(200)
	w.happen(event.ContentGenerated)
	w.run()
	r.plan = answers(500)
	w.clock.Add(3 * 24 * time.Hour)
	w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(time.Minute))
	if hook := w.webhook(r.hook.ID); hook.State != "enabled" || hook.FailingSince.Sub(begun) < 6*24*time.Hour {
		t.Errorf("webhook %+v", hook)
	}
}

func TestSuccessesWriteTheWebhookOnceAMinute(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	version := func() int64 {
		it, err := w.db.Get(t.Context(), w.owner().webhookKey(r.hook.ID))
		if err != nil {
			t.Fatal(err)
		}
		return it.Version
	}
	before := version()
	for range 20 {
		w.happen(event.ContentGenerated)
	}
	w.run()
	w.clock.Add(59 * time.Second)
	w.happen(event.ContentGenerated)
	w.run()
	if got := version() - before; got != 1 {
		t.Errorf("%d writes for the first minute", got)
	}
	w.clock.Add(time.Second)
	w.happen(event.ContentGenerated)
	w.run()
	if got := version() - before; got != 2 {
		t.Errorf("%d writes for two minutes", got)
	}
	if len(r.receipts()) != 22 {
		t.Errorf("%d requests", len(r.receipts()))
	}
}

func TestDeliveriesThatNobodyWaitsFor(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*world, event.Ref, *receiver)
		reason    string
	}{
		"disabled": {func(w *world, _ event.Ref, r *receiver) {
			w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "disabled"})
		}, "webhook_disabled"},
		"deleted": {func(w *world, _ event.Ref, r *receiver) {
			w.api.Call(http.MethodDelete, "/v1/webhooks/"+r.hook.ID, nil)
		}, "webhook_deleted"},
		"expired": {func(w *world, ref event.Ref, _ *receiver) {
			it, err := w.db.Get(w.t.Context(), store.IDKey(ref.ID))
			if err != nil {
				w.t.Fatal(err)
			}
			tx := &store.Tx{}
			tx.Delete(it)
			if err := w.db.Commit(w.t.Context(), tx); err != nil {
				w.t.Fatal(err)
			}
		}, "event_expired"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.receive(answers(500), "*")
			ref := w.happen(event.ContentGenerated)
			w.run(w.clock.Now().Add(time.Second))
			c.meanwhile(w, ref, r)
			w.run()
			if d := w.delivery(ref, r.hook.ID); d.State != "failed" || d.FailedReason == nil || *d.FailedReason != c.reason || len(d.Attempts) != 1 {
				t.Errorf("delivery %+v", d)
			}
			if n := len(r.receipts()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestAnotherAddressGetsTheRetries(t *testing.T) {
	w := newWorld(t)
	old := w.receive(answers(500), "content.*")
	ref := w.happen(event.ContentGenerated)
	w.run(w.clock.Now().Add(time.Second))
	other := w.receive(nil, "balance.low")
	other.hook.Secret = old.hook.Secret
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+old.hook.ID, map[string]any{"url": other.server.URL})
	w.run()
	if len(old.receipts()) != 1 || len(other.receipts()) != 1 || w.delivery(ref, old.hook.ID).State != "delivered" {
		t.Errorf("%d and %d requests", len(old.receipts()), len(other.receipts()))
	}
}

func TestOneBadMessageDoesNotHoldBackTheOthers(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.put(queue.Message{Body: "{"})
	w.attempts.put(queue.Message{Body: `{"subject":"dlv_1"}`})
	var batch events.SQSEvent
	for _, m := range w.attempts.messages {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.id, Body: m.body})
	}
	out, err := w.deliverer.Handle(t.Context(), batch)
	if err != nil || len(out.BatchItemFailures) != 2 || out.BatchItemFailures[0].ItemIdentifier != "m2" || len(r.receipts()) != 1 {
		t.Errorf("%+v, %v, %d requests", out, err, len(r.receipts()))
	}
	out, err = w.deliverer.Handle(t.Context(), events.SQSEvent{})
	if b, _ := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", b, err)
	}
}

func TestALargeBatchIsReadInParts(t *testing.T) {
	w := newWorld(t)
	w.maxBatch = 100
	r := w.receive(nil, "*")
	for range 80 { // 80 events, 80 deliveries and a webhook: more than one call reads
		w.happen(event.ContentGenerated)
	}
	w.run()
	if len(r.receipts()) != 80 {
		t.Errorf("%d requests", len(r.receipts()))
	}
	for _, d := range w.deliveries(r.hook.ID) {
		if d.State != "delivered" {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestAMessageForADeliveryThatIsGone(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	it, err := w.db.Get(t.Context(), w.owner().deliveryKey(r.hook.ID, w.delivery(ref, r.hook.ID).ID))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := w.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.run()
	if len(r.receipts()) != 0 || len(w.attempts.messages) != 0 {
		t.Errorf("%d requests, %d messages", len(r.receipts()), len(w.attempts.messages))
	}
}

func TestAHopThatFailsComesAgain(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500, 500, 500, 200), "*")
	refused := 0
	w.attempts.refuse = func(m queue.Message) error {
		if refused++; refused%2 == 0 {
			return errors.New("not now")
		}
		return nil
	}
	ref := w.happen(event.ContentGenerated)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 4 || len(r.receipts()) != 4 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}
