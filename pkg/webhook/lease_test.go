package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/queue"
)

// soon is how long after a death all must have arrived.
const soon = 6 * time.Second

func TestWhatADeadFunctionLeftArrivesSoon(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	eachDeath(t, w, func(t *testing.T) {
		began := w.clock.Now()
		w.events.unheard, w.attempts.unheard = false, false
		ref := event.Ref{}
		w.fuse.pause(func() { ref = w.happen(event.ContentGenerated) })
		w.run()
		w.fuse.pause(func() {
			if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered {
				t.Errorf("delivery %+v", d)
			}
			// A function that dies before it has said anything is missed by nobody yet.
			if took := w.clock.Now().Sub(began); took > soon && !w.events.unheard && !w.attempts.unheard {
				t.Errorf("it took %v", took)
			}
		})
		w.clock.Add(time.Hour)
	})
}

// awaitClaim waits until the claim of the one delivery holds until the given time.
func (w *world) awaitClaim(ref event.Ref, hook string, until time.Time) {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if c := w.delivery(ref, hook).Claim; c != nil && c.Until.Equal(until) {
			return
		}
		if time.Now().After(deadline) {
			w.t.Error("the claim is not renewed")
			return
		}
	}
}

func TestALongAttemptKeepsItsClaimAndItsMessage(t *testing.T) {
	w := newWorld(t)
	var ref event.Ref
	var r *receiver
	r = w.receive(func(n int, _ http.ResponseWriter) {
		for range 14 {
			w.clock.Add(time.Second)
			w.beats <- time.Time{}
			w.awaitClaim(ref, r.hook.ID, w.clock.Now().Add(lease))
		}
		// Its message is hidden still, and a repeat of it finds the claim.
		if w.attempts.serve(w.deliverer.Handle) {
			t.Error("the message was given to another function")
		}
		again := events.SQSMessage{MessageId: "again", Body: w.attempts.messages[0].body}
		if out, err := w.deliverer.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{again}}); err != nil || len(out.BatchItemFailures) != 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}, "*")
	ref = w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || d.Claim != nil {
		t.Errorf("delivery %+v", d)
	}
	w.run()
	if n := len(r.receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestAClaimThatIsAskedForAgainMeanwhile(t *testing.T) {
	w := newWorld(t)
	var ref event.Ref
	var r *receiver
	r = w.receive(func(n int, rw http.ResponseWriter) {
		d := w.delivery(ref, r.hook.ID)
		w.api.Call(http.MethodPost, "/v1/webhooks/"+r.hook.ID+"/deliveries/"+d.ID+"/redeliver", nil).Into(t, http.StatusAccepted, &Delivery{})
		w.clock.Add(time.Second)
		w.beats <- time.Time{} // meets the change
		w.beats <- time.Time{} // and renews the claim on that
		w.awaitClaim(ref, r.hook.ID, w.clock.Now().Add(lease))
	}, "*")
	ref = w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	w.relay()
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || len(d.Attempts) != 1 || len(r.receipts()) != 1 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestAClaimThatSomebodyElseHasTakenOver(t *testing.T) {
	w := newWorld(t)
	var ref event.Ref
	r := w.receive(func(n int, _ http.ResponseWriter) {
		if n > 1 {
			return
		}
		// The function stood still for a while.
		w.clock.Add(queue.HiddenFor + time.Second)
		if !w.attempts.serve(w.deliverer.Handle) {
			t.Error("the message has not come again")
		}
		w.beats <- time.Time{}
		w.beats <- time.Time{}
	}, "*")
	ref = w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || len(d.Attempts) != 1 || d.Claim != nil || len(r.receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestAClaimWhoseAnswerWasLostIsOnesOwn(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	began := w.clock.Now()
	w.faults.Lose("BatchExecuteStatement", 1)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || len(d.Attempts) != 1 || len(r.receipts()) != 1 || w.clock.Now() != began {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestATableInTroubleIsWaitedFor(t *testing.T) {
	for _, operation := range []string{"BatchGetItem", "BatchExecuteStatement"} {
		t.Run(operation, func(t *testing.T) {
			w := newWorld(t)
			r := w.receive(nil, "*")
			w.happen(event.ContentGenerated)
			w.dispatch()
			began := w.clock.Now()
			w.faults.Refuse(operation, "InternalServerError", 5)
			w.run()
			if len(r.receipts()) != 1 || w.clock.Now() != began {
				t.Errorf("%d requests after %v", len(r.receipts()), w.clock.Now().Sub(began))
			}
			w.delivered(r)
		})
	}
}
