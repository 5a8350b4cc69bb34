package webhook

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/queue"
)

// strained has another function tell of its slow attempts at a receiver.
func (w *world) strained(r *receiver, attempts int) {
	w.t.Helper()
	another := &worker{Deliverer: w.deliverer, by: "another"}
	if err := w.db.Note(w.t.Context(), another.strained(w.owner().strainKey(r.hook.ID), attempts, nil)); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatGoesToASlowReceiverIsPassedOn(t *testing.T) {
	w := newWorld(t)
	slow, quick := w.receive(nil, "*"), w.receive(nil, "*")
	w.strained(slow, 1)
	for range 3 {
		w.happen(event.ContentGenerated)
	}
	w.slow.twice = true
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	if len(slow.receipts()) != 0 || len(quick.receipts()) != 3 {
		t.Fatalf("%d and %d requests", len(slow.receipts()), len(quick.receipts()))
	}
	sent := w.slow.sent
	if len(sent) != 1 || sent[0].Group != slow.hook.ID || sent[0].Delay != 0 ||
		!slices.ContainsFunc(w.attempts.sent, func(m queue.Message) bool { return m.Body == sent[0].Body }) {
		t.Fatalf("passed on %+v of %+v", sent, w.attempts.sent)
	}
	w.run()
	w.allDelivered(slow, 3)
	w.allDelivered(quick, 3)

	// When the slow attempts have ended, it is a receiver like any other.
	w.strained(slow, 0)
	w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	w.allDelivered(slow, 4)
	if len(w.slow.sent) != 1 {
		t.Errorf("passed on %+v", w.slow.sent[1:])
	}
}

func TestWhatGoesToAReceiverThatIsDownIsPassedOn(t *testing.T) {
	w := newWorld(t)
	n := w.cut()
	dead, healthy := w.receive(nil, "*"), w.receive(nil, "*")
	n.set(dead, true)
	for range tripAfter {
		w.happen(event.ContentGenerated)
	}
	w.run(w.clock.Now())
	tried := n.while(dead)
	// Before the next probe is due, events are held back without another hop.
	w.happen(event.ContentGenerated)
	w.dispatch()
	for w.attempts.serve(w.deliverer.Handle) {
	}
	if got := n.while(dead) - tried; got != 0 || len(w.slow.sent) != 0 {
		t.Fatalf("%d attempts, passed on %+v", got, w.slow.sent)
	}
	w.clock.Add(time.Minute) // now it is
	w.happen(event.ContentGenerated)
	w.dispatch()
	for w.attempts.serve(w.deliverer.Handle) {
	}
	if got := n.while(dead) - tried; got != 0 || len(w.slow.sent) == 0 || len(healthy.receipts()) != tripAfter+2 {
		t.Errorf("%d attempts, %d messages passed on; %d requests to the healthy one", got, len(w.slow.sent), len(healthy.receipts()))
	}
	for w.slow.serve(w.patient.Handle) {
	}
	if got := n.while(dead) - tried; got != 1 {
		t.Errorf("%d probes", got)
	}
	n.set(dead, false)
	w.run()
	w.allDelivered(dead, tripAfter+2)
}

func TestDestinationsInAWSDoNotHang(t *testing.T) {
	h := newHook(bound{})
	h.strain.others, h.record.State = 1, stateEnabled
	now := time.Now()
	if !h.mayHang(now) {
		t.Error("an address does not hang")
	}
	h.record.Destination = &Target{}
	if h.mayHang(now) {
		t.Error("a queue hangs")
	}
	h.record.Destination, h.record.State = nil, stateDisabled
	if h.mayHang(now) {
		t.Error("one that is disabled hangs")
	}
}

func TestWhatIsNotPassedOnComesAgain(t *testing.T) {
	w := newWorld(t)
	slow, quick := w.receive(nil, "*"), w.receive(nil, "*")
	w.strained(slow, 1)
	refused := 0
	w.slow.refuse = func(queue.Message) error {
		if refused++; refused == 1 {
			return errors.New("not now")
		}
		return nil
	}
	w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	if len(slow.receipts()) != 0 || len(quick.receipts()) != 1 || len(w.attempts.messages) != 1 {
		t.Fatalf("%d and %d requests, %d messages are left", len(slow.receipts()), len(quick.receipts()), len(w.attempts.messages))
	}
	w.run()
	w.allDelivered(slow, 1)
	w.allDelivered(quick, 1)
	if refused != 2 {
		t.Errorf("passed on %d times", refused)
	}
}

func TestADeathAtAnyStepOfPassingOnLosesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "content.*")
	eachDeath(t, w, func(t *testing.T) {
		before := len(r.receipts())
		w.fuse.pause(func() {
			w.strained(r, 1)
			w.happen(event.ContentGenerated)
		})
		w.run()
		w.fuse.pause(func() {
			if n := len(r.receipts()) - before; n < 1 || n > 2 {
				t.Errorf("%d requests", n)
			}
			for _, d := range w.deliveries(r.hook.ID) {
				if d.State != stateDelivered {
					t.Errorf("delivery %+v", d)
				}
			}
		})
		w.clock.Add(time.Hour)
	})
}
