package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/webhooktest"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/task/queue"
)

func TestAnEventGetsADeliveryForEachWebhookThatWantsIt(t *testing.T) {
	w := newWorld(t)
	exact := create(t, w.API, hookURL, "content.generated")
	area := create(t, w.API, hookURL, "balance.low", "content.*")
	all := create(t, w.API, hookURL, "*")
	other := create(t, w.API, hookURL, "content.failed", "studio.*")
	off := create(t, w.API, hookURL, "*")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+off.ID, map[string]any{"state": "disabled"})
	live := create(t, w.API.Live(), hookURL, "*")
	webhooktest.PutKey(w.API.Stranger())
	stranger := create(t, w.API.Stranger(), hookURL, "*")

	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	for _, wh := range []webhook.NewWebhook{exact, area, all} {
		got := w.Deliveries(wh.ID)
		if len(got) != 1 || got[0].State != "pending" || got[0].EventID != ref.ID || got[0].EventType != ref.Type ||
			got[0].WebhookID != wh.ID ||
			got[0].NextAttemptAt == nil || len(got[0].Attempts) != 0 || !id.Valid(id.Delivery, got[0].ID) {
			t.Errorf("%v has the deliveries %+v", wh.EventTypes, got)
		}
	}
	for _, wh := range []webhook.NewWebhook{other, off, live, stranger} {
		if got := w.Deliveries(wh.ID); len(got) != 0 {
			t.Errorf("%v has the deliveries %+v", wh.EventTypes, got)
		}
	}
	var groups []string
	for _, m := range w.Attempts.Sent {
		msg, err := endpoint.ParseMessage(m.Body)
		if err != nil || m.Group != msg.WebhookID || m.Delay != 0 || msg.Attempt != 1 || len(msg.Requests) != 1 ||
			msg.Requests[0].EventID != ref.ID || msg.Requests[0].Version != 1 || msg.Queue != "deliver" {
			t.Errorf("sent %+v: %v", m, err)
		}
		groups = append(groups, m.Group)
	}
	slices.Sort(groups)
	if want := []string{exact.ID, area.ID, all.ID}; !slices.Equal(groups, sorted(want)) {
		t.Errorf("sent to %v, want %v", groups, want)
	}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

func TestARepeatedEventMakesNoSecondDelivery(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(nil, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Publish(ref) // the relay sent it twice, both in one batch
	w.Run()
	w.Clock.Add(time.Hour)
	w.Publish(ref)
	w.Run()
	if got := w.Deliveries(r.Hook.ID); len(got) != 1 || got[0].State != "delivered" || len(got[0].Attempts) != 1 {
		t.Errorf("deliveries %+v", got)
	}
	if got := r.Receipts(); len(got) != 1 {
		t.Errorf("%d requests", len(got))
	}
}

func TestARepeatSendsTheMessageThatWasLost(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	w.Attempts.Reject = func(queue.Message) error { return errors.New("not now") }
	w.Dispatch()
	if got := w.Deliveries(r.Hook.ID); len(got) != 1 || len(w.Attempts.Messages) != 0 {
		t.Fatalf("%d deliveries, %d messages", len(got), len(w.Attempts.Messages))
	}
	if len(w.Events.Messages) != 1 {
		t.Fatal("the event does not come again")
	}
	w.Attempts.Reject = nil
	w.Run()
	if got := r.Receipts(); len(got) != 1 {
		t.Errorf("%d requests", len(got))
	}
	if got := w.Deliveries(r.Hook.ID); len(got) != 1 || got[0].State != "delivered" {
		t.Errorf("deliveries %+v", got)
	}
}

func TestOneBadEventDoesNotHoldBackTheOthers(t *testing.T) {
	w := newWorld(t)
	wh := create(t, w.API, hookURL, "*")
	good := w.Happen(event.ContentGenerated)
	w.Publish(event.Ref{ID: "evt_1", Type: good.Type, Owner: good.Owner})
	w.Publish(event.Ref{ID: good.ID, Type: good.Type, Owner: tenant.Of("", good.Mode)})
	w.Events.Put(queue.Message{Body: "{"})
	bad := map[string]bool{}
	var batch events.SQSEvent
	for _, m := range w.Events.Messages {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.ID, Body: m.Body})
	}
	out, err := w.Dispatcher.Handle(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range out.BatchItemFailures {
		bad[f.ItemIdentifier] = true
	}
	if len(bad) != 3 || bad[w.Events.Messages[0].ID] {
		t.Errorf("failed: %v", bad)
	}
	if got := w.Deliveries(wh.ID); len(got) != 1 {
		t.Errorf("deliveries %+v", got)
	}
}

func TestAFailedSendFailsTheEventsInItOnly(t *testing.T) {
	w := newWorld(t)
	bad := create(t, w.API, hookURL, "content.failed", "content.published")
	good := create(t, w.API, hookURL, "content.generated", "content.published")
	refs := []event.Ref{w.Happen(event.ContentGenerated), w.Happen(event.ContentFailed),
		w.Happen(event.ContentPublished)}
	w.Attempts.Reject = func(m queue.Message) error {
		if m.Group == bad.ID {
			return errors.New("not now")
		}
		return nil
	}
	w.Dispatch()
	if len(w.Events.Messages) != 2 || !strings.Contains(w.Events.Messages[0].Body, refs[1].ID) ||
		!strings.Contains(w.Events.Messages[1].Body, refs[2].ID) {
		t.Errorf("come again: %+v", w.Events.Messages)
	}
	for _, wh := range []webhook.NewWebhook{bad, good} {
		if got := w.Deliveries(wh.ID); len(got) != 2 {
			t.Errorf("%d deliveries", len(got))
		}
	}
	if len(w.Attempts.Sent) != 1 || w.Attempts.Sent[0].Group != good.ID {
		t.Errorf("sent %+v", w.Attempts.Sent)
	}
}

func TestAnEmptyBatchAndAnEventThatNobodyWants(t *testing.T) {
	w := newWorld(t)
	out, err := w.Dispatcher.Handle(context.Background(), events.SQSEvent{})
	if b, _ := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", b, err)
	}
	w.Happen(event.ContentGenerated)
	w.Run()
	if len(w.Attempts.Sent) != 0 || len(w.Events.Messages) != 0 {
		t.Errorf("sent %v, left %v", w.Attempts.Sent, w.Events.Messages)
	}
}

func TestManyEventsForManyWebhooks(t *testing.T) {
	w := newWorld(t)
	var hooks []webhook.NewWebhook
	for range endpoint.MaxPerOwner {
		hooks = append(hooks, create(t, w.API, hookURL, "*"))
	}
	for range 10 {
		w.Clock.Add(time.Millisecond)
		w.Happen(event.ContentGenerated)
	}
	w.Dispatch()
	for _, wh := range hooks {
		if got := w.Deliveries(wh.ID); len(got) != 10 {
			t.Errorf("%d deliveries", len(got))
		}
	}
	seen := map[string]bool{}
	for _, m := range w.Attempts.Sent {
		msg, err := endpoint.ParseMessage(m.Body)
		if err != nil {
			t.Error(err)
		}
		for _, turn := range msg.Requests {
			seen[fmt.Sprint(msg.WebhookID, turn.EventID)] = true
		}
	}
	// Those to the same webhook travel together.
	if len(seen) != 200 || len(w.Attempts.Sent) != len(hooks) {
		t.Errorf("%d messages for %d deliveries", len(w.Attempts.Sent), len(seen))
	}
}
