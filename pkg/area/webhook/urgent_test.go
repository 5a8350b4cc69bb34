package webhook_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// deliverOutage makes a receiver fail until its circuit breaker has long been open. Ten minutes
// later the next probe is due in a minute.
func deliverOutage(w *deliverWorld, n *webhooktest.Network, r *webhooktest.Receiver) {
	w.T.Helper()
	n.Set(r, true)
	for range webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(10 * time.Minute))
}

// sample sends a sample event by the API.
func sample(w *deliverWorld, r *webhooktest.Receiver) (d webhook.Delivery) {
	w.T.Helper()
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/test",
		map[string]any{"event_type": event.BalanceLow}).Into(w.T, http.StatusAccepted, &d)
	w.Relay()
	return d
}

// redeliver has an event delivered again by the API.
func redeliver(w *deliverWorld, r *webhooktest.Receiver, id string) (d webhook.Delivery) {
	w.T.Helper()
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/deliveries/"+id+"/redeliver", nil).Into(w.T,
		http.StatusAccepted, &d)
	w.Relay()
	return d
}

// rewrite writes a delivery that another function has changed.
func rewrite(w *deliverWorld, d *webhook.DeliveryRecord) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), d.Key())
	if err == nil {
		err = d.WriteTo(&it)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// waits checks the reason for which the delivery of an event waits, as in the API's answer. It is empty if the
// delivery has ended.
func waits(w *deliverWorld, r *webhooktest.Receiver, eventID, want string) {
	w.T.Helper()
	var all []webhook.Delivery
	w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID+"/deliveries", nil).Into(w.T, http.StatusOK, &all)
	i := slices.IndexFunc(all, func(d webhook.Delivery) bool { return d.EventID == eventID })
	if i < 0 {
		w.T.Fatalf("no delivery of %s", eventID)
	}
	got := ""
	if f := all[i].WaitingFor; f != nil {
		got = *f
	}
	if got != want || (want == "" || want == webhook.WaitsBreaker) != (all[i].NextAttemptAt == nil) {
		w.T.Errorf("waits for %q until %v, want %q", got, all[i].NextAttemptAt, want)
	}
}

func TestASampleIsSentWhileTheReceiverCountsAsDown(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	deliverOutage(w, n, r)
	n.Set(r, false)
	w.Run(w.Clock.Now()) // no probe is due
	if got := len(r.Receipts()); got != 0 {
		t.Fatalf("%d requests before the sample", got)
	}
	d := sample(w, r)
	w.Run(w.Clock.Now())
	if got := r.Receipts(); len(got) == 0 || got[0].ID != d.EventID {
		t.Fatalf("%d requests, the first one not the sample", len(got))
	}
	// Its success ends the outage: the waiting events are delivered, too.
	w.Run(w.Clock.Now().Add(soon))
	w.AllDelivered(r, webhook.TripAfter+1)
}

func TestARedeliveryIsMadeWhileTheReceiverCountsAsDown(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	deliverOutage(w, n, r)
	n.Set(r, false)
	held := w.Deliveries(r.Hook.ID)[2]
	waits(w, r, held.EventID, webhook.WaitsBreaker)
	if d := redeliver(w, r, held.ID); d.WaitingFor == nil || *d.WaitingFor != webhook.WaitsRedelivery {
		t.Errorf("answered %+v", d)
	}
	waits(w, r, held.EventID, webhook.WaitsRedelivery)
	w.Run(w.Clock.Now())
	if got := r.Receipts(); len(got) == 0 || got[0].ID != held.EventID {
		t.Fatalf("%d requests, the first one not the redelivery", len(got))
	}
	waits(w, r, held.EventID, "")
	w.Run(w.Clock.Now().Add(soon))
	w.AllDelivered(r, webhook.TripAfter)
}

