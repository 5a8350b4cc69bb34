package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
	"github.com/content-automation/api/pkg/tenant"
)

// sweep sweeps once, which must find and do what is wanted.
func (w *world) sweep(want Swept) {
	w.t.Helper()
	got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(w.t.Context(), Sweep{})
	if err != nil || got != want {
		w.t.Fatalf("swept %+v, %v; want %+v", got, err, want)
	}
}

// wipe empties a queue.
func (q *fakeQueue) wipe() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages, q.sent = nil, nil
}

// commit writes events of an owner that the bus never hears of.
func (w *world) commit(o owner, n int) {
	w.t.Helper()
	for range n {
		it, err := event.New(w.clock.Now(), o.Owner, event.ContentGenerated, map[string]any{"id": "cnt_1"}, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Create(it, nil)
		if err := w.db.Commit(w.t.Context(), tx); err != nil {
			w.t.Fatal(err)
		}
	}
}

// mark tells how far the sweeps of the events have come.
func (w *world) mark() string {
	w.t.Helper()
	m, err := NewSweeper(w.db, w.attempts, w.clock.Now).mark(w.t.Context(), "events")
	if err != nil {
		w.t.Fatal(err)
	}
	return m.Done
}

func TestAnEventThatTheBusLostIsDelivered(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "content.*")
	other := create(t, w.api, hookURL, "balance.*")
	w.happen(event.ContentGenerated)
	w.events.wipe()

	w.clock.Add(EventGrace - time.Second)
	w.sweep(Swept{}) // it may still be on its way
	w.clock.Add(2 * time.Second)
	w.sweep(Swept{Events: 1, Made: 1})
	w.run()
	if n := len(r.receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if all := w.deliveries(other.ID); len(all) != 0 {
		t.Errorf("delivered to one that does not want it: %+v", all)
	}
	w.clock.Add(time.Hour)
	w.sweep(Swept{})
	// What comes after all finds its delivery there.
	w.publish(w.delivered(r))
	w.run()
	if n := len(r.receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// delivered gives the reference of the one event that was delivered to a receiver.
func (w *world) delivered(r *receiver) event.Ref {
	w.t.Helper()
	all := w.deliveries(r.hook.ID)
	if len(all) != 1 || all[0].State != stateDelivered || len(all[0].Attempts) != 1 {
		w.t.Fatalf("deliveries %+v", all)
	}
	o := w.owner()
	return event.Ref{ID: all[0].EventID, Type: all[0].EventType, Owner: o.Owner}
}

func TestWhatIsDeliveredIsNotSweptUp(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500, 204), "*")
	w.happen(event.ContentGenerated)
	w.run()
	w.clock.Add(time.Hour)
	w.sweep(Swept{Events: 1})
	w.clock.Add(time.Hour)
	w.sweep(Swept{})
	w.run()
	if len(r.receipts()) != 2 || len(w.attempts.sent) != 2 {
		t.Errorf("%d requests, %d messages", len(r.receipts()), len(w.attempts.sent))
	}
}

func TestOnlyWebhooksOfThatTimeGetAnEvent(t *testing.T) {
	w := newWorld(t)
	patch := func(hook NewWebhook, state string) {
		var out Webhook
		w.api.Call(http.MethodPatch, "/v1/webhooks/"+hook.ID, map[string]any{"state": state}).Into(t, http.StatusOK, &out)
	}
	there := create(t, w.api, hookURL, "*")
	disabled, deleted, back := create(t, w.api, hookURL, "*"), create(t, w.api, hookURL, "*"), create(t, w.api, hookURL, "*")
	patch(back, "disabled")
	w.commit(w.owner(), 1)
	w.clock.Add(time.Second)
	later := create(t, w.api, hookURL, "*")
	patch(disabled, "disabled")
	patch(back, "enabled")
	var gone Webhook
	w.api.Call(http.MethodDelete, "/v1/webhooks/"+deleted.ID, nil).Into(t, http.StatusOK, &gone)
	w.clock.Add(EventGrace)
	w.sweep(Swept{Events: 1, Made: 1})
	for _, c := range []struct {
		hook NewWebhook
		want int
	}{{there, 1}, {disabled, 0}, {deleted, 0}, {back, 0}, {later, 0}} {
		if got := w.deliveries(c.hook.ID); len(got) != c.want {
			t.Errorf("deliveries %+v, want %d", got, c.want)
		}
	}
	w.commit(w.owner(), 1)
	w.clock.Add(EventGrace + time.Second)
	w.sweep(Swept{Events: 1, Made: 3})
}

func TestEventsOfManyAccountsAndHours(t *testing.T) {
	w := newWorld(t)
	var owners []owner
	for i := range 5 {
		api := *w.api
		api.Principal.Account = tenant.Account(id.Derived(id.Account, w.clock.Now(), fmt.Sprint(i)))
		create(t, &api, hookURL, "*")
		owners = append(owners, owner{api.Principal.Owner})
		live := api.Live()
		create(t, live, hookURL, "*")
		create(t, live, hookURL, "content.*")
		owners = append(owners, owner{live.Principal.Owner})
	}
	// More than a page in one hour, and none in another.
	for _, count := range []int{sweepPage/len(owners) + 1, 0, 2} {
		for _, o := range owners {
			w.commit(o, count)
		}
		w.clock.Add(time.Hour)
	}
	each := sweepPage/len(owners) + 3
	want := Swept{Events: 10 * each, Made: 15 * each}
	w.sweep(want)
	if n := w.asked(); n != want.Made {
		t.Errorf("messages ask for %d attempts", n)
	}
	seen := map[string]bool{}
	for _, row := range storetest.Rows(t, w.db) {
		if row["kind"] == deliveryKind {
			seen[row["pk"]+row["sk"]] = true
		}
	}
	if len(seen) != want.Made {
		t.Errorf("%d deliveries", len(seen))
	}
	w.sweep(Swept{})
}

func TestTwoSweepersAtOnce(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	w.commit(w.owner(), 30)
	w.clock.Add(EventGrace + time.Second)
	other := NewSweeper(w.db, w.attempts, w.clock.Now)
	var second Swept
	var failed error
	// The second one does everything between the first one's read and its write.
	w.faults.Before("BatchGetItem", func() { second, failed = other.Handle(t.Context(), Sweep{}) })
	first, err := other.Handle(t.Context(), Sweep{})
	if err != nil || failed != nil || first.Events != 30 || second.Events != 30 || second.Made != 30 {
		t.Fatalf("swept %+v, %v and %+v, %v", first, err, second, failed)
	}
	w.run()
	if got := w.deliveries(r.hook.ID); len(got) != 30 || len(r.receipts()) != 30 {
		t.Errorf("%d deliveries, %d requests", len(got), len(r.receipts()))
	}
}

func TestAFailureLeavesTheMark(t *testing.T) {
	for name, fail := range map[string]func(w *world) (mend func()){
		"nothing is listed": func(w *world) func() { w.faults.Refuse("Query", "InternalServerError", 50); return w.faults.Reset },
		"the deliveries are not read": func(w *world) func() {
			w.faults.Refuse("BatchGetItem", "ThrottlingException", 50)
			return w.faults.Reset
		},
		"a delivery is not written": func(w *world) func() { w.faults.Refuse("PutItem", "ValidationException", 50); return w.faults.Reset },
		"a message is not sent": func(w *world) func() {
			w.attempts.refuse = func(queue.Message) error { return errors.New("not now") }
			return func() { w.attempts.refuse = nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.receive(nil, "*")
			w.clock.Add(time.Hour)
			w.sweep(Swept{})
			before := w.mark()
			w.commit(w.owner(), 1)
			w.clock.Add(EventGrace + time.Second)
			mend := fail(w)
			if got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{}); err == nil {
				t.Fatalf("swept %+v", got)
			}
			mend()
			if got := w.mark(); got != before {
				t.Errorf("the mark moved from %s to %s", before, got)
			}
			// A delivery whose message was refused is found as an overdue one.
			for range 2 {
				if _, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{}); err != nil {
					t.Fatal(err)
				}
				w.clock.Add(OverdueGrace + time.Minute)
			}
			w.run()
			if w.mark() <= before || len(r.receipts()) != 1 {
				t.Errorf("mark %s, %d requests", w.mark(), len(r.receipts()))
			}
		})
	}
}

