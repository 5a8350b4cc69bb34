package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/id"
)

func TestReplayFillsWhatWasMissed(t *testing.T) {
	w := newWorld(t)
	statuses := answers(500)
	r := w.receive(func(n int, rw http.ResponseWriter) { statuses(n, rw) }, "content.*")
	path := "/v1/webhooks/" + r.hook.ID + "/replay"

	old := w.happen(event.ContentGenerated)
	w.run() // fails for good
	w.clock.Add(time.Hour)
	since := w.clock.Now()
	failed := w.happen(event.ContentGenerated)
	w.run() // likewise
	statuses = answers(200)
	w.clock.Add(time.Minute)
	delivered := w.happen(event.ContentGenerated)
	w.run()
	w.clock.Add(time.Minute)
	lost := w.happen(event.ContentFailed)
	w.events.wipe()
	unwanted := w.happen(event.BalanceLow)
	w.run()
	before := len(r.receipts())

	var got Replay
	w.clock.Add(time.Minute)
	w.api.Call(http.MethodPost, path, map[string]any{"since": since.Format(time.RFC3339Nano)}).Into(t, http.StatusAccepted, &got)
	if got.WebhookID != r.hook.ID || !got.Since.Equal(since) || !got.Until.Equal(w.clock.Now()) {
		t.Errorf("answered %+v", got)
	}
	w.relay()
	w.run()
	seen := map[string]int{}
	for _, one := range r.receipts()[before:] {
		seen[one.id]++
	}
	if len(seen) != 2 || seen[failed.ID] != 1 || seen[lost.ID] != 1 {
		t.Errorf("replayed %v, wanted %s and %s; not %s, %s, %s", seen, failed.ID, lost.ID, old.ID, delivered.ID, unwanted.ID)
	}
	for _, ref := range []event.Ref{failed, lost} {
		if d := w.delivery(ref, r.hook.ID); d.State != stateDelivered {
			t.Errorf("delivery %+v", d)
		}
	}
	// A second replay finds nothing left.
	w.api.Call(http.MethodPost, path, map[string]any{"since": since.Format(time.RFC3339Nano)})
	w.relay()
	w.run()
	if n := len(r.receipts()); n != before+2 {
		t.Errorf("%d requests more", n-before-2)
	}
}

func TestReplayGivesANewWebhookWhatWasBefore(t *testing.T) {
	w := newWorld(t)
	since := w.clock.Now()
	events := map[string]bool{}
	for range replayPage + 7 { // more than a page
		events[w.happen(event.ContentGenerated).ID] = true
		w.clock.Add(time.Millisecond)
	}
	w.run()
	w.clock.Add(time.Minute)
	r := w.receive(answers(200), "*")
	w.clock.Add(time.Minute)
	w.api.Call(http.MethodPost, "/v1/webhooks/"+r.hook.ID+"/replay", map[string]any{"since": since.Format(time.RFC3339Nano)})
	w.relay()
	w.run()
	got := r.receipts()
	for _, one := range got {
		delete(events, one.id)
	}
	if len(got) != replayPage+7 || len(events) != 0 {
		t.Errorf("received %d, missing %d", len(got), len(events))
	}
}

func TestReplayIsRefused(t *testing.T) {
	w := newWorld(t)
	w.clock.Add(31 * 24 * time.Hour)
	r := w.receive(answers(200), "*")
	path := "/v1/webhooks/" + r.hook.ID + "/replay"
	since := func(d time.Duration) map[string]any {
		return map[string]any{"since": w.clock.Now().Add(d).Format(time.RFC3339)}
	}
	w.api.Call(http.MethodPost, path, since(time.Hour)).Refused(t, 422, "validation_failed", "/since")
	w.api.Call(http.MethodPost, path, since(-31*24*time.Hour)).Refused(t, 422, "validation_failed", "/since")
	w.api.Call(http.MethodPost, path, map[string]any{}).Refused(t, 422, "validation_failed", "/since")
	w.api.Call(http.MethodPost, path, map[string]any{"since": "yesterday"}).Refused(t, 422, "validation_failed", "/since")
	w.api.Call(http.MethodPost, "/v1/webhooks/"+id.New(id.Webhook, w.clock.Now())+"/replay", since(-time.Hour)).Refused(t, 404, "not_found", "")
	w.api.Stranger().Call(http.MethodPost, path, since(-time.Hour)).Refused(t, 404, "not_found", "")
	w.api.Call(http.MethodPatch, "/v1/webhooks/"+r.hook.ID, map[string]any{"state": "disabled"})
	w.api.Call(http.MethodPost, path, since(-time.Hour)).Refused(t, 409, "invalid_state", "")
	w.relay()
	if w.run(); len(r.receipts()) != 0 {
		t.Error("a refused call had an effect")
	}
}
