package webhook_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// silent makes a receiver fail until its circuit breaker is open, and lets a number of events happen then.
func silent(w *deliverWorld, n *webhooktest.Network, r *webhooktest.Receiver, events int) {
	w.T.Helper()
	n.Set(r, true)
	for range webhook.TripAfter {
		w.Happen(event.ContentGenerated)
	}
	w.Run(w.Clock.Now().Add(8 * time.Second))
	for range events {
		w.Happen(event.ContentGenerated)
	}
	w.Dispatch()
}

// heldBack reads the entries of the held deliveries in the index, by their ids.
func heldBack(w *deliverWorld, r *webhooktest.Receiver) map[string]store.Key {
	w.T.Helper()
	all := map[string]store.Key{}
	for _, partition := range w.Ref(r.Hook.ID).HeldPartitions() {
		page, err := w.DB.Keys(w.T.Context(), store.Query{Index: store.ByDue, Partition: partition, Limit: 1000})
		if err != nil {
			w.T.Fatal(err)
		}
		for _, it := range page.Items {
			all[it.SK] = it.Due
		}
	}
	return all
}

// tasksOf counts the tasks of deliveries that have not ended.
func tasksOf(w *deliverWorld, r *webhooktest.Receiver) (n int) {
	w.T.Helper()
	for _, d := range w.Deliveries(r.Hook.ID) {
		it, err := w.DB.Lookup(w.T.Context(), d.Task())
		if err != nil {
			w.T.Fatal(err)
		}
		if it.Kind == task.ItemKind && !task.Over(it) {
			n++
		}
	}
	return n
}

func TestAHeldDeliveryHasNoMessageAndNoLook(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	const events = 200
	silent(w, n, r, events)
	sent := len(w.Attempts.Sent)
	keys := heldBack(w, r)
	w.Run(w.Clock.Now().Add(24 * time.Hour))
	if got := len(w.Attempts.Sent) - sent; got != 0 {
		t.Errorf("%d messages for held deliveries", got)
	}
	if got := tasksOf(w, r); got != 0 {
		t.Errorf("%d held deliveries have tasks", got)
	}
	if got := n.While(r); got < 24*12 || got > 24*60 {
		t.Errorf("%d probes in a day", got)
	}
	after := heldBack(w, r)
	if len(keys) != events+webhook.TripAfter || !maps.Equal(keys, after) {
		t.Errorf("%d held deliveries, %d a day later, or their keys have moved", len(keys), len(after))
	}
	perShard := map[string]int{}
	for _, key := range after {
		perShard[key.PK]++
	}
	most := slices.Max(slices.Collect(maps.Values(perShard)))
	if len(perShard) != webhook.HeldShards || most > events/4 {
		t.Errorf("the shards have %v", perShard)
	}
	for _, d := range w.Deliveries(r.Hook.ID) {
		// Probes add attempts to one delivery of each shard.
		if d.NextAttemptAt != nil || !d.Held() || d.Failures > 1 || len(d.Attempts) <= 1 && d.Version > 4 {
			t.Errorf("delivery %+v", d)
		}
	}
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, events+webhook.TripAfter)
	if left := heldBack(w, r); len(left) != 0 {
		t.Errorf("the index still has %v", left)
	}
}

func TestWhatWaitedIsSentFasterAndFaster(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	const events = 500
	silent(w, n, r, events)
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, events+webhook.TripAfter)
	var rates []int
	var at time.Time
	for _, got := range r.Receipts() {
		if len(rates) == 0 || got.At.Sub(at) >= time.Second {
			rates, at = append(rates, 0), got.At
		}
		rates[len(rates)-1]++
	}
	// The first round follows the probe at once.
	if want := []int{2, 2, 4, 8, 16, 32, 64, webhook.MostASecond}; len(rates) < len(want) ||
		!slices.Equal(rates[:len(want)], want) || slices.Max(rates) > webhook.MostASecond {
		t.Errorf("requests a second: %v", rates)
	}
	// Events of one round arrive in any order.
	order := map[string]int{}
	for i, d := range w.Deliveries(r.Hook.ID) {
		order[d.EventID] = i
	}
	for i, got := range r.Receipts()[1:] {
		if d := order[got.ID] - i; d < -webhook.MostASecond-1 || d > webhook.MostASecond+1 {
			t.Fatalf("the %d. request is the %d. event", i, order[got.ID])
		}
	}
}

func TestAFailureHalvesTheRate(t *testing.T) {
	for _, c := range []struct {
		name string
		did  webhook.Round
		want int
	}{
		{"all were quick", webhook.Round{Sent: 8}, 16},
		{"one failed", webhook.Round{Sent: 8, Failed: 1}, 4},
		{"one was slow", webhook.Round{Sent: 8, Slow: 1}, 8},
		{"the round was not full", webhook.Round{Sent: 7}, 8},
	} {
		if got := webhook.NextRate(8, c.did); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := webhook.NextRate(1, webhook.Round{Sent: 1, Failed: 1}); got != 1 {
		t.Errorf("the lowest rate is %d", got)
	}
	const most = webhook.MostASecond
	if got := webhook.NextRate(most, webhook.Round{Sent: most}); got != most {
		t.Errorf("the highest rate is %d", got)
	}
	if got := webhook.NextRate(64, webhook.Round{Sent: 64, Slow: 1}); got != webhook.SlowLimit {
		t.Errorf("a slow receiver has the rate %d", got)
	}
}

func TestAReceiverThatIsDownAgainHoldsTheRest(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	const events = 300
	silent(w, n, r, events)
	r.Plan = func(got int, rw http.ResponseWriter) {
		if got == 20 {
			n.Set(r, true)
		}
	}
	n.Set(r, false)
	w.Run(w.Clock.Now().Add(10 * time.Minute))
	touched := 0
	for _, d := range w.Deliveries(r.Hook.ID) {
		if d.State == webhook.DeliveryPending && d.Failures > 0 {
			touched++
		}
		if d.State == webhook.DeliveryFailed || d.Failures > 2 {
			t.Errorf("delivery %+v", d)
		}
	}
	got := len(r.Receipts())
	if left := len(heldBack(w, r)); left != events+webhook.TripAfter-got || touched > 40 {
		t.Errorf("%d requests; %d are held, of which %d have failed", got, left, touched)
	}
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, events+webhook.TripAfter)
}