func TestOneBadAccountDoesNotHoldBackTheOthers(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	bad := owner{tenant.Of("acc_bad", tenant.Live)}
	tx := &store.Tx{}
	tx.Create(store.Item{Key: bad.webhookKey("whk_1"), Kind: kind, Doc: []byte(`"not a webhook"`)}, nil)
	if err := w.db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.commit(bad, 1)
	w.clock.Add(time.Hour)
	w.commit(w.owner(), 1)
	w.clock.Add(EventGrace + time.Second)
	got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{})
	if err == nil || got.Events != 2 || got.Made != 1 {
		t.Errorf("swept %+v, %v", got, err)
	}
	if w.mark() != "" {
		t.Errorf("the mark has moved to %s", w.mark())
	}
	w.run()
	w.delivered(r)
}

func TestADeathAtAnyStepOfASweepLosesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.receive(nil, "*")
	eachDeath(t, w, func(t *testing.T) {
		var ref event.Ref
		w.fuse.pause(func() {
			w.happen(event.ContentGenerated) // its message is lost …
			w.dispatch()
			ref = w.happen(event.ContentGenerated) // … and this one's event
			w.events.wipe()
			w.attempts.wipe()
			w.clock.Add(OverdueGrace + time.Second)
		})
		before := len(r.receipts())
		ctx, blown := w.fuse.process(t.Context())
		_, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(ctx, Sweep{})
		if died := blown(); err != nil && !died {
			t.Fatal(err)
		}
		w.fuse.pause(func() {
			w.run(w.clock.Now())
			w.clock.Add(OverdueGrace + time.Second)
			if _, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{}); err != nil {
				t.Fatal(err)
			}
			w.run()
			if n := len(r.receipts()) - before; n != 2 {
				t.Errorf("%d requests", n)
			}
			for _, d := range w.deliveries(r.hook.ID) {
				if d.State != stateDelivered {
					t.Errorf("delivery %+v", d)
				}
			}
			w.delivery(ref, r.hook.ID)
		})
	})
}

