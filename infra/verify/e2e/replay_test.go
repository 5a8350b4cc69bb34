package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// TestReplayAndSample sends a new webhook the earlier events, and a sample.
func TestReplayAndSample(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	since := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	item := into[contentItem](call(t, key, "POST", "/v1/content-items", object{
		"factory_id": c.factory(key), "kind": "story", "prompt": "A shoe",
	}), http.StatusAccepted)
	poll.Until(t, "the event", func() bool {
		return len(into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=content.*", nil), http.StatusOK)) == 1
	})
	hooks := newReceiver(t)
	hook := into[struct{ ID string }](call(t, key, "POST", "/v1/webhooks",
		object{"url": hooks.URL + "/hook", "event_types": []string{"content.*"}}), http.StatusCreated)
	path := "/v1/webhooks/" + hook.ID
	if a := call(t, key, "POST", path+"/replay", object{"since": since}, "Idempotency-Key",
		"replay-1"); a.Status != http.StatusAccepted {
		t.Fatal(a.Raw)
	}
	poll.Until(t, "the replayed event", func() bool { return len(hooks.about(item.ID)) == 1 })

	sample := into[struct {
		EventID   string `json:"event_id"`
		EventType string `json:"event_type"`
	}](call(t, key, "POST", path+"/test", object{"event_type": "social_account.connected"}), http.StatusAccepted)
	poll.Until(t, "the sample", func() bool {
		hooks.mu.Lock()
		defer hooks.mu.Unlock()
		last := hooks.got[len(hooks.got)-1].event
		return last.ID == sample.EventID && last.Type == sample.EventType
	})
	if events := into[[]webhookEvent](call(t, key, "GET", "/v1/events?type=social_account.*", nil),
		http.StatusOK); len(events) != 0 {
		t.Errorf("the sample is among the events: %+v", events)
	}
}
