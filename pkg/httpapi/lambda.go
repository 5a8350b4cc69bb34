package httpapi

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/proxy"
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
	return proxy.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx := req.Context()
		if deadline, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
			defer cancel()
		}
		g := gatewayOf(ctx)
		rc, _ := proxy.Gateway(ctx)
		g.BaseURL = web.BaseURL(req.Header.Get("Host"), rc.Stage)
		h.ServeHTTP(w, req.WithContext(WithGateway(ctx, g)))
	}))
}

func gatewayOf(ctx context.Context) Gateway {
	rc, ok := proxy.Gateway(ctx)
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
