package docs

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/proxy"
)

// Lambda adapts the pages to the events of API Gateway (payload format 1.0). It does not use httpapi's adapter: the
// operations, with the schemas and the AWS clients that come with them, would double the start-up time of this
// function.
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The gateway's id replaces the id that the caller sent.
		gateway, _ := proxy.Gateway(r.Context())
		r.Header.Set(RequestIDHeader, gateway.RequestID)
		h.ServeHTTP(w, r)
	}))
}
