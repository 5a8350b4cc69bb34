package webhook

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

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/tenant"
)

// dispatch runs the dispatch function once on everything that is on the bus.
func (w *world) dispatch() {
	w.t.Helper()
	for w.events.serve(w.dispatcher.Handle) {
	}
}

func TestAnEventGetsADeliveryForEachWebhookThatWantsIt(t *testing.T) {
	w := newWorld(t)
	exact := create(t, w.api, hookURL, "content.generated")
	area := create(t, w.api, hookURL, "balance.low", "content.*")
	all := create(t, w.api, hookURL, "*")
	other := create(t, w.api, hookURL, "content.failed", "content_plan.*")
	off := create(t, w.api, hookURL, "*")
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+off.ID, map[string]any{"state": "disabled"})
	live := create(t, w.api.Live(), hookURL, "*")
	stranger := create(t, w.api.Stranger(), hookURL, "*")

	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	for _, hook := range []NewWebhook{exact, area, all} {
		got := w.deliveries(hook.ID)
		if len(got) != 1 || got[0].State != "pending" || got[0].EventID != ref.ID || got[0].EventType != ref.Type || got[0].WebhookID != hook.ID ||
			got[0].NextAttemptAt == nil || len(got[0].Attempts) != 0 || !id.Valid(id.Delivery, got[0].ID) {
			t.Errorf("%v has the deliveries %+v", hook.EventTypes, got)
		}
	}
	for _, hook := range []NewWebhook{other, off, live, stranger} {
		if got := w.deliveries(hook.ID); len(got) != 0 {
			t.Errorf("%v has the deliveries %+v", hook.EventTypes, got)
		}
	}
	var groups []string
	for _, m := range w.attempts.sent {
		msg, err := parseMessage(m.Body)
		if err != nil || m.Group != msg.WebhookID || m.Delay != 0 || msg.Attempt != 1 || len(msg.Turns) != 1 || msg.Turns[0].EventID != ref.ID || msg.Turns[0].Version != 1 || msg.Queue != "deliver" {
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
	r := w.receive(nil, "*")
	ref := w.happen(event.ContentGenerated)
	w.publish(ref) // the relay sent it twice, both in one batch
	w.run()
	w.clock.Add(time.Hour)
	w.publish(ref)
	w.run()
	if got := w.deliveries(r.hook.ID); len(got) != 1 || got[0].State != "delivered" || len(got[0].Attempts) != 1 {
		t.Errorf("deliveries %+v", got)
	}
	if got := r.receipts(); len(got) != 1 {
		t.Errorf("%d requests", len(got))
	}
}

func TestARepeatSendsTheMessageThatWasLost(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.happen(event.ContentGenerated)
	w.attempts.refuse = func(queue.Message) error { return errors.New("not now") }
	w.dispatch()
	if got := w.deliveries(r.hook.ID); len(got) != 1 || len(w.attempts.messages) != 0 {
		t.Fatalf("%d deliveries, %d messages", len(got), len(w.attempts.messages))
	}
	if len(w.events.messages) != 1 {
		t.Fatal("the event does not come again")
	}
	w.attempts.refuse = nil
	w.run()
	if got := r.receipts(); len(got) != 1 {
		t.Errorf("%d requests", len(got))
	}
	if got := w.deliveries(r.hook.ID); len(got) != 1 || got[0].State != "delivered" {
		t.Errorf("deliveries %+v", got)
	}
}

func TestOneBadEventDoesNotHoldBackTheOthers(t *testing.T) {
	w := newWorld(t)
	hook := create(t, w.api, hookURL, "*")
	good := w.happen(event.ContentGenerated)
	w.publish(event.Ref{ID: "evt_1", Type: good.Type, Owner: good.Owner})
	w.publish(event.Ref{ID: good.ID, Type: good.Type, Owner: tenant.Of("", good.Mode)})
	w.events.put(queue.Message{Body: "{"})
	bad := map[string]bool{}
	var batch events.SQSEvent
	for _, m := range w.events.messages {
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.id, Body: m.body})
	}
	out, err := w.dispatcher.Handle(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range out.BatchItemFailures {
		bad[f.ItemIdentifier] = true
	}
	if len(bad) != 3 || bad[w.events.messages[0].id] {
		t.Errorf("failed: %v", bad)
	}
	if got := w.deliveries(hook.ID); len(got) != 1 {
		t.Errorf("deliveries %+v", got)
	}
}

func TestAFailedSendFailsTheEventsInItOnly(t *testing.T) {
	w := newWorld(t)
	bad := create(t, w.api, hookURL, "content.failed", "content.published")
	good := create(t, w.api, hookURL, "content.generated", "content.published")
	refs := []event.Ref{w.happen(event.ContentGenerated), w.happen(event.ContentFailed), w.happen(event.ContentPublished)}
	w.attempts.refuse = func(m queue.Message) error {
		if m.Group == bad.ID {
			return errors.New("not now")
		}
		return nil
	}
	w.dispatch()
	if len(w.events.messages) != 2 || !strings.Contains(w.events.messages[0].body, refs[1].ID) || !strings.Contains(w.events.messages[1].body, refs[2].ID) {
		t.Errorf("come again: %+v", w.events.messages)
	}
	for _, hook := range []NewWebhook{bad, good} {
		if got := w.deliveries(hook.ID); len(got) != 2 {
			t.Errorf("%d deliveries", len(got))
		}
	}
	if len(w.attempts.sent) != 1 || w.attempts.sent[0].Group != good.ID {
		t.Errorf("sent %+v", w.attempts.sent)
	}
}

func TestAnEmptyBatchAndAnEventThatNobodyWants(t *testing.T) {
	w := newWorld(t)
	out, err := w.dispatcher.Handle(context.Background(), events.SQSEvent{})
	if b, _ := json.Marshal(out); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("answered %s, %v", b, err)
	}
	w.happen(event.ContentGenerated)
	w.run()
	if len(w.attempts.sent) != 0 || len(w.events.messages) != 0 {
		t.Errorf("sent %v, left %v", w.attempts.sent, w.events.messages)
	}
}

func TestManyEventsForManyWebhooks(t *testing.T) {
	w := newWorld(t)
	var hooks []NewWebhook
	for range maxWebhooks {
		hooks = append(hooks, create(t, w.api, hookURL, "*"))
	}
	for range 10 {
		w.clock.Add(time.Millisecond)
		w.happen(event.ContentGenerated)
	}
	w.dispatch()
	for _, hook := range hooks {
		if got := w.deliveries(hook.ID); len(got) != 10 {
			t.Errorf("%d deliveries", len(got))
		}
	}
	seen := map[string]bool{}
	for _, m := range w.attempts.sent {
		msg, err := parseMessage(m.Body)
		if err != nil {
			t.Error(err)
		}
		for _, turn := range msg.Turns {
			seen[fmt.Sprint(msg.WebhookID, turn.EventID)] = true
		}
	}
	// Those to the same webhook travel together.
	if len(seen) != 200 || len(w.attempts.sent) != len(hooks) {
		t.Errorf("%d messages for %d deliveries", len(w.attempts.sent), len(seen))
	}
}
