package webhook_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

// fakeSender is the AWS accounts of customers. plan answers the n-th attempt,
// counted from 1; nil: it takes everything.
type fakeSender struct {
	plan func(n int) webhook.AWSAnswer

	mu   sync.Mutex
	to   []webhook.AWSTarget
	sent []webhook.SignedEvent
	time []time.Duration // that was left for each attempt
}

// Send implements AWSSender.
func (f *fakeSender) Send(ctx context.Context, to webhook.AWSTarget, e webhook.SignedEvent) webhook.AWSAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	deadline, _ := ctx.Deadline()
	f.to, f.sent, f.time = append(f.to, to), append(f.sent, e), append(f.time, time.Until(deadline))
	if f.plan != nil {
		return f.plan(len(f.sent))
	}
	ok := http.StatusOK
	return webhook.AWSAnswer{Status: &ok, Body: `{"MessageId":"m"}`}
}

// refusal is an answer that asks to mend something.
func rejected() webhook.AWSAnswer {
	status := http.StatusForbidden
	return webhook.AWSAnswer{Status: &status, Body: strings.Repeat("ü", webhook.KeptBody), Error: "The role may not."}
}

func TestAnAccountGetsWhatAnAddressGets(t *testing.T) {
	w := deliverNewWorld(t)
	f := &fakeSender{}
	w.Deliverer.AWS = f
	wh := webhooktest.Aim(t, w.API)
	ref := w.Happen(event.ContentGenerated)
	w.Clock.Add(time.Minute)
	w.Run()
	if len(f.sent) != 1 {
		t.Fatalf("%d sent", len(f.sent))
	}
	if want := (webhook.AWSTarget{webhook.KindSQS, webhooktest.QueueARN, webhooktest.RoleARN,
		wh.Destination.ExternalID, wh.ID}); f.to[0] != want {
		t.Errorf("sent to %+v", f.to[0])
	}
	if left := f.time[0]; left > webhook.AttemptTimeout || left < webhook.AttemptTimeout-5*time.Second {
		t.Errorf("%v left", left)
	}
	e := f.sent[0]
	if e.Type != string(event.ContentGenerated) || !e.At.Equal(w.Clock.Now().Add(-time.Minute)) {
		t.Errorf("sent %+v", e)
	}
	headers := http.Header{}
	for name, value := range e.Headers {
		headers.Set(name, value)
	}
	verifier, err := standardwebhooks.NewWebhook(wh.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.VerifyIgnoringTimestamp(e.Body, headers); err != nil || headers.Get("webhook-id") != ref.ID ||
		headers.Get("webhook-endpoint-id") != wh.ID || headers.Get("webhook-request-id") != "req-1" {
		t.Errorf("headers %v: %v", e.Headers, err)
	}
	d := w.Delivery(ref, wh.ID)
	if d.State != "delivered" || len(d.Attempts) != 1 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; *a.Status != 200 || a.Error != nil || a.ResponseBody != `{"MessageId":"m"}` ||
		!a.At.Equal(w.Clock.Now()) {
		t.Errorf("attempt %+v", a)
	}
	if got := w.Webhook(wh.ID); got.LastSuccessAt == nil || got.LatencyMS == nil || got.LatencyMS.Count != 1 {
		t.Errorf("webhook %+v", got)
	}
	var read webhook.DeliveryDetails
	w.API.Call(http.MethodGet, "/v1/webhooks/"+wh.ID+"/deliveries/"+d.ID, nil).Into(t, http.StatusOK, &read)
	if q := read.Request; q == nil || q.Address != webhooktest.QueueARN || !maps.Equal(q.Headers, e.Headers) ||
		q.Body == nil || *q.Body != string(e.Body) {
		t.Errorf("request %+v", q)
	}
	// Both secrets sign while one rotates.
	w.API.Call(http.MethodPost, "/v1/webhooks/"+wh.ID+"/rotate-secret", nil).Into(t, http.StatusOK,
		&webhook.NewWebhook{})
	w.API.Call(http.MethodPost, "/v1/webhooks/"+wh.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t,
		http.StatusAccepted, &webhook.Delivery{})
	w.Relay()
	w.Run()
	if len(f.sent) != 2 || len(strings.Fields(f.sent[1].Headers["webhook-signature"])) != 2 ||
		f.sent[1].Headers["webhook-id"] != ref.ID {
		t.Errorf("%d sent: %+v", len(f.sent), f.sent)
	}
}

func TestAnAccountIsTriedAgainAndGivenUp(t *testing.T) {
	w := deliverNewWorld(t)
	f := &fakeSender{plan: func(int) webhook.AWSAnswer { return rejected() }}
	w.Deliverer.AWS = f
	wh := webhooktest.Aim(t, w.API)
	others := w.Receive(nil, "webhook.disabled")
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	d := w.Delivery(ref, wh.ID)
	if d.State != "failed" || *d.FailedReason != "exhausted" || len(d.Attempts) != 8 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; *a.Status != 403 || *a.Error != "The role may not." ||
		len(a.ResponseBody) != webhook.KeptBody {
		t.Errorf("attempt %+v, %d bytes kept", a, len(a.ResponseBody))
	}
	if got := w.Webhook(wh.ID); got.FailingSince == nil || got.State != "enabled" {
		t.Errorf("webhook %+v", got)
	}
	w.Clock.Add(webhook.FailingLimit)
	w.Happen(event.ContentGenerated)
	w.Run()
	if got := w.Webhook(wh.ID); got.State != "disabled" || *got.DisabledReason != "failing" {
		t.Errorf("webhook %+v", got)
	}
	told := w.Told(event.WebhookDisabled)
	if len(told) != 1 {
		t.Fatalf("%d events tell of it", len(told))
	}
	w.Publish(event.RefOf(told[0]))
	w.Run()
	got := others.Receipts()
	if len(got) != 1 {
		t.Fatalf("%d told", len(got))
	}
	var body struct {
		Data struct{ Object webhook.Webhook }
	}
	if err := json.Unmarshal(got[0].Body, &body); err != nil || body.Data.Object.ID != wh.ID ||
		*body.Data.Object.Destination != *wh.Destination || strings.Contains(string(got[0].Body), "secret") {
		t.Errorf("told %s, %v", got[0].Body, err)
	}
}

func TestAnAccountThatDoesNotAnswer(t *testing.T) {
	w := deliverNewWorld(t)
	w.Deliverer.AWS = &fakeSender{plan: func(n int) webhook.AWSAnswer {
		if n == 1 {
			return webhook.AWSAnswer{Error: "AWS did not answer in time."}
		}
		ok := http.StatusOK
		return webhook.AWSAnswer{Status: &ok}
	}}
	wh := webhooktest.Aim(t, w.API)
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	if d := w.Delivery(ref, wh.ID); d.State != "delivered" || len(d.Attempts) != 2 || d.Attempts[0].Status != nil ||
		*d.Attempts[0].Error != "AWS did not answer in time." {
		t.Errorf("delivery %+v", d)
	}
}
