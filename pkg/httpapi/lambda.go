package httpapi

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/metric"
)

// margin is the part of a function's time that is reserved for answering and auditing a call that takes too long.
const margin = 500 * time.Millisecond

// StartLambda serves a handler as a Lambda function behind API Gateway. Others than callers are given the address
// public, unless it is empty. It does not return.
func StartLambda(h http.Handler, public string) {
	metric.SetupLog()
	lambda.Start(Lambda(Published(h, public)))
}

// Published gives a handler the address that others than callers use.
func Published(h http.Handler, public string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		g := GatewayOf(req.Context())
		g.PublicURL = public
		h.ServeHTTP(w, req.WithContext(WithGateway(req.Context(), g)))
	})
}

// Lambda adapts a handler to the events of API Gateway (payload format 1.0).
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
			defer cancel()
		}
		g := gatewayOf(ctx)
		rc, _ := core.GetAPIGatewayContextFromContext(ctx)
		g.BaseURL = web.BaseURL(req.Header.Get("Host"), rc.Stage)
		h.ServeHTTP(w, req.WithContext(WithGateway(ctx, g)))
	}))
	return func(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		e.Path = escaped(e.Path)
		return adapter.ProxyWithContext(ctx, e)
	}
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

func gatewayOf(ctx context.Context) Gateway {
	rc, ok := core.GetAPIGatewayContextFromContext(ctx)
	if !ok {
		return Gateway{}
	}
	g := Gateway{
		RequestID: rc.RequestID, SourceIP: rc.Identity.SourceIP, UserAgent: rc.Identity.UserAgent,
		Authorizer: rc.Authorizer,
	}
	// SAM uses the same id and the same time for all calls.
	if lc, ok := lambdacontext.FromContext(ctx); ok && os.Getenv("AWS_SAM_LOCAL") == "true" {
		g.RequestID = id.OfRequest(time.Now(), lc.AwsRequestID)
		return g
	}
	if rc.RequestTimeEpoch > 0 {
		g.ReceivedAt = time.UnixMilli(rc.RequestTimeEpoch)
		g.RequestID = id.OfRequest(g.ReceivedAt, rc.RequestID)
	}
	return g
}

// RequestTime returns the time in the id of a request. Responses that the gateway made itself have ids without it.
func RequestTime(requestID string) (time.Time, bool) {
	text, _, found := strings.Cut(requestID, "-")
	ms, err := strconv.ParseInt(text, 10, 64)
	if !found || err != nil || len(text) != len("1763812345678") {
		return time.Time{}, false
	}
	return time.UnixMilli(ms), true
}
