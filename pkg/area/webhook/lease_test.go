package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/task/queue"
)

// soon is how long after a death all must have arrived.
const soon = 6 * time.Second

func TestWhatADeadFunctionLeftArrivesSoon(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		began := w.Clock.Now()
		w.Events.Unheard, w.Attempts.Unheard = false, false
		ref := event.Ref{}
		w.Fuse.Pause(func() { ref = w.Happen(event.ContentGenerated) })
		w.Run()
		w.Fuse.Pause(func() {
			if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered {
				t.Errorf("delivery %+v", d)
			}
			// The messages of a function that dies before its first heartbeat stay invisible.
			if took := w.Clock.Now().Sub(began); took > soon && !w.Events.Unheard && !w.Attempts.Unheard {
				t.Errorf("it took %v", took)
			}
		})
		w.Clock.Add(time.Hour)
	})
}

// awaitClaim waits until the claim of the one delivery holds until the given time.
func awaitClaim(w *deliverWorld, ref event.Ref, wh string, until time.Time) {
	w.T.Helper()
	for deadline := time.Now().Add(patience); ; {
		if c := w.Delivery(ref, wh).Lease; c != nil && c.Until.Equal(until) {
			return
		}
		if time.Now().After(deadline) {
			w.T.Error("the claim is not renewed")
			return
		}
	}
}

func TestALongAttemptKeepsItsClaimAndItsMessage(t *testing.T) {
	w := deliverNewWorld(t)
	var ref event.Ref
	var r *webhooktest.Receiver
	r = w.Receive(func(n int, _ http.ResponseWriter) {
		for range 14 {
			w.Clock.Add(time.Second)
			w.Beats <- time.Time{}
			awaitClaim(w, ref, r.Hook.ID, w.Clock.Now().Add(webhook.LeaseTime))
		}
		// Its message is hidden still, and a repeat of it finds the claim.
		if w.Attempts.Serve(w.Deliverer.Handle) {
			t.Error("the message was given to another function")
		}
		again := events.SQSMessage{MessageId: "again", Body: w.Attempts.Messages[0].Body}
		if out, err := w.Deliverer.Handle(t.Context(),
			events.SQSEvent{Records: []events.SQSMessage{again}}); err != nil || len(out.BatchItemFailures) != 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}, "*")
	ref = w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered || d.Lease != nil {
		t.Errorf("delivery %+v", d)
	}
	w.Run()
	if n := len(r.Receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestAClaimThatIsAskedForAgainMeanwhile(t *testing.T) {
	w := deliverNewWorld(t)
	var ref event.Ref
	var r *webhooktest.Receiver
	r = w.Receive(func(n int, rw http.ResponseWriter) {
		d := w.Delivery(ref, r.Hook.ID)
		w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t,
			http.StatusAccepted, &webhook.Delivery{})
		w.Clock.Add(time.Second)
		w.Beats <- time.Time{} // meets the change
		w.Beats <- time.Time{} // and renews the claim on that
		awaitClaim(w, ref, r.Hook.ID, w.Clock.Now().Add(webhook.LeaseTime))
	}, "*")
	ref = w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	w.Relay()
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered || len(d.Attempts) != 1 ||
		len(r.Receipts()) != 1 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestAClaimThatSomebodyElseHasTakenOver(t *testing.T) {
	w := deliverNewWorld(t)
	var ref event.Ref
	r := w.Receive(func(n int, _ http.ResponseWriter) {
		if n > 1 {
			return
		}
		// The function stood still for a while.
		w.Clock.Add(queue.HiddenFor + time.Second)
		if !w.Attempts.Serve(w.Deliverer.Handle) {
			t.Error("the message has not come again")
		}
		w.Beats <- time.Time{}
		w.Beats <- time.Time{}
	}, "*")
	ref = w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered || len(d.Attempts) != 1 ||
		d.Lease != nil || len(r.Receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestAClaimWhoseAnswerWasLostIsOnesOwn(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	began := w.Clock.Now()
	w.Faults.Lose("PutItem", 1)
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered || len(d.Attempts) != 1 ||
		len(r.Receipts()) != 1 || w.Clock.Now() != began {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestATableInTroubleIsWaitedFor(t *testing.T) {
	for _, operation := range []string{"BatchGetItem", "PutItem"} {
		t.Run(operation, func(t *testing.T) {
			w := deliverNewWorld(t)
			r := w.Receive(nil, "*")
			w.Happen(event.ContentGenerated)
			w.Dispatch()
			began := w.Clock.Now()
			w.Faults.Reject(operation, "InternalServerError", 5)
			w.Run()
			if len(r.Receipts()) != 1 || w.Clock.Now() != began {
				t.Errorf("%d requests after %v", len(r.Receipts()), w.Clock.Now().Sub(began))
			}
			w.Delivered(r)
		})
	}
}

// A redelivery that is requested during the last attempt begins the schedule anew, although that attempt fails.
func TestARedeliveryDuringTheLastAttempt(t *testing.T) {
	w := deliverNewWorld(t)
	var ref event.Ref
	var r *webhooktest.Receiver
	last := len(webhook.Schedule) + 1
	r = w.Receive(func(n int, rw http.ResponseWriter) {
		if n == last {
			d := w.Delivery(ref, r.Hook.ID)
			w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t,
				http.StatusAccepted, &webhook.Delivery{})
		}
		if n <= last {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}, "*")
	ref = w.Happen(event.ContentGenerated)
	w.Run()
	d := w.Delivery(ref, r.Hook.ID)
	if d.State != webhook.DeliveryDelivered || len(d.Attempts) != last+1 || len(r.Receipts()) != last+1 {
		t.Fatalf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
	if wait := d.Attempts[last].At.Sub(d.Attempts[last-1].At.Time); wait != webhook.Schedule[0] {
		t.Errorf("the attempt after it follows in %v", wait)
	}
}
