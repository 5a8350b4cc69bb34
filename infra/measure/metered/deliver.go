package metered

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// Event returns the event that the gateway makes of a request.
func (w *World) Event(r Request) (events.APIGatewayProxyRequest, error) { return w.compose(r) }

// Deliver passes an event, which may be changed, to the function of an operation. It calls the authorizer once for
// each key.
func (w *World) Deliver(ctx context.Context, operation string,
	e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	w.Clock = w.Clock.Add(w.settings.Tick)
	key := e.Headers["Authorization"]
	if w.admitted[key] == nil {
		admitted, _, err := w.authorize(ctx, e)
		if err != nil {
			return events.APIGatewayProxyResponse{}, err
		}
		if w.admitted == nil {
			w.admitted = map[string]map[string]any{}
		}
		w.admitted[key] = admitted.Context
	}
	e.RequestContext.Authorizer = w.admitted[key]
	e.RequestContext.RequestTimeEpoch = w.Now().UnixMilli()
	out, _, err := w.serve(ctx, operation, e)
	return out, err
}

// Attempt creates a delivery of a test event to the webhook, and makes its first attempt, which the receiver takes. It
// returns the usage of both, with the write units by place.
func (w *World) Attempt(ctx context.Context) (used Reading, places Places, err error) {
	owner := tenant.Of(w.account, tenant.Test).Of(tenant.Profile(w.Profile))
	happened, err := event.New(w.Now(), owner, event.ContentGenerated, map[string]any{"id": w.item}, nil)
	if err != nil {
		return used, nil, err
	}
	item, err := w.State.Get(ctx, webhook.Ref{Owner: owner, ID: w.webhook}.Key())
	if err != nil {
		return used, nil, err
	}
	var to webhook.WebhookRecord
	if err := item.Decode(&to); err != nil {
		return used, nil, err
	}
	d := webhook.NewDelivery(w.Now(), w.Now(), event.RefOf(happened), &to.Webhook)
	first, made := &store.Tx{}, &store.Tx{}
	first.Create(happened, nil)
	if err := errors.Join(d.CreateIn(made, w.Now()), w.State.Commit(ctx, first)); err != nil {
		return used, nil, err
	}
	w.Meter.Weigh, w.Meter.Written, w.Meter.Places = true, nil, Places{}
	defer func() { w.Meter.Weigh, w.Meter.Written, w.Meter.Places = false, nil, nil }()
	before, err := w.Meter.Read()
	if err != nil {
		return used, nil, err
	}
	if err := errors.Join(w.State.Commit(ctx, made), w.steps(ctx, w.Kernel(w.Workers), d.Task().PK)); err != nil {
		return used, nil, err
	}
	after, err := w.Meter.Read()
	return after.Minus(before), w.Meter.Places, err
}

// taker is a receiver that takes all events.
type taker struct{}

// Do implements webhook.Caller.
func (taker) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
}