func TestASweepThatHasNoTimeLeft(t *testing.T) {
	w := newWorld(t)
	create(t, w.api, hookURL, "*")
	w.commit(w.owner(), 1)
	w.clock.Add(EventGrace + time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), sweepMargin)
	defer cancel()
	got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(ctx, Sweep{})
	if err != nil || got != (Swept{Unfinished: true}) || w.mark() != "" {
		t.Errorf("swept %+v, %v, mark %s", got, err, w.mark())
	}
	w.sweep(Swept{Events: 1, Made: 1})
}

func TestAnOperatorNeedNotWait(t *testing.T) {
	w := newWorld(t)
	r := w.receive(answers(500, 204), "*")
	w.happen(event.ContentGenerated)
	w.run(w.clock.Now())
	w.attempts.wipe()
	w.clock.Add(6 * time.Second)
	w.happen(event.ContentGenerated)
	w.events.wipe()
	got, err := NewSweeper(w.db, w.attempts, w.clock.Now).Handle(t.Context(), Sweep{Now: true})
	// The delivery that is made is due at once, and may be found to be.
	if err != nil || got.Events != 2 || got.Made != 1 || got.Overdue < 1 || got.Overdue > 2 || got.Resent != got.Overdue || got.Unfinished {
		t.Errorf("swept %+v, %v", got, err)
	}
	w.run()
	if n := len(r.receipts()); n != 3 {
		t.Errorf("%d requests", n)
	}
	// What may have been on its way to the table then is looked at again.
	if settled := id.First(id.Event, w.clock.Now().Add(-EventGrace)); w.mark() > settled {
		t.Errorf("the mark is %s, after %s", w.mark(), settled)
	}
}
