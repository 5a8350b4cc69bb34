package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/record/event"
)

func TestSamplesReplaysAndRedeliveriesAreLimited(t *testing.T) {
	for operation, c := range map[string]struct {
		most int
		body any
	}{
		"test":      {10, map[string]any{"event_type": "balance.low"}},
		"replay":    {2, map[string]any{"since": "2026-05-01T11:00:00Z"}},
		"redeliver": {60, nil},
	} {
		t.Run(operation, func(t *testing.T) {
			w := newWorld(t)
			one, other := create(t, w.API, hookURL, "*"), create(t, w.API, hookURL, "*")
			ref := w.Happen(event.BalanceLow)
			w.Dispatch()
			call := func(webhookID string, headers ...string) apitest.Answer {
				path := "/v1/webhooks/" + webhookID + "/"
				if operation == "redeliver" {
					path += "deliveries/" + w.Delivery(ref, webhookID).ID + "/"
				}
				return w.API.Call(http.MethodPost, path+operation, c.body, headers...)
			}
			w.Clock.Add(20 * time.Second) // of the minute
			for i := range c.most {
				call(one.ID, "Idempotency-Key", fmt.Sprint(i)).Into(t, http.StatusAccepted, new(any))
			}
			before := storetest.Snapshot(t, w.DB)
			refused := call(one.ID, "Idempotency-Key", "beyond")
			refused.Refused(t, http.StatusTooManyRequests, "rate_limited", "")
			refused.Context(t, fmt.Sprintf(`{"limit":%d,"window_seconds":60}`, c.most))
			if after := refused.Header.Get("Retry-After"); after != "40" {
				t.Errorf("Retry-After is %s", after)
			}
			if storetest.Snapshot(t, w.DB) != before {
				t.Error("the refused call has changed something")
			}
			// A repeat has no effect, so it does not count and is not refused.
			if again := call(one.ID, "Idempotency-Key", "0"); again.Status != http.StatusAccepted ||
				again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("the repeat is answered %d %s", again.Status, again.Raw)
			}
			call(other.ID).Into(t, http.StatusAccepted, new(any))
			w.Clock.Add(40 * time.Second)
			// The refused call has not used its key up.
			call(one.ID, "Idempotency-Key", "beyond").Into(t, http.StatusAccepted, new(any))
		})
	}
}

func TestARefusedCallIsNotCounted(t *testing.T) {
	w := newWorld(t)
	h := create(t, w.API, hookURL, "*")
	path := "/v1/webhooks/" + h.ID
	w.API.Call(http.MethodPatch, path, map[string]any{"state": "disabled"}).Into(t, http.StatusOK, new(any))
	for range 3 {
		w.API.Call(http.MethodPost, path+"/replay", map[string]any{"since": "2026-05-01T11:00:00Z"}).Refused(t,
			http.StatusConflict, "invalid_state", "")
	}
	w.API.Call(http.MethodPatch, path, map[string]any{"state": "enabled"}).Into(t, http.StatusOK, new(any))
	for range 2 {
		w.API.Call(http.MethodPost, path+"/replay", map[string]any{"since": "2026-05-01T11:00:00Z"}).Into(t,
			http.StatusAccepted, new(any))
	}
}

// The counters are of no use after their minute, and expire.
func TestCountersExpire(t *testing.T) {
	w := newWorld(t)
	h := create(t, w.API, hookURL, "*")
	w.API.Call(http.MethodPost, "/v1/webhooks/"+h.ID+"/test", map[string]any{"event_type": "balance.low"}).Into(t,
		http.StatusAccepted, new(any))
	for _, row := range storetest.Rows(t, w.DB) {
		if row["n_count"] == "1" && row["ttl"] == fmt.Sprint(w.Clock.Now().Add(time.Minute).Unix()) {
			return
		}
	}
	t.Error("no counter expires")
}
