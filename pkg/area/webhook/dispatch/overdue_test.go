package dispatch_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/dispatch"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/webhooktest"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

func TestAMessageOfDispatchThatWasLost(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(nil, "*")
	w.Happen(event.ContentGenerated)
	w.Attempts.Reject = func(queue.Message) error { return errors.New("not now") }
	w.Dispatch()
	w.Attempts.Reject = nil
	w.Events.Wipe()

	w.Clock.Add(dispatch.OverdueGrace - time.Second)
	sweep(w, webhooktest.Lost{Events: 1})
	w.Clock.Add(2 * time.Second)
	sweep(w, webhooktest.Lost{Overdue: 1, Resent: 1})
	w.Run()
	w.Delivered(r)
}

func TestMessagesThatAWipedQueueLost(t *testing.T) {
	// The message of the first attempt, or of one of those that follow.
	for failures := range 4 {
		t.Run(fmt.Sprint("after ", failures, " failures"), func(t *testing.T) {
			w := newWorld(t)
			r := w.Receive(func(n int, rw http.ResponseWriter) {
				if n <= failures {
					rw.WriteHeader(http.StatusInternalServerError)
				}
			}, "*")
			ref := w.Happen(event.ContentGenerated)
			w.Dispatch()
			for len(r.Receipts()) < failures {
				at, _ := w.Attempts.Next()
				w.Run(at)
			}
			w.Attempts.Wipe()
			due := *w.Delivery(ref, r.Hook.ID).NextAttemptAt
			w.Clock.Add(due.Sub(w.Clock.Now()) + dispatch.OverdueGrace - time.Second)
			first, err := w.Search(t.Context(), false)
			if err != nil || first.Resent != 0 || first.Made != 0 {
				t.Fatalf("swept %+v, %v", first, err)
			}
			w.Clock.Add(2 * time.Second)
			sweep(w, webhooktest.Lost{Overdue: 1, Resent: 1})
			w.Run()
			d := w.Delivery(ref, r.Hook.ID)
			if d.State != endpoint.DeliveryDelivered || len(d.Attempts) != failures+1 ||
				len(r.Receipts()) != failures+1 {
				t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
			}
			w.Clock.Add(24 * time.Hour)
			sweep(w, webhooktest.Lost{}) // deliveries that have ended are not checked again
		})
	}
}

func TestAnOperatorNeedNotWaitForTheNextSecond(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		if n == 1 {
			rw.WriteHeader(http.StatusInternalServerError)
		}
	}, "*")
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Wipe() // in the very second in which the message was sent
	now := func() webhooktest.Lost {
		t.Helper()
		got, err := w.Search(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := now(); got.Resent != 1 {
		t.Errorf("swept %+v", got)
	}
	first, _ := w.Attempts.Next()
	w.Run(first)
	w.Attempts.Wipe()
	due := *w.Delivery(ref, r.Hook.ID).NextAttemptAt
	w.Clock.Add(due.Sub(w.Clock.Now()) - time.Millisecond)
	if got := now(); got.Resent != 0 {
		t.Errorf("before it is due, swept %+v", got)
	}
	w.Clock.Add(time.Millisecond)
	if got := now(); got.Resent != 1 {
		t.Errorf("when it is due, swept %+v", got)
	}
	w.Run()
	if d := w.Delivery(ref, r.Hook.ID); d.State != endpoint.DeliveryDelivered || len(r.Receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.Receipts()), d)
	}
}

func TestADeliveryThatStaysOverdueIsRemindedEverMoreRarely(t *testing.T) {
	w := newWorld(t)
	create(t, w.API, hookURL, "*")
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	began := w.Clock.Now()
	w.Attempts.Wipe()
	var at []string
	for range 6 * 12 {
		w.Clock.Add(5 * time.Minute)
		if _, err := w.Search(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if len(w.Attempts.Sent) > 0 {
			at = append(at, w.Clock.Now().Sub(began).String())
		}
		w.Attempts.Wipe()
	}
	if got := strings.Join(at, " "); got != "5m0s 10m0s 20m0s 35m0s 1h5m0s 2h10m0s 4h20m0s" {
		t.Errorf("reminded after %s", got)
	}
}

func TestAnAttemptUnderWayIsNotReminded(t *testing.T) {
	w := newWorld(t)
	r := w.Receive(func(int, http.ResponseWriter) {
		// A backlog has made it late; just now it is being attempted.
		sweep(w, webhooktest.Lost{Events: 1, Overdue: 1})
	}, "*")
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Clock.Add(dispatch.OverdueGrace + time.Minute)
	w.Attempts.Serve(w.Deliverer.Handle)
	w.Delivered(r)
}

// pend writes pending deliveries, all in one shard.
func pend(w *world, webhookID string, n int) {
	w.T.Helper()
	o, now := w.Owner(), w.Clock.Now()
	to := &endpoint.Webhook{CreatedBy: w.API.Principal.Actor.ID}
	to.ID = webhookID
	for range n {
		ref := event.Ref{ID: id.New(id.Event, now), Type: event.ContentGenerated, Owner: o}
		_, it, err := endpoint.NewDelivery(now, now, ref, to)
		if err != nil {
			w.T.Fatal(err)
		}
		it.Due.PK = "delivery#15"
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := w.DB.Commit(w.T.Context(), tx); err != nil {
			w.T.Fatal(err)
		}
	}
}

func TestMoreOverdueDeliveriesThanAPage(t *testing.T) {
	w := newWorld(t)
	pend(w, create(t, w.API, hookURL, "*").ID, dispatch.SweepPage+20)
	w.Clock.Add(dispatch.OverdueGrace + time.Second)
	sweep(w, webhooktest.Lost{Overdue: dispatch.SweepPage + 20, Resent: dispatch.SweepPage + 20})
	w.Clock.Add(time.Second)
	sweep(w, webhooktest.Lost{Overdue: dispatch.SweepPage + 20})
}

func TestAReminderThatIsRefusedIsSentByTheNextSweep(t *testing.T) {
	w := newWorld(t)
	bad := create(t, w.API, hookURL, "*").ID
	pend(w, bad, 1)
	pend(w, create(t, w.API, hookURL, "*").ID, 2)
	w.Clock.Add(dispatch.OverdueGrace + time.Second)
	w.Attempts.Reject = func(m queue.Message) error {
		if m.Group == bad {
			return errors.New("not now")
		}
		return nil
	}
	got, err := w.Search(t.Context(), false)
	if err == nil || got != (webhooktest.Lost{Overdue: 3, Resent: 2}) {
		t.Errorf("swept %+v, %v", got, err)
	}
	w.Attempts.Reject = nil
	w.Clock.Add(5 * time.Minute)
	sweep(w, webhooktest.Lost{Overdue: 3, Resent: 3}) // which of them was refused, is not kept
}
