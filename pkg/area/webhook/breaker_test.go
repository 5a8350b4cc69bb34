package webhook_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestAReceiverThatIsDownHarmsNobody(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	w.MaxBatch = 10
	dead, healthy := w.Receive(nil, "*"), w.Receive(nil, "*")
	n.Set(dead, true)
	began, total := w.Clock.Now(), 0
	// Ten events a second for half a minute, and then one a minute.
	tick := func(events int, step time.Duration) {
		for range events {
			w.Happen(event.ContentGenerated)
		}
		total += events
		w.Run(w.Clock.Now())
		if got := len(healthy.Receipts()); got != total {
			t.Fatalf("%v after the first of them, the healthy one has %d of %d events",
				w.Clock.Now().Sub(began), got, total)
		}
		w.Run(w.Clock.Now().Add(step))
		w.Clock.Add(began.Add(time.Duration(total/10) * time.Second).Sub(w.Clock.Now()))
	}
	for range 30 {
		tick(10, time.Second)
	}
	early := n.While(dead)
	if early < webhook.TripAfter || early > 40 {
		t.Errorf("%d attempts in the first half minute", early)
	}
	w.Run(w.Clock.Now().Add(10 * time.Minute))
	if late := n.While(dead) - early; late < 10 || late > 60 {
		t.Errorf("%d attempts in ten minutes", late)
	}
	if wh := w.Webhook(dead.Hook.ID); wh.State != webhook.StateEnabled || wh.FailingSince == nil {
		t.Errorf("webhook %+v", wh)
	}

	down := w.Clock.Now().Sub(began)
	n.Set(dead, false)
	back := w.Clock.Now()
	w.Run()
	w.AllDelivered(dead, total)
	w.AllDelivered(healthy, total)
	receipts := dead.Receipts()
	if took := receipts[len(receipts)-1].At.Sub(back); took > down/8 {
		t.Errorf("after %v all had arrived in %v", down, took)
	}
	if _, err := w.DB.Get(t.Context(), webhook.HealthKeys(w.Ref(dead.Hook.ID))[1]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the circuit breaker is still there: %v", err)
	}
	for _, d := range w.Deliveries(dead.Hook.ID) {
		if d.Failures > 1 || d.Held() {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestAShortOutageEndsWithinSeconds(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	n.Set(r, true)
	for range 30 {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(20 * time.Second))
	n.Set(r, false)
	back := w.Clock.Now()
	w.Run()
	w.AllDelivered(r, 30)
	for _, got := range r.Receipts() {
		if took := got.At.Sub(back); took > soon {
			t.Errorf("one arrived %v after the return", took)
		}
	}
}

func TestADeathAtAnyStepOfAnOutageLosesNothing(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	total := 0
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		var r *webhooktest.Receiver
		w.Fuse.Pause(func() {
			r = w.Receive(nil, "content.*")
			n.Set(r, true)
			for range webhook.TripAfter + 2 {
				w.Happen(event.ContentGenerated)
			}
		})
		w.Run(w.Clock.Now().Add(10 * time.Second))
		n.Set(r, false)
		w.Run()
		w.Fuse.Pause(func() {
			total++
			got := map[string]int{}
			for _, one := range r.Receipts() {
				got[one.ID]++
			}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.State != webhook.DeliveryDelivered || d.Lease != nil || d.Held() || got[d.EventID] < 1 ||
					got[d.EventID] > 2 {
					t.Errorf("%d requests, delivery %+v", got[d.EventID], d)
				}
			}
			if extra := len(r.Receipts()) - len(got); len(got) != webhook.TripAfter+2 || extra > webhook.TripAfter+2 {
				t.Errorf("%d requests for %d events", len(r.Receipts()), len(got))
			}
			w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
			r.Server.Close()
		})
		w.Clock.Add(time.Hour)
	})
}

func TestMoreIsHeldBackThanAPage(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	n.Set(r, true)
	const total = 150
	for range webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now())
	for range total - webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(20 * time.Second))
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, total)
}

func TestWhatIsHeldBackAfterTheEndIsWokenToo(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	n.Set(r, true)
	for range webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(11 * time.Second))
	n.Set(r, false)
	for len(r.Receipts()) == 0 {
		at, _ := w.Next()
		w.Run(at)
	}
	// One function's knowledge is old: it holds back an event that comes just after the end.
	ref := w.Happen(event.ContentGenerated)
	w.Dispatch()
	d := w.Delivery(ref, r.Hook.ID)
	d.Hold(w.Clock.Now())
	rewrite(w, &d)
	for _, q := range []*webhooktest.Queue{w.Attempts, w.Slow} {
		q.Messages = slices.DeleteFunc(q.Messages,
			func(m *webhooktest.Message) bool { return strings.Contains(m.Body, d.ID) })
	}
	began := w.Clock.Now()
	w.Run(began.Add(30 * time.Second))
	w.AllDelivered(r, webhook.TripAfter+1)
}

func TestAnOutageIsOfOneAddress(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r, other := w.Receive(nil, "*"), w.Receive(nil, "balance.low")
	other.Hook.Secret = r.Hook.Secret
	n.Set(r, true)
	for range 10 {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(7 * time.Second))
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"url": other.Server.URL})
	moved := w.Clock.Now()
	w.Relay()
	w.Run()
	got := other.Receipts()
	if len(got) != 10 {
		t.Fatalf("%d requests", len(got))
	}
	for _, one := range got {
		if took := one.At.Sub(moved); took > soon {
			t.Errorf("one arrived after %v", took)
		}
	}
}

func TestWhatWaitsForADisabledWebhookFails(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	n.Set(r, true)
	for range 10 {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(20 * time.Second))
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
	w.Run()
	for _, d := range w.Deliveries(r.Hook.ID) {
		if d.State != webhook.DeliveryFailed || *d.FailedReason != webhook.FailedDisabled {
			t.Errorf("delivery %+v", d)
		}
	}
	// Enabled again it starts afresh.
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "enabled"})
	n.Set(r, false)
	w.Clock.Add(time.Second)
	ref := w.Happen(event.ContentGenerated)
	began := w.Clock.Now()
	w.Run(began)
	if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered {
		t.Errorf("delivery %+v", d)
	}
}

func TestAnAnswerIsNoOutage(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(deliverAnswers(500), "*")
	for range 3 {
		for range 2 {
			n.Set(r, true)
			w.Happen(event.ContentGenerated)
			w.Run(w.Clock.Now())
		}
		n.Set(r, false)
		w.Happen(event.ContentGenerated)
		w.Run(w.Clock.Now())
	}
	if n := len(r.Receipts()); n != 3 {
		t.Errorf("%d requests", n)
	}
	for i, d := range w.Deliveries(r.Hook.ID) {
		if d.Held() || d.Failures != 1 || d.State != webhook.DeliveryPending {
			t.Errorf("delivery %d: %+v", i, d)
		}
	}
}