func TestAnUrgentAttemptThatFailsIsLikeAProbe(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	deliverOutage(w, n, r)
	breaker := webhook.HealthKeys(w.Ref(r.Hook.ID))[1]
	before, err := w.DB.Get(t.Context(), breaker)
	if err != nil {
		t.Fatal(err)
	}
	tried := n.While(r)
	d := sample(w, r)
	w.Run(w.Clock.Now())
	if got := n.While(r) - tried; got != 1 {
		t.Errorf("%d attempts", got)
	}
	ref := event.Ref{ID: d.EventID}
	if got := w.Delivery(ref, r.Hook.ID); got.Failures != 0 || len(got.Attempts) != 1 || got.Attempts[0].Error == nil {
		t.Errorf("delivery %+v", got)
	}
	waits(w, r, d.EventID, webhook.WaitsBreaker)
	if after, err := w.DB.Get(t.Context(), breaker); err != nil || after.Version != before.Version {
		t.Errorf("the circuit breaker has changed: %v", err)
	}
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, webhook.TripAfter+1)
}

func TestAnUrgentAttemptWaitsForNoSlowOnes(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	slowElsewhere(w, r, webhook.SlowLimit)
	usual := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now())
	waits(w, r, usual.ID, webhook.WaitsCapacity)
	d := sample(w, r)
	// One that may hang occupies a deliverer for slow receivers.
	for w.Attempts.Serve(w.Deliverer.Handle) {
	}
	if got := len(r.Receipts()); got != 0 {
		t.Errorf("%d requests by the deliverer for all", got)
	}
	w.Run(w.Clock.Now())
	if got := r.Receipts(); len(got) != 1 || got[0].ID != d.EventID {
		t.Errorf("%d requests, the sample is not the only one", len(got))
	}
	w.Run()
	w.AllDelivered(r, 2)
}

func TestADeliveryThatIsPutOffMeanwhileIsStillMadeAtOnce(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	deliverOutage(w, n, r)
	n.Set(r, false)
	held := w.Deliveries(r.Hook.ID)[0]
	redeliver(w, r, held.ID)
	// Another message comes first, and finds no room.
	d := w.Delivery(event.Ref{ID: held.EventID}, r.Hook.ID)
	d.PutOff(w.Clock.Now(), w.Clock.Now().Add(time.Minute), webhook.WaitsCapacity)
	rewrite(w, &d)
	w.Run(w.Clock.Now())
	if got := r.Receipts(); len(got) == 0 || got[0].ID != held.EventID {
		t.Errorf("%d requests, the first one not the redelivery", len(got))
	}
}

func TestADeliverySaysWhatItWaitsFor(t *testing.T) {
	w := deliverNewWorld(t)
	plan := deliverAnswers(500, 200)
	r := w.Receive(nil, "*")
	var ref event.Ref
	r.Plan = func(n int, rw http.ResponseWriter) {
		waits(w, r, ref.ID, webhook.WaitsResponse)
		plan(n, rw)
	}
	ref = w.Happen(event.ContentGenerated)
	w.Dispatch()
	waits(w, r, ref.ID, webhook.WaitsFirst)
	w.Run(w.Clock.Now())
	waits(w, r, ref.ID, webhook.WaitsRetry)
	w.Run()
	waits(w, r, ref.ID, "")
}

func TestADeathAtAnyStepOfAnUrgentAttemptLosesNothing(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		var r *webhooktest.Receiver
		var d webhook.Delivery
		w.Fuse.Pause(func() {
			r = w.Receive(nil, "content.*")
			deliverOutage(w, n, r)
			n.Set(r, false)
			d = sample(w, r)
		})
		began := w.Clock.Now()
		w.Run()
		w.Fuse.Pause(func() {
			requests := 0
			for _, got := range r.Receipts() {
				if got.ID == d.EventID {
					requests++
				}
			}
			if requests < 1 || requests > 2 {
				t.Errorf("%d requests", requests)
			}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.State != webhook.DeliveryDelivered || d.Lease != nil || d.UpdatedAt.Sub(began) > time.Hour {
					t.Errorf("delivery %+v", d)
				}
			}
			w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
			r.Server.Close()
		})
		w.Clock.Add(time.Hour)
	})
}
