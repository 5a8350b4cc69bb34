package webhook_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// inFlightKey is the key of the slow attempts at a receiver.
func inFlightKey(w *deliverWorld, r *webhooktest.Receiver) store.Key {
	return webhook.HealthKeys(w.Ref(r.Hook.ID))[2]
}

// slowElsewhere writes slow attempts of another function at a receiver.
func slowElsewhere(w *deliverWorld, r *webhooktest.Receiver, attempts int) {
	w.T.Helper()
	it := store.Item{Key: inFlightKey(w, r), Kind: "inflight", ExpireAt: w.Clock.Now().Add(time.Hour),
		Attributes: map[string]string{}}
	for i := range webhook.SlowLimit {
		it.Attributes[fmt.Sprint("another", i)] = ""
		if i < attempts {
			it.Attributes[fmt.Sprint("another", i)] = w.Clock.Now().Add(webhook.AttemptTimeout).Format(resource.TimeLayout)
		}
	}
	if err := w.DB.Note(w.T.Context(), it); err != nil {
		w.T.Fatal(err)
	}
}

func TestWhatGoesToASlowReceiverIsPassedOn(t *testing.T) {
	w := deliverNewWorld(t)
	slow, quick := w.Receive(nil, "*"), w.Receive(nil, "*")
	slowElsewhere(w, slow, 1)
	for range 3 {
		w.Happen(event.ContentGenerated)
	}
	w.Slow.Twice = true
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	if len(slow.Receipts()) != 0 || len(quick.Receipts()) != 3 {
		t.Fatalf("%d and %d requests", len(slow.Receipts()), len(quick.Receipts()))
	}
	sent := w.Slow.Sent
	if len(sent) != 3 || sent[0].Group != slow.Hook.ID || sent[0].Delay != 0 {
		t.Fatalf("passed on %+v of %+v", sent, w.Attempts.Sent)
	}
	w.Run()
	w.AllDelivered(slow, 3)
	w.AllDelivered(quick, 3)

	// When the slow attempts have ended, it is a receiver like any other.
	slowElsewhere(w, slow, 0)
	before := len(w.Slow.Sent)
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	w.AllDelivered(slow, 4)
	if len(w.Slow.Sent) != before {
		t.Errorf("passed on %+v", w.Slow.Sent[before:])
	}
}

// passedOn counts the messages of deliveries that were passed on to the deliverer for slow receivers.
func passedOn(w *deliverWorld) (n int) {
	for _, m := range w.Slow.Sent {
		if strings.Contains(m.Body, `"kind":"deliver"`) {
			n++
		}
	}
	return n
}

func TestWhatGoesToAReceiverThatIsDownIsPassedOn(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	dead, healthy := w.Receive(nil, "*"), w.Receive(nil, "*")
	n.Set(dead, true)
	for range webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now())
	tried := n.While(dead)
	// Before the next probe is due, events are held back without another hop.
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	for w.Attempts.Serve(w.Deliverer.Handle) {
	}
	if got := n.While(dead) - tried; got != 0 || passedOn(w) != 0 {
		t.Fatalf("%d attempts, passed on %+v", got, w.Slow.Sent)
	}
	w.Clock.Add(time.Minute) // now it is
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	for w.Attempts.Serve(w.Deliverer.Handle) {
	}
	if got := n.While(dead) - tried; got != 0 || passedOn(w) == 0 ||
		len(healthy.Receipts()) != webhook.TripAfter+2 {
		t.Errorf("%d attempts, %d messages passed on; %d requests to the healthy one", got, len(w.Slow.Sent),
			len(healthy.Receipts()))
	}
	for w.Slow.Serve(w.Patient.Handle) {
	}
	if got := n.While(dead) - tried; got != 1 {
		t.Errorf("%d probes", got)
	}
	n.Set(dead, false)
	w.Run()
	w.AllDelivered(dead, webhook.TripAfter+2)
}

func TestWhatIsNotPassedOnComesAgain(t *testing.T) {
	w := deliverNewWorld(t)
	slow, quick := w.Receive(nil, "*"), w.Receive(nil, "*")
	slowElsewhere(w, slow, 1)
	refused := 0
	w.Slow.Reject = func(queue.Message) error {
		if refused++; refused == 1 {
			return errors.New("not now")
		}
		return nil
	}
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	if len(slow.Receipts()) != 0 || len(quick.Receipts()) != 1 || len(w.Attempts.Messages) != 1 {
		t.Fatalf("%d and %d requests, %d messages are left", len(slow.Receipts()), len(quick.Receipts()),
			len(w.Attempts.Messages))
	}
	w.Run()
	w.AllDelivered(slow, 1)
	w.AllDelivered(quick, 1)
	if refused != 2 {
		t.Errorf("passed on %d times", refused)
	}
}

func TestADeathAtAnyStepOfPassingOnLosesNothing(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "content.*")
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		before := len(r.Receipts())
		w.Fuse.Pause(func() {
			slowElsewhere(w, r, 1)
			w.Happen(event.ContentGenerated)
		})
		w.Run()
		w.Fuse.Pause(func() {
			if n := len(r.Receipts()) - before; n < 1 || n > 2 {
				t.Errorf("%d requests", n)
			}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.State != webhook.DeliveryDelivered {
					t.Errorf("delivery %+v", d)
				}
			}
		})
		w.Clock.Add(time.Hour)
	})
}
