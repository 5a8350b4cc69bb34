package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// overdueGrace is longer than the time after which the message of a task counts as lost.
const overdueGrace = 3 * time.Minute

// sweep sweeps once, and checks the result.
func sweep(w *dispatchWorld, want webhooktest.Lost) {
	w.T.Helper()
	got, err := w.Search(w.T.Context(), false)
	if err != nil || got != want {
		w.T.Fatalf("swept %+v, %v; want %+v", got, err, want)
	}
}

// mark returns how far the sweeps of the events have come.
func mark(w *dispatchWorld) string {
	w.T.Helper()
	c, err := task.ReadCheckpoint(w.T.Context(), w.DB, webhook.Checkpoint)
	if err != nil {
		w.T.Fatal(err)
	}
	return c.DoneUntil
}

func TestAnEventThatTheBusLostIsDelivered(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "content.*")
	other := dispatchCreate(t, w.API, dispatchHookURL, "balance.*")
	w.Happen(event.ContentGenerated)
	w.Events.Wipe()

	w.Clock.Add(webhook.EventGrace - time.Second)
	sweep(w, webhooktest.Lost{}) // it may still be on its way
	w.Clock.Add(2 * time.Second)
	sweep(w, webhooktest.Lost{Events: 1, Made: 1})
	w.Run()
	if n := len(r.Receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if all := w.Deliveries(other.ID); len(all) != 0 {
		t.Errorf("delivered to one that does not want it: %+v", all)
	}
	w.Clock.Add(time.Hour)
	sweep(w, webhooktest.Lost{})
	// An event that comes after all finds its delivery there.
	w.Publish(w.Delivered(r))
	w.Run()
	if n := len(r.Receipts()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestWhatIsDeliveredIsNotSweptUp(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(dispatchAnswers(500, 204), "*")
	w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(time.Hour)
	sweep(w, webhooktest.Lost{Events: 1})
	w.Clock.Add(time.Hour)
	sweep(w, webhooktest.Lost{})
	w.Run()
	if len(r.Receipts()) != 2 || len(w.Attempts.Sent) != 2 {
		t.Errorf("%d requests, %d messages", len(r.Receipts()), len(w.Attempts.Sent))
	}
}

func TestOnlyWebhooksOfThatTimeGetAnEvent(t *testing.T) {
	w := dispatchNewWorld(t)
	patch := func(wh webhook.NewWebhook, state string) {
		var out webhook.Webhook
		w.API.Call(http.MethodPatch, "/v1/webhooks/"+wh.ID, map[string]any{"state": state}).Into(t, http.StatusOK, &out)
	}
	there := dispatchCreate(t, w.API, dispatchHookURL, "*")
	disabled, deleted, back := dispatchCreate(t, w.API, dispatchHookURL, "*"), dispatchCreate(t, w.API, dispatchHookURL,
		"*"),
		dispatchCreate(t, w.API, dispatchHookURL, "*")
	patch(back, "disabled")
	w.Commit(w.Owner(), 1)
	w.Clock.Add(time.Second)
	later := dispatchCreate(t, w.API, dispatchHookURL, "*")
	patch(disabled, "disabled")
	patch(back, "enabled")
	var gone webhook.Webhook
	w.API.Call(http.MethodDelete, "/v1/webhooks/"+deleted.ID, nil).Into(t, http.StatusOK, &gone)
	w.Clock.Add(webhook.EventGrace)
	sweep(w, webhooktest.Lost{Events: 1, Made: 1})
	for _, c := range []struct {
		wh   webhook.NewWebhook
		want int
	}{{there, 1}, {disabled, 0}, {deleted, 0}, {back, 0}, {later, 0}} {
		if got := w.Deliveries(c.wh.ID); len(got) != c.want {
			t.Errorf("deliveries %+v, want %d", got, c.want)
		}
	}
	w.Commit(w.Owner(), 1)
	w.Clock.Add(webhook.EventGrace + time.Second)
	sweep(w, webhooktest.Lost{Events: 1, Made: 3, Overdue: 1, Resent: 1})
}

func TestEventsOfManyAccountsAndHours(t *testing.T) {
	w := dispatchNewWorld(t)
	var owners []tenant.Owner
	for i := range 5 {
		api := *w.API
		api.Principal.Account = tenant.Account(id.Derived(id.Account, w.Clock.Now(), fmt.Sprint(i)))
		webhooktest.PutKey(&api)
		dispatchCreate(t, &api, dispatchHookURL, "*")
		owners = append(owners, api.Principal.Owner)
		live := api.Live()
		dispatchCreate(t, live, dispatchHookURL, "*")
		dispatchCreate(t, live, dispatchHookURL, "content.*")
		owners = append(owners, live.Principal.Owner)
	}
	// More than a page in one hour, and none in another.
	for _, count := range []int{webhook.SweepPage/len(owners) + 1, 0, 2} {
		for _, o := range owners {
			w.Commit(o, count)
		}
		w.Clock.Add(time.Hour)
	}
	each := webhook.SweepPage/len(owners) + 3
	want := webhooktest.Lost{Events: 10 * each, Made: 15 * each}
	sweep(w, want)
	w.Relay()
	if n := len(w.Attempts.Sent); n != want.Made {
		t.Errorf("%d messages", n)
	}
	seen := map[string]bool{}
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == webhook.DeliveryKind {
			seen[row["pk"]+row["sk"]] = true
		}
	}
	if len(seen) != want.Made {
		t.Errorf("%d deliveries", len(seen))
	}
	sweep(w, webhooktest.Lost{})
}

func TestTwoSweepersAtOnce(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "*")
	w.Commit(w.Owner(), 30)
	w.Clock.Add(webhook.EventGrace + time.Second)
	other := webhook.NewSweeper(w.DB, w.Clock.Now)
	var second webhook.SweepResult
	var failed error
	// The second one does everything between the first one's read and its write.
	w.Faults.Before("BatchGetItem", func() { second, failed = other.Sweep(t.Context(), false) })
	first, err := other.Sweep(t.Context(), false)
	if err != nil || failed != nil || first.Events != 30 || second.Events != 30 || second.Deliveries != 30 {
		t.Fatalf("swept %+v, %v and %+v, %v", first, err, second, failed)
	}
	w.Run()
	if got := w.Deliveries(r.Hook.ID); len(got) != 30 || len(r.Receipts()) != 30 {
		t.Errorf("%d deliveries, %d requests", len(got), len(r.Receipts()))
	}
}

