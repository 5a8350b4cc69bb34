package webhook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

func TestAnEventGetsADeliveryForEachWebhookThatWantsIt(t *testing.T) {
	w := dispatchNewWorld(t)
	exact := dispatchCreate(t, w.API, dispatchHookURL, "content.generated")
	area := dispatchCreate(t, w.API, dispatchHookURL, "balance.low", "content.*")
	all := dispatchCreate(t, w.API, dispatchHookURL, "*")
	other := dispatchCreate(t, w.API, dispatchHookURL, "content.failed", "studio.*")
	off := dispatchCreate(t, w.API, dispatchHookURL, "*")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+off.ID, map[string]any{"state": "disabled"})
	live := dispatchCreate(t, w.API.Live(), dispatchHookURL, "*")
	webhooktest.PutKey(w.API.Stranger())
	stranger := dispatchCreate(t, w.API.Stranger(), dispatchHookURL, "*")

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
		var msg task.Message
		if err := json.Unmarshal([]byte(m.Body), &msg); err != nil || m.Delay != 0 || msg.Step != 1 ||
			msg.Queue != topology.Deliver || msg.Kind != webhook.DeliverKind {
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
	w := dispatchNewWorld(t)
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

func TestOneBadEventDoesNotHoldBackTheOthers(t *testing.T) {
	w := dispatchNewWorld(t)
	wh := dispatchCreate(t, w.API, dispatchHookURL, "*")
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

func TestAFailedWriteFailsItsEventOnly(t *testing.T) {
	w := dispatchNewWorld(t)
	wh := dispatchCreate(t, w.API, dispatchHookURL, "*")
	w.Happen(event.ContentGenerated)
	w.Happen(event.ContentFailed)
	w.Faults.Reject("TransactWriteItems", "ValidationException", 1)
	w.Events.Serve(w.Dispatcher.Handle)
	if got := w.Deliveries(wh.ID); len(w.Events.Messages) != 1 || len(got) != 1 {
		t.Errorf("%d come again, %d deliveries", len(w.Events.Messages), len(got))
	}
	w.Clock.Add(time.Minute)
	w.Dispatch()
	if got := w.Deliveries(wh.ID); len(w.Attempts.Messages) != 2 || len(got) != 2 {
		t.Errorf("%d messages, %d deliveries", len(w.Attempts.Messages), len(got))
	}
}

func TestAnEmptyBatchAndAnEventThatNobodyWants(t *testing.T) {
	w := dispatchNewWorld(t)
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
	w := dispatchNewWorld(t)
	var hooks []webhook.NewWebhook
	for range webhook.MaxPerOwner {
		hooks = append(hooks, dispatchCreate(t, w.API, dispatchHookURL, "*"))
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
		seen[m.Body] = true
	}
	if len(seen) != 200 || len(w.Attempts.Sent) != 200 {
		t.Errorf("%d messages for %d deliveries", len(w.Attempts.Sent), len(seen))
	}
}
