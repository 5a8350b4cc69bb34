package webhook_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestFunctionsShareTheLimitOfSlowAttempts(t *testing.T) {
	w := deliverNewWorld(t)
	w.MaxBatch = 100
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	slow := w.Receive(func(int, http.ResponseWriter) { <-blocked }, "*")
	t.Cleanup(release)
	quick := w.Receive(nil, "*")
	for range webhook.SlowLimit {
		w.Happen(event.ContentGenerated)
	}
	w.Dispatch()
	served := serving(w)
	told := func() int {
		it, err := w.DB.Get(t.Context(), inFlightKey(w, slow))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return len(it.Attributes)
	}
	for deadline := time.Now().Add(patience); told() < webhook.SlowLimit; {
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
	if len(slow.Receipts()) != webhook.SlowLimit || len(quick.Receipts()) != webhook.SlowLimit+1 {
		t.Errorf("%d and %d requests", len(slow.Receipts()), len(quick.Receipts()))
	}
	release()
	<-served
	if n := told(); n != 0 {
		t.Errorf("%d slow attempts are left", n)
	}
	w.Run()
	w.AllDelivered(slow, webhook.SlowLimit+1)
	w.AllDelivered(quick, webhook.SlowLimit+1)
}

// patience is the time after which a wait for something that other goroutines do at once is in vain, on a machine that
// does much else.
const patience = 2 * time.Minute

// serving has deliver work on a batch, until the channel is closed.
func serving(w *deliverWorld) <-chan struct{} {
	served := make(chan struct{})
	go func() {
		defer close(served)
		w.Attempts.Serve(w.Deliverer.Handle)
	}()
	return served
}

func TestAReceiverThatDoesNotUsuallyTakeLongIsTakenToHang(t *testing.T) {
	w := deliverNewWorld(t)
	hanging, slow := w.Receive(nil, "*"), w.Receive(nil, "*")
	// The known answers of both.
	for r, took := range map[*webhooktest.Receiver]time.Duration{hanging: webhook.SlowAfter / 10,
		slow: 2 * webhook.SlowAfter} {
		it, err := w.DB.Get(t.Context(), w.Ref(r.Hook.ID).Key())
		if err != nil {
			t.Fatal(err)
		}
		var known webhook.WebhookRecord
		if err := it.Decode(&known); err != nil {
			t.Fatal(err)
		}
		known.Latencies = known.Latencies.With(webhook.Sketch{webhook.Bucket(took.Milliseconds()): 10}, w.Clock.Now())
		if err := it.Encode(known); err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		slowElsewhere(w, r, webhook.HangLimit)
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
