package mcp

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// Lambda adapts a handler to the events of API Gateway (payload format 1.0).
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The gateway's id replaces the id that the caller sent.
		gateway, _ := proxy.Gateway(r.Context())
		r.Header.Set(requestIDHeader, gateway.RequestID)
		// The adapter knows no host, which the origin of a page is compared with.
		r.Host = cmp.Or(r.Host, r.Header.Get("Host"))
		h.ServeHTTP(w, r)
	}))
}

// Gateway returns the base URL of the API behind a gateway. The gateway passes on requests for its own names only, so
// that the host of a request is one of them.
func Gateway(r *http.Request) string {
	gateway, _ := proxy.Gateway(r.Context())
	return web.BaseURL(cmp.Or(r.Header.Get("Host"), r.Host), gateway.Stage)
}

// Open returns the handler of the function. It calls the API at an address, or at that of its caller if this is empty.
func Open(people signin.Settings, api string, client *http.Client) http.Handler {
	base := func(r *http.Request) string { return cmp.Or(api, Gateway(r)) }
	return New(Options{Base: base, Public: Gateway, HTTP: client, SignIn: people, Now: time.Now})
}
