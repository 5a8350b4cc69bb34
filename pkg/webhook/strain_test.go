package webhook

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store"
)

func TestASlowReceiverKeepsFewAttemptsWaiting(t *testing.T) {
	w := newWorld(t)
	w.deliverer.patience, w.maxBatch = time.Second, 100
	var mu sync.Mutex
	busy, most := 0, 0
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	slow := w.receive(func(int, http.ResponseWriter) {
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
	quick := w.receive(nil, "*")
	const total = 60
	for range total {
		w.happen(event.ContentGenerated)
	}
	w.dispatch()
	served := w.serving()
	// All others are put off while the slow ones still wait for their answers.
	deadline := time.Now().Add(20 * time.Second)
	for {
		put := 0
		for _, d := range w.deliveries(slow.hook.ID) {
			if d.NextAttemptAt != nil && d.NextAttemptAt.After(w.clock.Now()) {
				put++
			}
		}
		if put == total-slotsPerHook && len(quick.receipts()) == total {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d put off, %d requests at the quick one", put, len(quick.receipts()))
		}
	}
	release()
	<-served
	w.run()
	if most != slotsPerHook {
		t.Errorf("%d attempts at a time", most)
	}
	w.allDelivered(slow, total)
	w.allDelivered(quick, total)
	for _, d := range w.deliveries(slow.hook.ID) {
		if len(d.Attempts) != 1 || d.UpdatedAt.Sub(d.CreatedAt) > 2*pauseWhenBusy {
			t.Errorf("delivery %+v", d)
		}
	}
}

func TestFunctionsTellEachOtherOfSlowAttempts(t *testing.T) {
	w := newWorld(t)
	w.maxBatch = 100
	blocked := make(chan struct{})
	release := sync.OnceFunc(func() { close(blocked) })
	slow := w.receive(func(int, http.ResponseWriter) { <-blocked }, "*")
	t.Cleanup(release)
	quick := w.receive(nil, "*")
	for range slowLimit {
		w.happen(event.ContentGenerated)
	}
	w.dispatch()
	served := w.serving()
	told := func() (n int) {
		it, err := w.db.Get(t.Context(), w.owner().strainKey(slow.hook.ID))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		var s strain
		s.read(it, w.clock.Now())
		return s.others
	}
	for deadline := time.Now().Add(20 * time.Second); told() < slowLimit; {
		if time.Now().After(deadline) {
			t.Fatalf("told of %d slow attempts", told())
		}
	}
	// Another function leaves the slow one alone, and serves the quick one.
	w.happen(event.ContentFailed)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	if w.slow.serve(w.patient.Handle) {
		t.Error("what is only put off was passed on")
	}
	if len(slow.receipts()) != slowLimit || len(quick.receipts()) != slowLimit+1 {
		t.Errorf("%d and %d requests", len(slow.receipts()), len(quick.receipts()))
	}
	release()
	<-served
	if n := told(); n != 0 {
		t.Errorf("%d slow attempts are left", n)
	}
	w.run()
	w.allDelivered(slow, slowLimit+1)
	w.allDelivered(quick, slowLimit+1)
}

// serving has deliver work on a batch, until the channel is closed.
func (w *world) serving() <-chan struct{} {
	served := make(chan struct{})
	go func() {
		defer close(served)
		w.attempts.serve(w.deliverer.Handle)
	}()
	return served
}

// takesLong are the latencies of a receiver whose answers count as slow.
var takesLong = latencies{Current: histogram{bucket(2 * slowAfter.Milliseconds()): 1}}

func TestTheStrainOfADeadFunctionEnds(t *testing.T) {
	now := apitest.NewClock().Now()
	it := store.Item{Attributes: map[string]string{
		"alive": "3 " + now.Add(time.Second).Format(instantPattern), "another": "2 " + now.Add(time.Minute).Format(instantPattern),
		"dead": "90 " + now.Format(instantPattern), "garbage": "x",
	}}
	s := strain{usual: takesLong}
	s.read(it, now)
	slices.Sort(s.ended)
	if s.others != 5 || s.isHigh() || !slices.Equal(s.ended, []string{"dead", "garbage"}) {
		t.Errorf("strain %+v", &s)
	}
	w := &worker{by: "me", Deliverer: &Deliverer{now: func() time.Time { return now }}}
	told := w.strained(store.Key{}, slowLimit-5, s.ended)
	if dead, ok := told.Attributes["dead"]; !ok || dead != "" || len(told.Attributes) != 3 {
		t.Errorf("told %+v", told.Attributes)
	}
	other := strain{usual: takesLong}
	other.read(store.Item{Attributes: map[string]string{"me": told.Attributes["me"], "alive": it.Attributes["alive"], "another": it.Attributes["another"]}}, now.Add(time.Millisecond))
	if !other.isHigh() || other.others != slowLimit {
		t.Errorf("strain %+v", &other)
	}
}

func TestAReceiverThatDoesNotUsuallyTakeLongIsTakenToHang(t *testing.T) {
	w := newWorld(t)
	hanging, slow := w.receive(nil, "*"), w.receive(nil, "*")
	// What both have answered, as far as is known.
	for r, took := range map[*receiver]time.Duration{hanging: slowAfter / 10, slow: 2 * slowAfter} {
		it, err := w.db.Get(t.Context(), w.owner().webhookKey(r.hook.ID))
		if err != nil {
			t.Fatal(err)
		}
		var known record
		if err := it.Decode(&known); err != nil {
			t.Fatal(err)
		}
		known.Latencies = known.Latencies.with(histogram{bucket(took.Milliseconds()): 10}, w.clock.Now())
		if err := it.Encode(known); err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Replace(it)
		if err := w.db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		w.strained(r, hangLimit)
	}
	w.happen(event.ContentGenerated)
	w.dispatch()
	w.attempts.serve(w.deliverer.Handle)
	w.slow.serve(w.patient.Handle)
	if len(hanging.receipts()) != 0 || len(slow.receipts()) != 1 {
		t.Errorf("%d and %d requests", len(hanging.receipts()), len(slow.receipts()))
	}
	w.run()
	w.allDelivered(hanging, 1)
}
