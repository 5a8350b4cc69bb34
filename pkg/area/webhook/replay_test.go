package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/webhooktest"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

func TestReplayFillsWhatWasMissed(t *testing.T) {
	w := dispatchNewWorld(t)
	statuses := dispatchAnswers(500)
	r := w.Receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	path := "/v1/webhooks/" + r.Hook.ID + "/replay"

	old := w.Happen(event.ContentGenerated)
	w.Run() // fails for good
	w.Clock.Add(time.Hour)
	since := w.Clock.Now()
	failed := w.Happen(event.ContentGenerated)
	w.Run() // fails for good, too
	statuses = dispatchAnswers(200)
	w.Clock.Add(time.Minute)
	delivered := w.Happen(event.ContentGenerated)
	w.Run()
	w.Clock.Add(time.Minute)
	lost := w.Happen(event.ContentFailed)
	w.Events.Wipe()
	unwanted := w.Happen(event.BalanceLow)
	w.Run()
	before := len(r.Receipts())

	var got webhook.Replay
	w.Clock.Add(time.Minute)
	w.API.Call(http.MethodPost, path, map[string]any{"since": since.Format(time.RFC3339Nano)}).Into(t,
		http.StatusAccepted, &got)
	if got.WebhookID != r.Hook.ID || !got.Since.Equal(since) || !got.Until.Equal(w.Clock.Now()) {
		t.Errorf("answered %+v", got)
	}
	w.Relay()
	w.Run()
	seen := map[string]int{}
	for _, one := range r.Receipts()[before:] {
		seen[one.ID]++
	}
	if len(seen) != 2 || seen[failed.ID] != 1 || seen[lost.ID] != 1 {
		t.Errorf("replayed %v, wanted %s and %s; not %s, %s, %s", seen, failed.ID, lost.ID, old.ID,
			delivered.ID, unwanted.ID)
	}
	for _, ref := range []event.Ref{failed, lost} {
		if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered {
			t.Errorf("delivery %+v", d)
		}
	}
	// A second replay finds nothing left.
	w.API.Call(http.MethodPost, path, map[string]any{"since": since.Format(time.RFC3339Nano)})
	w.Relay()
	w.Run()
	if n := len(r.Receipts()); n != before+2 {
		t.Errorf("%d requests more", n-before-2)
	}
}

// An event that waits for its retry is replayed at once. Its retry does not send it again.
func TestReplaySendsWhatWaitsForItsRetry(t *testing.T) {
	w := dispatchNewWorld(t)
	statuses := dispatchAnswers(500)
	r := w.Receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	since := w.Clock.Now()
	waiting := w.Happen(event.ContentGenerated)
	w.Run(w.Clock.Now().Add(time.Minute)) // two attempts: the next one follows in five minutes
	if d := w.Delivery(waiting, r.Hook.ID); d.WaitingFor == nil || *d.WaitingFor != webhook.WaitsRetry {
		t.Fatalf("%+v", d)
	}
	statuses = dispatchAnswers(200)
	before := len(r.Receipts())
	asked := w.Clock.Now()
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/replay",
		map[string]any{"since": since.Add(-time.Second).Format(time.RFC3339Nano)})
	w.Relay()
	w.Run()
	if got := r.Receipts()[before:]; len(got) != 1 || got[0].ID != waiting.ID {
		t.Errorf("received %+v, want one of %s", got, waiting.ID)
	}
	d := w.Delivery(waiting, r.Hook.ID)
	if last := d.Attempts[len(d.Attempts)-1]; d.State != webhook.DeliveryDelivered || last.At.Sub(asked) > time.Minute {
		t.Errorf("%s, asked at %v, sent at %v", d.State, asked, last.At)
	}
}

func TestReplayGivesANewWebhookWhatWasBefore(t *testing.T) {
	w := dispatchNewWorld(t)
	since := w.Clock.Now()
	events := map[string]bool{}
	for range webhook.ReplayPage + 7 { // more than a page
		events[w.Happen(event.ContentGenerated).ID] = true
		w.Clock.Add(time.Millisecond)
	}
	w.Run()
	w.Clock.Add(time.Minute)
	r := w.Receive(dispatchAnswers(200), "*")
	w.Clock.Add(time.Minute)
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/replay",
		map[string]any{"since": since.Format(time.RFC3339Nano)})
	w.Relay()
	w.Run()
	got := r.Receipts()
	for _, one := range got {
		delete(events, one.ID)
	}
	if len(got) != webhook.ReplayPage+7 || len(events) != 0 {
		t.Errorf("received %d, missing %d", len(got), len(events))
	}
}

