package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/content-automation/api/pkg/event"
)

// fakeSender is the AWS accounts of customers. plan answers the n-th attempt,
// counted from 1; nil: it takes everything.
type fakeSender struct {
	plan func(n int) AWSAnswer

	mu   sync.Mutex
	to   []AWSTarget
	sent []SignedEvent
	time []time.Duration // that was left for each attempt
}

// Send implements AWSSender.
func (f *fakeSender) Send(ctx context.Context, to AWSTarget, e SignedEvent) AWSAnswer {
	f.mu.Lock()
	defer f.mu.Unlock()
	deadline, _ := ctx.Deadline()
	f.to, f.sent, f.time = append(f.to, to), append(f.sent, e), append(f.time, time.Until(deadline))
	if f.plan != nil {
		return f.plan(len(f.sent))
	}
	ok := http.StatusOK
	return AWSAnswer{Status: &ok, Body: `{"MessageId":"m"}`}
}

// refusal is an answer that asks to mend something.
func refusal() AWSAnswer {
	status := http.StatusForbidden
	return AWSAnswer{Status: &status, Body: strings.Repeat("ü", keptBody), Error: "The role may not."}
}

func TestAnAccountGetsWhatAnAddressGets(t *testing.T) {
	w := newWorld(t)
	f := &fakeSender{}
	w.deliverer.aws = f
	hook := aim(t, w.api)
	ref := w.happen(event.ContentGenerated)
	w.clock.Add(time.Minute)
	w.run()
	if len(f.sent) != 1 {
		t.Fatalf("%d sent", len(f.sent))
	}
	if want := (AWSTarget{TypeSQS, queueARN, roleARN, hook.Destination.ExternalID, hook.ID}); f.to[0] != want {
		t.Errorf("sent to %+v", f.to[0])
	}
	if left := f.time[0]; left > attemptTimeout || left < attemptTimeout-5*time.Second {
		t.Errorf("%v left", left)
	}
	e := f.sent[0]
	if e.Type != string(event.ContentGenerated) || !e.At.Equal(w.clock.Now().Add(-time.Minute)) {
		t.Errorf("sent %+v", e)
	}
	headers := http.Header{}
	for name, value := range e.Headers {
		headers.Set(name, value)
	}
	verifier, err := standardwebhooks.NewWebhook(hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.VerifyIgnoringTimestamp(e.Body, headers); err != nil || headers.Get("webhook-id") != ref.ID {
		t.Errorf("headers %v: %v", e.Headers, err)
	}
	d := w.delivery(ref, hook.ID)
	if d.State != "delivered" || len(d.Attempts) != 1 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; *a.Status != 200 || a.Error != nil || a.ResponseBody != `{"MessageId":"m"}` || !a.At.Equal(w.clock.Now()) {
		t.Errorf("attempt %+v", a)
	}
	if got := w.webhook(hook.ID); got.LastSuccessAt == nil || got.LatencyMS == nil || got.LatencyMS.Count != 1 {
		t.Errorf("webhook %+v", got)
	}
	// Both secrets sign while one rotates.
	w.api.Call(http.MethodPost, "/v1/webhooks/"+hook.ID+"/rotate-secret", nil).Into(t, http.StatusOK, &NewWebhook{})
	w.api.Call(http.MethodPost, "/v1/webhooks/"+hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t, http.StatusAccepted, &Delivery{})
	w.relay()
	w.run()
	if len(f.sent) != 2 || len(strings.Fields(f.sent[1].Headers["webhook-signature"])) != 2 || f.sent[1].Headers["webhook-id"] != ref.ID {
		t.Errorf("%d sent: %+v", len(f.sent), f.sent)
	}
}

func TestAnAccountIsTriedAgainAndGivenUp(t *testing.T) {
	w := newWorld(t)
	f := &fakeSender{plan: func(int) AWSAnswer { return refusal() }}
	w.deliverer.aws = f
	hook := aim(t, w.api)
	others := w.receive(nil, "webhook.disabled")
	ref := w.happen(event.ContentGenerated)
	w.run()
	d := w.delivery(ref, hook.ID)
	if d.State != "failed" || *d.FailedReason != "exhausted" || len(d.Attempts) != 8 {
		t.Fatalf("delivery %+v", d)
	}
	if a := d.Attempts[0]; *a.Status != 403 || *a.Error != "The role may not." || len(a.ResponseBody) != keptBody {
		t.Errorf("attempt %+v, %d bytes kept", a, len(a.ResponseBody))
	}
	if got := w.webhook(hook.ID); got.FailingSince == nil || got.State != "enabled" {
		t.Errorf("webhook %+v", got)
	}
	w.clock.Add(failingLimit)
	w.happen(event.ContentGenerated)
	w.run()
	if got := w.webhook(hook.ID); got.State != "disabled" || *got.DisabledReason != "failing" {
		t.Errorf("webhook %+v", got)
	}
	told := w.told(event.WebhookDisabled)
	if len(told) != 1 {
		t.Fatalf("%d events tell of it", len(told))
	}
	w.publish(event.RefOf(told[0]))
	w.run()
	got := others.receipts()
	if len(got) != 1 {
		t.Fatalf("%d told", len(got))
	}
	var body struct{ Data struct{ Object Webhook } }
	if err := json.Unmarshal(got[0].body, &body); err != nil || body.Data.Object.ID != hook.ID || *body.Data.Object.Destination != *hook.Destination || strings.Contains(string(got[0].body), "secret") {
		t.Errorf("told %s, %v", got[0].body, err)
	}
}

func TestAnAccountThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.deliverer.aws = &fakeSender{plan: func(n int) AWSAnswer {
		if n == 1 {
			return AWSAnswer{Error: "AWS did not answer in time."}
		}
		ok := http.StatusOK
		return AWSAnswer{Status: &ok}
	}}
	hook := aim(t, w.api)
	ref := w.happen(event.ContentGenerated)
	w.run()
	if d := w.delivery(ref, hook.ID); d.State != "delivered" || len(d.Attempts) != 2 || d.Attempts[0].Status != nil || *d.Attempts[0].Error != "AWS did not answer in time." {
		t.Errorf("delivery %+v", d)
	}
}

// SQS refuses U+FFFE and U+FFFF, which JSON takes.
func TestCharactersThatQueuesRefuse(t *testing.T) {
	const text = "a\uFFFEb\uFFFFc\uFFFDü😀"
	raw, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	escaped := withoutNoncharacters(raw)
	var back string
	if err := json.Unmarshal(escaped, &back); err != nil || back != text || strings.ContainsAny(string(escaped), "\uFFFE\uFFFF") {
		t.Errorf("%s became %s, %v", raw, escaped, err)
	}
}
