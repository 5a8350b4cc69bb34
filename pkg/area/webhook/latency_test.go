package webhook_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/record/event"
)

func TestAWebhookShowsHowFastItsReceiverAnswers(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(func(n int, rw http.ResponseWriter) {
		w.Clock.Add(time.Duration(n) * 100 * time.Millisecond)
		if n == 3 {
			rw.WriteHeader(http.StatusTeapot)
		}
	}, "*")
	if got := w.Webhook(r.Hook.ID).LatencyMS; got != nil {
		t.Errorf("before the first answer: %+v", got)
	}
	near := func(got, want int64) bool { return math.Abs(float64(got-want)) <= 0.1*float64(want)+0.5 }
	w.Happen(event.ContentGenerated) // 100 ms: the first success is written
	w.Run()
	if got := w.Webhook(r.Hook.ID).LatencyMS; got == nil || got.Count != 1 || !near(got.P50, 100) {
		t.Errorf("after one answer: %+v", got)
	}
	writes := func() int64 {
		it, err := w.DB.Get(t.Context(), w.Ref(r.Hook.ID).Key())
		if err != nil {
			t.Fatal(err)
		}
		return it.Version
	}
	before := writes()
	w.Happen(event.ContentGenerated) // 200 ms: a success in the same minute is not
	w.Run(w.Clock.Now().Add(time.Second))
	if got := w.Webhook(r.Hook.ID).LatencyMS; got.Count != 1 || writes() != before {
		t.Errorf("within the minute: %+v, %d writes", got, writes()-before)
	}
	w.Happen(event.ContentGenerated) // 300 ms and a failure, then 400 ms
	w.Run()
	got := w.Webhook(r.Hook.ID).LatencyMS
	if got == nil || got.Count != 4 || !near(got.P50, 200) || !near(got.P90, 400) || !near(got.P99, 400) {
		t.Errorf("after four answers: %+v", got)
	}
	var all []webhook.Webhook
	w.API.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || all[0].LatencyMS == nil || *all[0].LatencyMS != *got {
		t.Errorf("listed %+v", all)
	}
	// Another description keeps the figures, another address forgets them.
	var changed webhook.Webhook
	path := "/v1/webhooks/" + r.Hook.ID
	w.API.Call(http.MethodPatch, path, map[string]any{"description": "x"}).Into(t, http.StatusOK, &changed)
	if changed.LatencyMS == nil || changed.LatencyMS.Count != 4 {
		t.Errorf("another description: %+v", changed.LatencyMS)
	}
	changed = webhook.Webhook{}
	w.API.Call(http.MethodPatch, path, map[string]any{"url": deliverHookURL}).Into(t, http.StatusOK, &changed)
	if changed.LatencyMS != nil {
		t.Errorf("another address: %+v", changed.LatencyMS)
	}
}

func TestLatenciesSurviveAChangeThatComesBetween(t *testing.T) {
	w := deliverNewWorld(t)
	r := w.Receive(nil, "*")
	r.Plan = func(int, http.ResponseWriter) {
		// After the webhook was read for the attempt, and before its health is noted.
		w.API.Call(http.MethodPatch, "/v1/webhooks/"+r.Hook.ID, map[string]any{"description": "x"})
	}
	w.Happen(event.ContentGenerated)
	w.Run()
	wh := w.Webhook(r.Hook.ID)
	if wh.LatencyMS == nil || wh.LatencyMS.Count != 1 || wh.Description != "x" {
		t.Errorf("webhook %+v", wh)
	}
}
