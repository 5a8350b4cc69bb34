package webhook

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Replay is a request to send the events that a webhook has missed.
type Replay struct {
	// Id of the webhook.
	WebhookID string `json:"webhook_id"`
	// Start of the period.
	Since resource.Time `json:"since"`
	// End of the period: the time of the request.
	Until resource.Time `json:"until"`
}

// usualReplay is the usual time until the first deliveries are listed.
const usualReplay = 5 * time.Second

// Pending returns the list of the deliveries of the period, and when to look.
func (r Replay) Pending() (path string, after time.Duration) {
	return "/v1/webhooks/" + r.WebhookID + "/deliveries?from=" + r.Since.Format(time.RFC3339Nano) +
		"&to=" + r.Until.Format(time.RFC3339Nano), usualReplay
}

type replayBody struct {
	// Start of the period (RFC 3339), at most 30 days ago.
	Since time.Time `json:"since" example:"2026-05-01T00:00:00Z"`
}

type replayInput struct {
	Path
	Body replayBody
}

// registerReplay puts the operation into the router.
func (s *Service) registerReplay(r *httpapi.Router, op func(id, method, path, summary, description string) httpapi.Op) {
	replay := op("replayEvents", http.MethodPost, "/v1/webhooks/{webhook_id}/replay",
		"Replay the events that a webhook has missed",
		"Delivers, in the background, all events since the given time that match the webhook and have not been "+
			"delivered to it: those whose delivery failed or waits for its next attempt, with all retries from the "+
			"beginning, and those from before the webhook was created. Each is sent once: the attempt that an event "+
			"has waited for is made now instead. Events that were delivered, or whose attempt is under way, are not "+
			"affected. A webhook takes 2 replays a minute.").Opening(httpapi.Nothing)
	replay.Status = http.StatusAccepted
	replay.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, replay, s.replay)
}

func (s *Service) replay(ctx context.Context, tx *store.Tx, in *replayInput) (out Replay, err error) {
	w, _, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	now, since := s.now(), resource.Instant(in.Body.Since)
	switch {
	case !since.Before(now):
		return out, errs.Invalid("/since", "must be in the past")
	case since.Before(now.Add(-KeepDeliveries)):
		return out, errs.Invalid("/since", "must be at most 30 days ago: older events are not kept")
	}
	if err := requireEnabled(&w.Webhook); err != nil {
		return out, err
	}
	if err := NewReplay(tx, refOf(ctx, w.ID), since.Time, now); err != nil {
		return out, err
	}
	s.count(tx, refOf(ctx, w.ID), replayLimit)
	return Replay{WebhookID: w.ID, Since: since, Until: resource.Instant(now)}, nil
}
