package deliver_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/health"
	"github.com/content-automation/api/pkg/area/webhook/webhooktest"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestASlowReceiverKeepsFewAttemptsWaiting(t *testing.T) {
	w := newWorld(t)
	w.Deliverer.Patience, w.MaxBatch = time.Second, 100
	var mu sync.Mutex
	busy, most := 0, 0
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	slow := w.Receive(func(int, http.ResponseWriter) {
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		<-blocked
		mu.Lock()
		busy--
		mu.Unlock()
	}, "*")
	t.Cleanup(release)
	quick := w.Receive(nil, "*")
	const total = 60
	for range total {
		w.Happen(event.ContentGenerated)
	}
	w.Dispatch()
	served := serving(w)
	// All others are put off while the slow ones still wait for their answers.
	deadline := time.Now().Add(patience)
	for {
		put := 0
		for _, d := range w.Deliveries(slow.Hook.ID) {
			if d.NextAttemptAt != nil && d.NextAttemptAt.After(w.Clock.Now()) {
				put++
			}
		}
		if put == total-health.SlotsPerReceiver && len(quick.Receipts()) == total {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d put off, %d requests at the quick one", put, len(quick.Receipts()))
		}
	}
	release()
	<-served
	w.Run()
	if most != health.SlotsPerReceiver {
		t.Errorf("%d attempts at a time", most)
	}
	w.AllDelivered(slow, total)
	w.AllDelivered(quick, total)
	for _, d := range w.Deliveries(slow.Hook.ID) {
		if len(d.Attempts) != 1 || d.UpdatedAt.Sub(d.CreatedAt.Time) > 2*health.Pause {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestFunctionsShareTheLimitOfSlowAttempts(t *testing.T) {
	w := newWorld(t)
	w.MaxBatch = 100
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	slow := w.Receive(func(int, http.ResponseWriter) { <-blocked }, "*")
	t.Cleanup(release)
	quick := w.Receive(nil, "*")
	for range health.SlowLimit {
		w.Happen(event.ContentGenerated)
	}
	w.Dispatch()
	served := serving(w)
	told := func() (n int) {
		it, err := w.DB.Get(t.Context(), inFlightKey(w, slow))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		for _, value := range it.Attributes {
			count, _, _ := strings.Cut(value, " ")
			others, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			n += others
		}
		return n
	}
	for deadline := time.Now().Add(patience); told() < health.SlowLimit; {
		if time.Now().After(deadline) {
			t.Fatalf("told of %d slow attempts", told())
		}
	}
	// Another function leaves the slow one alone, and serves the quick one.
	w.Happen(event.ContentFailed)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	if w.Slow.Serve(w.Patient.Handle) {
		t.Error("what is only put off was passed on")
	}
	if len(slow.Receipts()) != health.SlowLimit || len(quick.Receipts()) != health.SlowLimit+1 {
		t.Errorf("%d and %d requests", len(slow.Receipts()), len(quick.Receipts()))
	}
	release()
	<-served
	if n := told(); n != 0 {
		t.Errorf("%d slow attempts are left", n)
	}
	w.Run()
	w.AllDelivered(slow, health.SlowLimit+1)
	w.AllDelivered(quick, health.SlowLimit+1)
}

// serving has deliver work on a batch, until the channel is closed.
func serving(w *world) <-chan struct{} {
	served := make(chan struct{})
	go func() {
		defer close(served)
		w.Attempts.Serve(w.Deliverer.Handle)
	}()
	return served
}

func TestAReceiverThatDoesNotUsuallyTakeLongIsTakenToHang(t *testing.T) {
	w := newWorld(t)
	hanging, slow := w.Receive(nil, "*"), w.Receive(nil, "*")
	// The known answers of both.
	for r, took := range map[*webhooktest.Receiver]time.Duration{hanging: health.SlowAfter / 10,
		slow: 2 * health.SlowAfter} {
		it, err := w.DB.Get(t.Context(), w.Ref(r.Hook.ID).Key())
		if err != nil {
			t.Fatal(err)
		}
		var known endpoint.WebhookRecord
		if err := it.Decode(&known); err != nil {
			t.Fatal(err)
		}
		known.Latencies = known.Latencies.With(endpoint.Sketch{endpoint.Bucket(took.Milliseconds()): 10}, w.Clock.Now())
		if err := it.Encode(known); err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		slowElsewhere(w, r, health.HangLimit)
	}
	w.Happen(event.ContentGenerated)
	w.Dispatch()
	w.Attempts.Serve(w.Deliverer.Handle)
	w.Slow.Serve(w.Patient.Handle)
	if len(hanging.Receipts()) != 0 || len(slow.Receipts()) != 1 {
		t.Errorf("%d and %d requests", len(hanging.Receipts()), len(slow.Receipts()))
	}
	w.Run()
	w.AllDelivered(hanging, 1)
}
