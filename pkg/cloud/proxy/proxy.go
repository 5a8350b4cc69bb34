// Package proxy carries the events of API Gateway into handlers of net/http, with the request context of the gateway.
// It is the only package that imports aws-lambda-go-api-proxy. Start with Handler or Gateway.
package proxy

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Handler adapts a handler to the events of API Gateway (payload format 1.0).
//
// The module behind it is archived since May 2025; the design of the service names it. What would replace it is in
// docs/architecture.md.
func Handler(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(h)
	return func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		e.Path = escaped(e.Path)
		return adapter.ProxyWithContext(ctx, e)
	}
}

// Gateway returns the request context of the gateway, and whether the request came through Handler. Without a gateway
// all members are empty.
func Gateway(ctx context.Context) (events.APIGatewayProxyRequestContext, bool) {
	return core.GetAPIGatewayContextFromContext(ctx)
}

// escaped escapes a path that the gateway may have decoded so that the adapter reads it as a path: the adapter fails on
// control characters and lone percent signs, and takes the text after a question mark for the query.
func escaped(path string) string {
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c <= ' ' || c == 0x7f || c == '?' || c == '#', c == '%' && !isEscape(path[i:]):
			fmt.Fprintf(&b, "%%%02X", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isEscape reports whether a text begins with an escaped byte.
func isEscape(s string) bool {
	if len(s) < 3 {
		return false
	}
	_, err := hex.DecodeString(s[1:3])
	return err == nil
}
