package console

import (
	"context"
	"net/http"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Lambda adapts the account area to the events of API Gateway (payload format 1.0). It makes the handler at the first
// event.
func Lambda(open func() (http.Handler, error)) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	opened := sync.OnceValues(open)
	return func(ctx context.Context, in events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		handler, err := opened()
		if err != nil {
			return events.APIGatewayProxyResponse{}, err
		}
		return httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// The gateway's id replaces the id that the browser sent.
			gateway, _ := core.GetAPIGatewayContextFromContext(r.Context())
			w.Header().Set("X-Request-Id", gateway.RequestID)
			handler.ServeHTTP(w, r)
		})).ProxyWithContext(ctx, in)
	}
}