func TestAFailureLeavesTheCheckpoint(t *testing.T) {
	for name, fail := range map[string]func(w *dispatchWorld) (mend func()){
		"nothing is listed": func(w *dispatchWorld) func() {
			w.Faults.Reject("Query", "InternalServerError",
				50)
			return w.Faults.Reset
		},
		"the deliveries are not read": func(w *dispatchWorld) func() {
			w.Faults.Reject("BatchGetItem", "ThrottlingException", 50)
			return w.Faults.Reset
		},
		"a delivery is not written": func(w *dispatchWorld) func() {
			w.Faults.Reject("TransactWriteItems", "ValidationException",
				50)
			return w.Faults.Reset
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := dispatchNewWorld(t)
			r := w.Receive(nil, "*")
			w.Clock.Add(time.Hour)
			sweep(w, webhooktest.Lost{})
			before := mark(w)
			w.Commit(w.Owner(), 1)
			w.Clock.Add(webhook.EventGrace + time.Second)
			mend := fail(w)
			if got, err := w.Search(t.Context(), false); err == nil {
				t.Fatalf("swept %+v", got)
			}
			mend()
			if got := mark(w); got != before {
				t.Errorf("the mark moved from %s to %s", before, got)
			}
			// A delivery whose message was refused is found as an overdue one.
			for range 2 {
				if _, err := w.Search(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				w.Clock.Add(overdueGrace + time.Minute)
			}
			w.Run()
			if mark(w) <= before || len(r.Receipts()) != 1 {
				t.Errorf("mark %s, %d requests", mark(w), len(r.Receipts()))
			}
		})
	}
}

