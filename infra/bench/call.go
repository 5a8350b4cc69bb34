package main

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

// request is one call of an operation.
type request struct {
	operation string
	id        string // of the resource in the path
	part      string // id of the part of it that the path names, too
	body      any
	live      bool // made with the live key
}

// answer is what a call gave, and what it cost.
type answer struct {
	data json.RawMessage
	cost cost
}

// cost is that of one call, part by part.
type cost struct{ authorizer, function, audit reading }

// id gives the id of the resource that was answered.
func (a answer) id() (string, error) {
	var resource struct{ ID string }
	if err := json.Unmarshal(a.data, &resource); err != nil || resource.ID == "" {
		return "", fmt.Errorf("no id in %s: %w", a.data, err)
	}
	return resource.ID, nil
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// call makes one call as the gateway does: it asks the authorizer, and then the
// function with what the authorizer gave.
func (w *world) call(ctx context.Context, r request) (answer, error) {
	var a answer
	e, err := w.compose(r)
	if err != nil {
		return answer{}, err
	}
	if e.RequestContext.Authorizer, a.cost.authorizer, err = w.authorize(ctx, e); err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.operation, err)
	}
	w.recorder.cost = reading{}
	out, whole, err := w.serve(ctx, r.operation, e)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.operation, err)
	}
	if want := w.routes[r.operation].Status; out.StatusCode != want {
		return answer{}, fmt.Errorf("%s answers %d, not %d: %s", r.operation, out.StatusCode, want, out.Body)
	}
	a.cost.audit = w.recorder.cost
	a.cost.function = whole.minus(a.cost.audit)
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(out.Body), &envelope); err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.operation, err)
	}
	a.data = envelope.Data
	return a, nil
}

// compose makes what the gateway makes of a request.
func (w *world) compose(r request) (events.APIGatewayProxyRequest, error) {
	route := w.routes[r.operation]
	if w.functions[route.Function] == nil {
		return events.APIGatewayProxyRequest{}, fmt.Errorf("no function serves the operation %q: add it to functions.go", r.operation)
	}
	e := events.APIGatewayProxyRequest{
		Resource: route.Path, HTTPMethod: route.Method, Path: route.Path, PathParameters: map[string]string{},
		Headers: map[string]string{
			"Accept": "application/json", "Authorization": "Bearer " + w.key, "Host": "api.example.com",
			"User-Agent": "bench/1.0", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https",
		},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: rand.Text(), ResourcePath: route.Path, HTTPMethod: route.Method, Stage: "v1", APIID: "bench",
			RequestTimeEpoch: w.now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: "192.0.2.1", UserAgent: "bench/1.0"},
		},
	}
	if r.live {
		e.Headers["Authorization"] = "Bearer " + w.live
	}
	ids := []string{r.id, r.part}
	for i, m := range parameter.FindAllStringSubmatch(route.Path, -1) {
		e.Path = strings.Replace(e.Path, m[0], ids[i], 1)
		e.PathParameters[m[1]] = ids[i]
	}
	if route.Method != http.MethodGet {
		// As the reference advises: the record of the answer is part of the cost.
		e.Headers["Idempotency-Key"] = rand.Text()
	}
	if r.body != nil {
		b, err := json.Marshal(r.body)
		if err != nil {
			return events.APIGatewayProxyRequest{}, err
		}
		e.Headers["Content-Type"], e.Body = "application/json", string(b)
	}
	return e, nil
}

// serve hands an event to the function of its operation.
func (w *world) serve(ctx context.Context, operation string, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, reading, error) {
	var out events.APIGatewayProxyResponse
	used, err := w.invoke(ctx, w.functions[w.routes[operation].Function], e, &out)
	return out, used, err
}

// authorize asks the authorizer about a call and gives the context that it adds.
func (w *world) authorize(ctx context.Context, e events.APIGatewayProxyRequest) (map[string]any, reading, error) {
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
func (w *world) invoke(ctx context.Context, f lambda.Handler, event, out any) (reading, error) {
	payload, err := json.Marshal(event)
	if err != nil {
		return reading{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	before, err := w.meter.read()
	if err != nil {
		return reading{}, err
	}
	result, err := f.Invoke(ctx, payload)
	if err != nil {
		return reading{}, err
	}
	after, err := w.meter.read()
	if err != nil {
		return reading{}, err
	}
	return after.minus(before), json.Unmarshal(result, out)
}
