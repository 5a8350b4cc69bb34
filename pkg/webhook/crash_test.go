package webhook

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/event"
)

// eachDeath runs a scenario again and again, with a death one step later each
// time, once before that step has its effect and once after it, until a run ends
// without one. The scenario must hold whatever dies.
func eachDeath(t *testing.T, w *world, scenario func(t *testing.T)) {
	t.Helper()
	for _, after := range []bool{false, true} {
		for steps := 0; ; steps++ {
			died := false
			t.Run(fmt.Sprintf("step %d after %v", steps, after), func(t *testing.T) {
				w.t = t
				w.fuse.light(steps, after)
				scenario(t)
				died = w.fuse.douse()
			})
			if t.Failed() {
				return
			}
			if !died {
				if steps < 8 {
					t.Errorf("the whole scenario has %d steps only", steps)
				}
				break
			}
		}
	}
}

func TestADeathAtAnyStepLosesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "content.*")
	eachDeath(t, w, func(t *testing.T) {
		w.fuse.pause(func() { w.happenTo(r, answers(500, 204)) })
		before := len(r.receipts())
		w.run()
		w.fuse.pause(func() {
			all := w.deliveries(r.hook.ID)
			d := all[len(all)-1]
			got := r.receipts()[before:]
			if d.State != "delivered" || d.Claim != nil || len(d.Attempts) == 0 || len(d.Attempts) > len(got) {
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
			if hook := w.webhook(r.hook.ID); hook.FailingSince != nil || hook.LastSuccessAt == nil {
				t.Errorf("webhook %+v", hook)
			}
		})
		w.clock.Add(time.Hour)
	})
}

func TestADeathAtAnyStepDisablesTheWebhookOnce(t *testing.T) {
	w := newWorld(t)
	told := 0
	eachDeath(t, w, func(t *testing.T) {
		var r *receiver
		w.fuse.pause(func() {
			r = w.receive(answers(410), "content.*")
			w.happen(event.ContentGenerated)
		})
		w.run()
		w.fuse.pause(func() {
			hook := w.webhook(r.hook.ID)
			if hook.State != "disabled" || *hook.DisabledReason != "gone" {
				t.Errorf("webhook %+v", hook)
			}
			all := w.told(event.WebhookDisabled)
			if told++; len(all) != told {
				t.Errorf("told %d times, want %d", len(all), told)
			}
			for _, d := range w.deliveries(r.hook.ID) {
				if d.State != "failed" || *d.FailedReason != "gone" && *d.FailedReason != "webhook_disabled" {
					t.Errorf("delivery %+v", d)
				}
			}
			if n := len(r.receipts()); n < 1 || n > 2 {
				t.Errorf("%d requests", n)
			}
			w.api.Call(http.MethodDelete, "/v1/webhooks/"+r.hook.ID, nil)
			r.server.Close()
		})
		w.clock.Add(time.Hour)
	})
}

// happenTo makes an event that the receiver answers by the plan.
func (w *world) happenTo(r *receiver, plan func(int, http.ResponseWriter)) {
	var mu sync.Mutex
	n := 0
	r.plan = func(_ int, rw http.ResponseWriter) {
		mu.Lock()
		defer mu.Unlock()
		n++
		plan(n, rw)
	}
	w.happen(event.ContentGenerated)
}

func TestMessagesThatComeTwiceMakeOneRequestEach(t *testing.T) {
	for _, batch := range []int{1, 2, 10} {
		t.Run(fmt.Sprint("batches of ", batch), func(t *testing.T) {
			w := newWorld(t)
			w.maxBatch, w.events.twice, w.attempts.twice = batch, true, true
			r := w.receive(answers(500, 500, 200), "*")
			w.happen(event.ContentGenerated)
			w.run()
			if n := len(r.receipts()); n != 3 {
				t.Errorf("%d requests", n)
			}
			all := w.deliveries(r.hook.ID)
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
			w := newWorld(t)
			var message string
			r := w.receive(func(n int, rw http.ResponseWriter) {
				if n == 1 {
					// It takes so long that its message comes again, to another function.
					w.clock.Add(lease + time.Second)
					out, err := w.deliverer.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "again", Body: message}}})
					if err != nil || len(out.BatchItemFailures) != 0 {
						t.Errorf("the second function: %+v, %v", out, err)
					}
					rw.WriteHeader(c.first)
					return
				}
				rw.WriteHeader(c.second)
			}, "*")
			ref := w.happen(event.ContentGenerated)
			w.dispatch()
			message = w.attempts.messages[0].body
			w.attempts.serve(w.deliverer.Handle)
			d := w.delivery(ref, r.hook.ID)
			if d.State != c.state || len(d.Attempts) != c.attempts || d.Claim != nil || (d.NextAttemptAt == nil) != (c.state == "delivered") {
				t.Errorf("delivery %+v", d)
			}
			r.plan = nil
			w.run()
			if d := w.delivery(ref, r.hook.ID); c.state == "delivered" && len(r.receipts()) != 2 || c.first != 410 && d.State != "delivered" {
				t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
			}
		})
	}
}

func TestAnOutcomeIsRecordedThoughTheTableRefusesWrites(t *testing.T) {
	w := newWorld(t)
	r := w.receive(func(n int, _ http.ResponseWriter) {
		if n == 2 { // the first has written what there is to write of the webhook's health
			w.faults.Refuse("BatchExecuteStatement", "ThrottlingException", 8)
		}
	}, "*")
	w.happen(event.ContentGenerated)
	w.run()
	ref := w.happen(event.ContentGenerated)
	w.run()
	if d := w.delivery(ref, r.hook.ID); d.State != "delivered" || len(d.Attempts) != 1 || len(r.receipts()) != 2 {
		t.Errorf("%d requests, delivery %+v", len(r.receipts()), d)
	}
}

func TestADeliveryTakesThreeRoundTrips(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.happen(event.ContentGenerated)
	w.run()
	w.happen(event.ContentGenerated)
	w.faults.Reset()
	w.dispatch()
	if got := w.faults.Operations(); got != "Query PutItem" {
		t.Errorf("dispatch: %s", got)
	}
	w.faults.Reset()
	w.run()
	if got := w.faults.Operations(); got != "BatchGetItem BatchExecuteStatement BatchExecuteStatement" {
		t.Errorf("deliver: %s", got)
	}
	if len(r.receipts()) != 2 {
		t.Errorf("%d requests", len(r.receipts()))
	}
}