func TestOneBadAccountDoesNotHoldBackTheOthers(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "*")
	bad := tenant.Of("acc_bad", tenant.Live)
	tx := &store.Tx{}
	tx.Create(store.Item{Key: webhook.Ref{Owner: bad, ID: "whk_1"}.Key(), Kind: webhook.Kind,
		Doc: []byte(`"not a webhook"`)}, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Commit(bad, 1)
	w.Clock.Add(time.Hour)
	w.Commit(w.Owner(), 1)
	w.Clock.Add(webhook.EventGrace + time.Second)
	got, err := w.Search(t.Context(), false)
	if err == nil || got.Events != 2 || got.Made != 1 {
		t.Errorf("swept %+v, %v", got, err)
	}
	if mark(w) != "" {
		t.Errorf("the mark has moved to %s", mark(w))
	}
	w.Run()
	w.Delivered(r)
}

func TestADeathAtAnyStepOfASweepLosesNothing(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "*")
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		var ref event.Ref
		w.Fuse.Pause(func() {
			w.Happen(event.ContentGenerated) // its message is lost …
			w.Dispatch()
			ref = w.Happen(event.ContentGenerated) // … and this one's event
			w.Events.Wipe()
			w.Attempts.Wipe()
			w.Clock.Add(overdueGrace + time.Second)
		})
		before := len(r.Receipts())
		ctx, blown := w.Fuse.Process(t.Context())
		_, err := w.Search(ctx, false)
		if died := blown(); err != nil && !died {
			t.Fatal(err)
		}
		w.Fuse.Pause(func() {
			w.Run(w.Clock.Now())
			w.Clock.Add(overdueGrace + time.Second)
			if _, err := w.Search(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			w.Run()
			if n := len(r.Receipts()) - before; n != 2 {
				t.Errorf("%d requests", n)
			}
			for _, d := range w.Deliveries(r.Hook.ID) {
				if d.State != webhook.DeliveryDelivered {
					t.Errorf("delivery %+v", d)
				}
			}
			w.Delivery(ref, r.Hook.ID)
		})
	})
}

func TestASweepThatHasNoTimeLeft(t *testing.T) {
	w := dispatchNewWorld(t)
	dispatchCreate(t, w.API, dispatchHookURL, "*")
	w.Commit(w.Owner(), 1)
	w.Clock.Add(webhook.EventGrace + time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), webhook.SweepMargin)
	defer cancel()
	got, err := webhook.NewSweeper(w.DB, w.Clock.Now).Sweep(ctx, false)
	if err != nil || got != (webhook.SweepResult{Unfinished: true}) || mark(w) != "" {
		t.Errorf("swept %+v, %v, mark %s", got, err, mark(w))
	}
	sweep(w, webhooktest.Lost{Events: 1, Made: 1})
}

func TestAnOperatorNeedNotWait(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(dispatchAnswers(500, 204), "*")
	w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now())
	w.Attempts.Wipe()
	w.Clock.Add(6 * time.Second)
	w.Happen(event.ContentGenerated)
	w.Events.Wipe()
	got, err := w.Search(t.Context(), true)
	// The delivery that is made is due at once, and may be found to be.
	if err != nil || got.Events != 2 || got.Made != 1 || got.Overdue < 1 || got.Overdue > 2 ||
		got.Resent != got.Overdue {
		t.Errorf("swept %+v, %v", got, err)
	}
	w.Run()
	if n := len(r.Receipts()); n != 3 {
		t.Errorf("%d requests", n)
	}
	// Events that may have been on their way to the table then are checked again.
	if settled := id.First(id.Event, w.Clock.Now().Add(-webhook.EventGrace)); mark(w) > settled {
		t.Errorf("the mark is %s, after %s", mark(w), settled)
	}
}
