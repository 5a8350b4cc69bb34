package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

func TestAMessageOfDispatchThatWasLost(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.happen(event.ContentGenerated)
	w.attempts.refuse = func(queue.Message) error { return errors.New("not now") }
	w.dispatch()
	w.attempts.refuse = nil
	w.events.wipe()

	w.clock.Add(OverdueGrace - time.Second)
	w.sweep(Swept{Events: 1})
	w.clock.Add(2 * time.Second)
	w.sweep(Swept{Overdue: 1, Resent: 1})
	w.run()
	w.delivered(r)
}

func TestMessagesThatAWipedQueueLost(t *testing.T) {
	// The message of the first attempt, or of one of those that follow.
	for failures := range 4 {
		t.Run(fmt.Sprint("after ", failures, " failures"), func(t *testing.T) {
			w := newWorld(t)
			r := w.receive(func(n int, rw http.ResponseWriter) {
				if n <= failures {
					rw.WriteHeader(http.StatusInternalServerError)
				}
			}, "*")
			ref := w.happen(event.ContentGenerated)
			w.dispatch()
			for len(r.receipts()) < failures {
				at, _ := w.attempts.next()
				w.run(at)
			}
			w.attempts.wipe()
			due := *w.delivery(ref, r.hook.ID).NextAttemptAt
			w.clock.Add(due.Sub(w.clock.Now()) + OverdueGrace - time.Second)
			first, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{})
			if err != nil || first.Resent != 0 || first.Made != 0 {
				t.Fatalf("swept %+v, %v", first, err)
			}
			w.clock.Add(2 * time.Second)
			w.sweep(Swept{Overdue: 1, Resent: 1})
			w.run()
			d := w.delivery(ref, r.hook.ID)
			if d.State != stateDelivered || len(d.Attempts) != failures+1 || len(r.receipts()) != failures+1 {
				t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
			}
			w.clock.Add(24 * time.Hour)
			w.sweep(Swept{}) // what has ended is not looked at any more
		})
	}
}

func TestAnOperatorNeedNotWaitForTheNextSecond(t *testing.T) {
	w := newWorld(t)
	r := w.receive(func(n int, rw http.ResponseWriter) {
		if n == 1 {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}, "*")
	ref := w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.wipe() // in the very second in which the message was sent
	now := func() Swept {
		t.Helper()
		got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{Now: true})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := now(); got.Resent != 1 {
		t.Errorf("swept %+v", got)
	}
	first, _ := w.attempts.next()
	w.run(first)
	w.attempts.wipe()
	due := *w.delivery(ref, r.hook.ID).NextAttemptAt
	w.clock.Add(due.Sub(w.clock.Now()) - time.Millisecond)
	if got := now(); got.Resent != 0 {
		t.Errorf("before it is due, swept %+v", got)
	}
	w.clock.Add(time.Millisecond)
	if got := now(); got.Resent != 1 {
		t.Errorf("when it is due, swept %+v", got)
	}
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered || len(r.receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestADeliveryThatStaysOverdueIsRemindedEverMoreRarely(t *testing.T) {
	w := newWorld(t)
	create(t, w.api, hookURL, "*")
	w.happen(event.ContentGenerated)
	w.dispatch()
	began := w.clock.Now()
	w.attempts.wipe()
	var at []string
	for range 6 * 12 {
		w.clock.Add(5 * time.Minute)
		if _, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{}); err != nil {
			t.Fatal(err)
		}
		if len(w.attempts.sent) > 0 {
			at = append(at, w.clock.Now().Sub(began).String())
		}
		w.attempts.wipe()
	}
	if got := strings.Join(at, " "); got != "5m0s 10m0s 20m0s 35m0s 1h5m0s 2h10m0s 4h20m0s" {
		t.Errorf("reminded after %s", got)
	}
}

func TestAnAttemptUnderWayIsNotReminded(t *testing.T) {
	w := newWorld(t)
	r := w.receive(func(int, http.ResponseWriter) {
		// A backlog has made it late; just now it is being attempted.
		w.sweep(Swept{Events: 1, Overdue: 1})
	}, "*")
	w.happen(event.ContentGenerated)
	w.dispatch()
	w.clock.Add(OverdueGrace + time.Minute)
	w.attempts.serve(w.deliverer.Handle)
	w.delivered(r)
}

// pend writes pending deliveries, all in one shard.
func (w *world) pend(webhookID string, n int) {
	w.t.Helper()
	o, now := w.owner(), w.clock.Now()
	for range n {
		ref := event.Ref{ID: id.New(id.Event, now), Type: event.ContentGenerated, Owner: o.Owner}
		_, it, err := newDelivery(now, now, ref, webhookID)
		if err != nil {
			w.t.Fatal(err)
		}
		it.Due.PK = duePartition(dueShards - 1)
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := w.db.Commit(w.t.Context(), tx); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestMoreOverdueDeliveriesThanAPage(t *testing.T) {
	w := newWorld(t)
	w.pend(create(t, w.api, hookURL, "*").ID, sweepPage+20)
	w.clock.Add(OverdueGrace + time.Second)
	w.sweep(Swept{Overdue: sweepPage + 20, Resent: sweepPage + 20})
	w.clock.Add(time.Second)
	w.sweep(Swept{Overdue: sweepPage + 20})
}

func TestAReminderThatIsRefusedIsSentByTheNextSweep(t *testing.T) {
	w := newWorld(t)
	bad := create(t, w.api, hookURL, "*").ID
	w.pend(bad, 1)
	w.pend(create(t, w.api, hookURL, "*").ID, 2)
	w.clock.Add(OverdueGrace + time.Second)
	w.attempts.refuse = func(m queue.Message) error {
		if m.Group == bad {
			return errors.New("not now")
		}
		return nil
	}
	got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{})
	if err == nil || got != (Swept{Overdue: 3, Resent: 2}) {
		t.Errorf("swept %+v, %v", got, err)
	}
	w.attempts.refuse = nil
	w.clock.Add(5 * time.Minute)
	w.sweep(Swept{Overdue: 3, Resent: 3}) // which of them was refused, is not kept
}