// An earlier version has stored what it knew of a pending delivery outside of the document, and made no task.
func TestReplayGivesATaskToADeliveryFromBeforeTasks(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "*")
	since := w.Clock.Now()
	ref := w.Happen(event.ContentGenerated)
	w.Events.Wipe()
	it, err := store.NewItem(webhook.DeliveryKind, w.Owner(), webhook.DeliveryID(since, ref.ID, r.Hook.ID),
		map[string]any{"id": webhook.DeliveryID(since, ref.ID, r.Hook.ID), "created_at": since, "webhook_id": r.Hook.ID,
			"event_id": ref.ID, "event_type": ref.Type, "maker": r.Hook.CreatedBy})
	if err != nil {
		t.Fatal(err)
	}
	it.Key, it.ListKey, it.ExpireAt = w.Ref(r.Hook.ID).DeliveryKey(it.PK), store.Key{}, since.Add(time.Hour)
	it.Filters = map[string]string{webhook.StateFilter: webhook.DeliveryPending}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	var all []webhook.Delivery
	w.API.Call(http.MethodGet, "/v1/webhooks/"+r.Hook.ID+"/deliveries", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || all[0].Attempts == nil {
		t.Errorf("listed %+v", all)
	}
	w.Clock.Add(time.Minute)
	w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/replay",
		map[string]any{"since": since.Format(time.RFC3339Nano)}).Into(t, http.StatusAccepted, &webhook.Replay{})
	w.Run()
	w.AllDelivered(r, 1)
}

func TestReplayIsRefused(t *testing.T) {
	w := dispatchNewWorld(t)
	w.Clock.Add(31 * 24 * time.Hour)
	r := w.Receive(dispatchAnswers(200), "*")
	path := "/v1/webhooks/" + r.Hook.ID + "/replay"
	since := func(d time.Duration) map[string]any {
		return map[string]any{"since": w.Clock.Now().Add(d).Format(time.RFC3339)}
	}
	w.API.Call(http.MethodPost, path, since(time.Hour)).Refused(t, 422, "validation_failed", "/since")
	w.API.Call(http.MethodPost, path, since(-31*24*time.Hour)).Refused(t, 422, "validation_failed", "/since")
	w.API.Call(http.MethodPost, path, map[string]any{}).Refused(t, 422, "validation_failed", "/since")
	w.API.Call(http.MethodPost, path, map[string]any{"since": "yesterday"}).Refused(t, 422,
		"validation_failed", "/since")
	w.API.Call(http.MethodPost, "/v1/webhooks/"+id.New(id.Webhook, w.Clock.Now())+"/replay",
		since(-time.Hour)).Refused(t, 404, "not_found", "")
	w.API.Stranger().Call(http.MethodPost, path, since(-time.Hour)).Refused(t, 404, "not_found", "")
	w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"state": "disabled"})
	w.API.Call(http.MethodPost, path, since(-time.Hour)).Refused(t, 409, "invalid_state", "")
	w.Relay()
	if w.Run(); len(r.Receipts()) != 0 {
		t.Error("a refused call had an effect")
	}
}

func TestADeathAtAnyStepOfAReplayLosesNothing(t *testing.T) {
	w := dispatchNewWorld(t)
	r := w.Receive(nil, "content.*")
	webhooktest.EachDeath(t, w, func(t *testing.T) {
		var lost []event.Ref
		before := len(r.Receipts())
		w.Fuse.Pause(func() {
			since := w.Clock.Now()
			lost = []event.Ref{w.Happen(event.ContentGenerated), w.Happen(event.ContentFailed)}
			w.Events.Wipe()
			w.Clock.Add(time.Minute)
			w.API.Call(http.MethodPost, "/v1/webhooks/"+r.Hook.ID+"/replay",
				map[string]any{"since": since.Format(time.RFC3339Nano)}).
				Into(t, http.StatusAccepted, &webhook.Replay{})
			w.Relay()
		})
		w.Run()
		w.Fuse.Pause(func() {
			for _, ref := range lost {
				if d := w.Delivery(ref, r.Hook.ID); d.State != webhook.DeliveryDelivered {
					t.Errorf("delivery %+v", d)
				}
			}
			if n := len(r.Receipts()) - before; n < 2 || n > 4 {
				t.Errorf("%d requests", n)
			}
		})
		w.Clock.Add(time.Hour)
	})
}
