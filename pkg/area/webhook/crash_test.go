package webhook_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

func TestADeathAtAnyStepLosesNothing(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "content.*")
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		w.Fuse.Pause(func() { happenTo(w, r, deliverAnswers(500, 204)) })
		before := len(r.Receipts())
		w.Run()
		w.Fuse.Pause(func() {
			all := w.Deliveries(r.Hook.ID)
			d := all[len(all)-1]
			got := r.Receipts()[before:]
			if d.State != "delivered" || d.Lease != nil || len(d.Attempts) == 0 || len(d.Attempts) > len(got) {
				t.Errorf("delivery %+v", d)
			}
			// A request may come once more for the one that was under way, and is the last
			// one's repeat where its answer was lost.
			if len(got) < 2 || len(got) > 3 {
				t.Errorf("%d requests", len(got))
			}
			ids := map[string]bool{}
			for _, d := range all {
				ids[d.EventID] = true
			}
			if len(ids) != len(all) {
				t.Errorf("%d deliveries of %d events", len(all), len(ids))
			}
			if wh := w.Webhook(r.Hook.ID); wh.FailingSince != nil || wh.LastSuccessAt == nil {
				t.Errorf("webhook %+v", wh)
			}
		})
		w.Clock.Add(time.Hour)
	})
}

func TestADeathAtAnyStepDisablesTheWebhookOnce(t *testing.T) {
	w := deliverNewWorld(t)
	told := 0
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		var r *webhooktest.Receiver
		w.Fuse.Pause(func() {
			r = w.Receive(deliverAnswers(410), "content.*")
			w.Happen(event.ContentGenerated)
		})
		w.Run()
		w.Fuse.Pause(func() {
			wh := w.Webhook(r.Hook.ID)
			if wh.State != "disabled" || *wh.DisabledReason != "gone" {
				t.Errorf("webhook %+v", wh)
			}
			all := w.Told(event.WebhookDisabled)
			if told++; len(all) != told {
				t.Errorf("told %d times, want %d", len(all), told)
			}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.State != "failed" || *d.FailedReason != "gone" && *d.FailedReason != "webhook_disabled" {
					t.Errorf("delivery %+v", d)
				}
			}
			if n := len(r.Receipts()); n < 1 || n > 2 {
				t.Errorf("%d requests", n)
			}
			w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
			r.Server.Close()
		})
		w.Clock.Add(time.Hour)
	})
}

// happenTo makes an event that the receiver answers by the plan.
func happenTo(w *deliverWorld, r *webhooktest.Receiver, plan func(int, http.ResponseWriter)) {
	var mu sync.Mutex
	n := 0
	r.Plan = func(_ int, rw http.ResponseWriter) {
		mu.Lock()
		defer mu.Unlock()
		n++
		plan(n, rw)
	}
	w.Happen(event.ContentGenerated)
}

func TestMessagesThatComeTwiceMakeOneRequestEach(t *testing.T) {
	for _, batch := range []int{1, 2, 10} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			w := deliverNewWorld(t)
			w.MaxBatch, w.Events.Twice, w.Attempts.Twice = batch, true, true
			r := w.Receive(deliverAnswers(500, 500, 200), "*")
			w.Happen(event.ContentGenerated)
			w.Run()
			if n := len(r.Receipts()); n != 3 {
				t.Errorf("%d requests", n)
			}
			all := w.Deliveries(r.Hook.ID)
			if len(all) != 1 || all[0].State != "delivered" || len(all[0].Attempts) != 3 {
				t.Errorf("deliveries %+v", all)
			}
		})
	}
}

func TestAFunctionThatEndsLate(t *testing.T) {
	for _, c := range []struct {
		first, second int
		state         string
		attempts      int
	}{
		{200, 500, "delivered", 2}, // the second has failed by then; the success still counts
		{500, 200, "delivered", 1}, // the failure says nothing new
		{200, 200, "delivered", 1},
		{500, 500, "pending", 1},
		{410, 200, "delivered", 1},
	} {
		t.Run(fmt.Sprint(c.first, " ends after ", c.second), func(t *testing.T) {
			w := deliverNewWorld(t)
			var message string
			r := w.Receive(func(n int, rw http.ResponseWriter) {
				if n == 1 {
					// It takes so long that its message comes again, to another function.
					w.Clock.Add(webhook.LeaseTime + time.Second)
					out, err := w.Deliverer.Handle(t.Context(),
						events.SQSEvent{Records: []events.SQSMessage{{MessageId: "again", Body: message}}})
					if err != nil || len(out.BatchItemFailures) != 0 {
						t.Errorf("the second function: %+v, %v", out, err)
					}
					rw.WriteHeader(c.first)
					return
				}
				rw.WriteHeader(c.second)
			}, "*")
			ref := w.Happen(event.ContentGenerated)
			w.Dispatch()
			message = w.Attempts.Messages[0].Body
			w.Attempts.Serve(w.Deliverer.Handle)
			d := w.Delivery(ref, r.Hook.ID)
			if d.State != c.state || len(d.Attempts) != c.attempts || d.Lease != nil ||
				(d.NextAttemptAt == nil) != (c.state == "delivered") {
				t.Errorf("delivery %+v", d)
			}
			r.Plan = nil
			w.Run()
			if d := w.Delivery(ref, r.Hook.ID); c.state == "delivered" && len(r.Receipts()) != 2 || c.first != 410 &&
				d.State != "delivered" {
				t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
			}
		})
	}
}

func TestAnOutcomeIsRecordedThoughTheTableRefusesWrites(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(func(n int, _ http.ResponseWriter) {
		if n == 2 { // the first has written the webhook's health
			w.Faults.Reject("TransactWriteItems", "ThrottlingException", 8)
		}
	}, "*")
	w.Happen(event.ContentGenerated)
	w.Run()
	ref := w.Happen(event.ContentGenerated)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || len(r.Receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestRoundTripsOfADelivery(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	w.Run()
	w.Happen(event.ContentGenerated)
	w.Faults.Reset()
	w.Dispatch()
	if got := w.Faults.Operations(); got != "Query BatchGetItem TransactWriteItems" {
		t.Errorf("dispatch: %s", got)
	}
	w.Faults.Reset()
	w.Run()
	// the last is for the service levels
	if got := w.Faults.Operations(); got != "GetItem BatchGetItem PutItem TransactWriteItems UpdateItem" {
		t.Errorf("deliver: %s", got)
	}
	if len(r.Receipts()) != 2 {
		t.Errorf("%d requests", len(r.Receipts()))
	}
}
