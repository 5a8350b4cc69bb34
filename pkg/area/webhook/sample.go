package webhook

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// eventType is the type of the sample to send.
type eventType event.Type

// Schema describes the type in the OpenAPI document, and lets requests name known ones only.
func (eventType) Schema(huma.Registry) *huma.Schema {
	var all []event.Type
	for _, t := range event.Types {
		all = append(all, t.Type)
	}
	s := httpapi.Enum(all)
	s.Examples = []any{string(event.ContentGenerated)}
	return s
}

// eventPattern is a pattern of the events to get.
type eventPattern event.Pattern

// Schema describes a pattern in the OpenAPI document, and lets requests name known ones only.
func (eventPattern) Schema(huma.Registry) *huma.Schema {
	s := httpapi.Enum(event.Patterns())
	s.Description = "A type of event, an area such as content.*, or * for all. Areas and * include types that are " +
		"added later"
	s.Examples = []any{string(event.ContentGenerated)}
	return s
}

type testBody struct {
	// Type of the sample event. The webhook need not subscribe to it.
	EventType eventType `json:"event_type"`
}

type testInput struct {
	Path
	Body testBody
}

// registerTest puts the operation that sends a sample into the router.
func (s *Service) registerTest(r *httpapi.Router, op func(id, method, path, summary, description string) httpapi.Op) {
	test := op("testWebhook", http.MethodPost, "/v1/webhooks/{webhook_id}/test", "Send a sample to a webhook",
		"Sends a sample event of the given type, about a resource that does not exist. It is sent at once, even "+
			"while the receiver counts as down. It is signed and retried like any event, is sent to this webhook "+
			"only, and is not listed in the events of the account. Returns its delivery. A webhook takes 10 samples "+
			"a minute.").Opening(httpapi.Nothing)
	test.Status = http.StatusAccepted
	test.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, test, s.test)
}

func (s *Service) test(ctx context.Context, tx *store.Tx, in *testInput) (out Delivery, err error) {
	w, _, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := requireEnabled(&w.Webhook); err != nil {
		return out, err
	}
	now := s.now()
	sample, err := event.NewSample(now, ownerOf(ctx).In(w.ProfileID), event.Type(in.Body.EventType))
	if err != nil {
		return out, err
	}
	at, _ := id.Time(sample.PK)
	d := NewDelivery(now, at, event.RefOf(sample), &w.Webhook)
	d.Urgent = true
	if err := d.CreateIn(tx, now); err != nil {
		return out, err
	}
	tx.Create(sample, nil)
	s.count(tx, refOf(ctx, w.ID), testLimit)
	return d.Delivery, nil
}
