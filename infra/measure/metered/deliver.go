package metered

import (
	"context"

	"github.com/aws/aws-lambda-go/events"
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