// TestWhatIsHeldEndsWithItsWebhook ends webhooks in each way while deliveries are held.
func TestWhatIsHeldEndsWithItsWebhook(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(w *deliverWorld, n *webhooktest.Network, r *webhooktest.Receiver)
		within time.Duration
		reason string
	}{
		"disabled": {func(w *deliverWorld, _ *webhooktest.Network, r *webhooktest.Receiver) {
			w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
		}, 10 * time.Second, webhook.FailedDisabled},
		"deleted": {func(w *deliverWorld, _ *webhooktest.Network, r *webhooktest.Receiver) {
			w.API.Call(http.MethodDelete, "/v1/webhooks/"+r.Hook.ID, nil)
		}, 6 * time.Minute, webhook.FailedDeleted},
		"gone": {func(_ *deliverWorld, n *webhooktest.Network, r *webhooktest.Receiver) {
			r.Plan = deliverAnswers(http.StatusGone)
			n.Set(r, false)
		}, 6 * time.Minute, webhook.FailedDisabled},
		"5 days of failures": {func(*deliverWorld, *webhooktest.Network, *webhooktest.Receiver) {},
			webhook.FailingLimit + 10*time.Minute, webhook.FailedDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			w := deliverNewWorld(t)
			n := w.Cut()
			r := w.Receive(nil, "*")
			silent(w, n, r, 150)
			c.end(w, n, r)
			w.Run(w.Clock.Now().Add(c.within))
			ended := map[string]int{}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.FailedReason != nil {
					ended[*d.FailedReason]++
				}
			}
			gone := ended[webhook.FailedGone]
			if ended[c.reason]+gone != 150+webhook.TripAfter || gone > 1 || len(heldBack(w, r)) > 0 {
				t.Errorf("%v, %d are held", ended, len(heldBack(w, r)))
			}
			w.Run() // the timer ends
			if _, any := w.Next(); any {
				t.Error("there are messages left")
			}
		})
	}
}

func TestAnEventThatIsNeverAnsweredKeepsNobodyWaiting(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	silent(w, n, r, 30)
	bad := w.Deliveries(r.Hook.ID)[0].EventID
	n.Hang(bad)
	n.Set(r, false)
	w.Run(w.Clock.Now().Add(30 * time.Minute))
	for _, d := range w.Deliveries(r.Hook.ID) {
		if (d.State != webhook.DeliveryDelivered) != (d.EventID == bad) {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestAReplayLeavesWhatIsHeld(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	since := w.Clock.Now().Add(-time.Minute)
	silent(w, n, r, 20)
	w.Commit(w.Owner(), 3) // of which the bus knows nothing
	before := heldBack(w, r)
	w.Clock.Add(time.Second)
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/replay", map[string]any{"since": since})
	w.Run(w.Clock.Now().Add(time.Second))
	after := heldBack(w, r)
	for id, key := range before {
		if after[id] != key {
			t.Errorf("%s was touched", id)
		}
	}
	if len(after) != len(before)+3 || tasksOf(w, r) != 0 {
		t.Errorf("%d and %d are held, %d have tasks", len(before), len(after), tasksOf(w, r))
	}
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, 20+3+webhook.TripAfter)
}

func TestTheSecretOfAHeldDeliveryIsThatOfItsAttempt(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	silent(w, n, r, 20)
	var rotated webhook.NewWebhook
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/rotate-secret", nil).Into(t, http.StatusOK, &rotated)
	r.Hook.Secret = rotated.Secret // by which the receiver checks
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, 20+webhook.TripAfter)
}

func TestMessagesOfATimerThatComeTwice(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	w.Slow.Twice, w.Attempts.Twice = true, true
	silent(w, n, r, 100)
	n.Set(r, false)
	w.Run()
	w.AllDelivered(r, 100+webhook.TripAfter)
}

func TestATimerThatIsLostIsMadeAgain(t *testing.T) {
	w := deliverNewWorld(t)
	n := w.Cut()
	r := w.Receive(nil, "*")
	silent(w, n, r, 10)
	for _, q := range []*webhooktest.Queue{w.Attempts, w.Slow} {
		q.Messages = slices.DeleteFunc(q.Messages, func(m *webhooktest.Message) bool {
			return strings.Contains(m.Body, fmt.Sprintf(`"kind":%q`, webhook.TimerKind))
		})
	}
	w.Clock.Add(time.Hour)
	n.Set(r, false)
	w.Happen(event.ContentGenerated)
	w.Run()
	w.AllDelivered(r, 10+1+webhook.TripAfter)
}
