package webhook

import (
	"context"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/event"
)

// destination is where the events of a webhook go.
type destination interface {
	// send makes one attempt. It gives an error only where the attempt could not even
	// be begun; everything else is an outcome.
	send(ctx context.Context, e outgoing) (outcome, error)
}

// outgoing is an event on its way to a destination.
type outgoing struct {
	id        string
	eventType event.Type
	body      []byte
	signing   secrets
}

// outcome is what came of an attempt.
type outcome struct {
	Attempt
	// retryAfter is the time that the receiver asks for before the next attempt.
	retryAfter time.Duration
}

func (o outcome) succeeded() bool { return o.Error == nil }

// unanswered tells that the receiver has said nothing at all.
func (o outcome) unanswered() bool { return o.Error != nil && o.Status == nil }

func (o outcome) gone() bool { return o.Status != nil && *o.Status == http.StatusGone }

// destination gives where the events of a webhook go.
func (d *Deliverer) destination(w *Webhook) destination {
	if t := w.Destination; t != nil {
		return account{d.aws, d.now, AWSTarget{t.Type, t.ARN, t.RoleARN, t.ExternalID, w.ID}}
	}
	return address{d.client, d.now, *w.URL}
}
