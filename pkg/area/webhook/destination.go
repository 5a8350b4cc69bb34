package webhook

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/record/event"
)

// destination is a place that takes the events of a webhook.
type destination interface {
	// send makes one attempt. It returns an error only if the attempt could not even
	// begin; everything else is an outcome.
	send(ctx context.Context, e outgoing) (Outcome, error)
}

// outgoing is an event on its way to a destination.
type outgoing struct {
	id        string
	eventType event.Type
	body      []byte
	keys      EndpointKeys
	webhook   string // its id
	request   string // id of the API request that caused the event, empty if there is none
}

// headers returns the headers of an attempt with this body.
func (e *outgoing) headers(at time.Time, body []byte) map[string]string {
	all := map[string]string{
		"webhook-id": e.id, "webhook-timestamp": Timestamp(at), "webhook-signature": e.keys.Sign(e.id, at, body),
		"webhook-endpoint-id": e.webhook,
	}
	if e.request != "" {
		all["webhook-request-id"] = e.request
	}
	return all
}

// destination returns the destination of a webhook.
func (d *Deliverer) destination(w *Webhook) destination {
	if t := w.Destination; t != nil {
		return deliverAccount{d.AWS, d.Now, AWSTarget{t.Kind, t.ARN, t.RoleARN, t.ExternalID, w.ID}}
	}
	return address{d.Client, d.Now, *w.URL}
}
