package metered

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// timeout is that of the functions behind the gateway.
const timeout = 29 * time.Second

// Request is one call of an operation.
type Request struct {
	Operation string
	ID        string // of the resource in the path
	Part      string // id of the part of it that the path names, too
	Body      any
	Live      bool // made with the live key
}

// Answer is the answer to a call, with its cost.
type Answer struct {
	Data json.RawMessage
	Cost Cost
}

// Cost is that of one call, part by part.
type Cost struct{ Authorizer, Function, Audit Reading }

// ID returns the id of the resource in the answer.
func (a Answer) ID() (string, error) {
	var resource struct{ ID string }
	if err := json.Unmarshal(a.Data, &resource); err != nil || resource.ID == "" {
		return "", fmt.Errorf("no id in %s: %w", a.Data, err)
	}
	return resource.ID, nil
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// Call makes one call as the gateway does: it asks the authorizer, and then the
// function with what the authorizer gave.
func (w *World) Call(ctx context.Context, r Request) (Answer, error) {
	var a Answer
	e, err := w.compose(r)
	if err != nil {
		return Answer{}, err
	}
	if e.RequestContext.Authorizer, a.Cost.Authorizer, err = w.authorize(ctx, e); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	w.recorder.cost = Reading{}
	out, whole, err := w.serve(ctx, r.Operation, e)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	if want := w.Routes[r.Operation].Status; out.StatusCode != want {
		return Answer{}, fmt.Errorf("%s answers %d, not %d: %s", r.Operation, out.StatusCode, want, out.Body)
	}
	a.Cost.Audit = w.recorder.cost
	a.Cost.Function = whole.Minus(a.Cost.Audit)
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(out.Body), &envelope); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	a.Data = envelope.Data
	return a, nil
}

// compose makes what the gateway makes of a request.
func (w *World) compose(r Request) (events.APIGatewayProxyRequest, error) {
	route := w.Routes[r.Operation]
	if w.functions[route.Function] == nil {
		return events.APIGatewayProxyRequest{}, fmt.Errorf("no function serves the operation %q: add its area to api.Areas", r.Operation)
	}
	e := events.APIGatewayProxyRequest{
		Resource: route.Path, HTTPMethod: route.Method, Path: route.Path, PathParameters: map[string]string{},
		Headers: map[string]string{
			"Accept": "application/json", "Authorization": "Bearer " + w.key, "Host": "api.example.com",
			"User-Agent": "bench/1.0", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https",
		},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: rand.Text(), ResourcePath: route.Path, HTTPMethod: route.Method, Stage: "v1", APIID: "bench",
			RequestTimeEpoch: w.Now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: "192.0.2.1", UserAgent: "bench/1.0"},
		},
	}
	if r.Live {
		e.Headers["Authorization"] = "Bearer " + w.live
	}
	ids := []string{r.ID, r.Part}
	for i, m := range parameter.FindAllStringSubmatch(route.Path, -1) {
		e.Path = strings.Replace(e.Path, m[0], ids[i], 1)
		e.PathParameters[m[1]] = ids[i]
	}
	if route.Method != http.MethodGet {
		// As the reference advises: the record of the answer is part of the cost.
		e.Headers["Idempotency-Key"] = rand.Text()
	}
	if r.Body != nil {
		b, err := json.Marshal(r.Body)
		if err != nil {
			return events.APIGatewayProxyRequest{}, err
		}
		e.Headers["Content-Type"], e.Body = "application/json", string(b)
	}
	return e, nil
}

// serve hands an event to the function of its operation.
func (w *World) serve(ctx context.Context, operation string, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, Reading, error) {
	var out events.APIGatewayProxyResponse
	used, err := w.invoke(ctx, w.functions[w.Routes[operation].Function], e, &out)
	return out, used, err
}

// authorize asks the authorizer about a call and returns the context that it adds.
func (w *World) authorize(ctx context.Context, e events.APIGatewayProxyRequest) (map[string]any, Reading, error) {
	var out events.APIGatewayCustomAuthorizerResponse
	used, err := w.invoke(ctx, w.authorizer, events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-central-1:000000000000:bench/v1/" + e.HTTPMethod + e.Path,
		Resource: e.Resource, Path: e.Path, HTTPMethod: e.HTTPMethod, Headers: e.Headers, PathParameters: e.PathParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: e.Path, Stage: "v1", RequestID: e.RequestContext.RequestID, APIID: "bench",
			ResourcePath: e.Resource, HTTPMethod: e.HTTPMethod,
			Identity: events.APIGatewayCustomAuthorizerRequestTypeRequestIdentity{SourceIP: e.RequestContext.Identity.SourceIP},
		},
	}, &out)
	return out.Context, used, err
}

// invoke calls a function as the Lambda runtime does, with JSON in and out, and
// gives what that used.
func (w *World) invoke(ctx context.Context, f lambda.Handler, event, out any) (Reading, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return Reading{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	before, err := w.Meter.Read()
	if err != nil {
		return Reading{}, err
	}
	result, err := f.Invoke(ctx, payload)
	if err != nil {
		return Reading{}, err
	}
	after, err := w.Meter.Read()
	if err != nil {
		return Reading{}, err
	}
	return after.Minus(before), json.Unmarshal(result, out)
}
