package metered

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// timeout is the timeout of the functions behind the gateway.
const timeout = 29 * time.Second

// Request is one call of an operation.
type Request struct {
	Operation string
	ID        string // of the resource in the path
	Part      string // id of the part of the resource that the path names, if any
	Body      any
	Live      bool // made with the live key
	// Key is the API key, if it is neither of the world's own keys.
	Key   string
	Query map[string]string
	// Header replaces headers. An empty header is not sent.
	Header map[string]string
	// Raw is the body, if it is not JSON.
	Raw string
	// Method and Path, with its query, replace those of the operation, for a request that matches no operation.
	Method, Path string
}

// Response is the response to a call.
type Response struct {
	Status int
	Body   string
	Cost   Cost
}

// Answer is the answer to a call, with its cost.
type Answer struct {
	Data json.RawMessage
	Cost Cost
}

// Cost is the cost of one call, part by part.
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

// Call makes a call that succeeds.
func (w *World) Call(ctx context.Context, r Request) (Answer, error) {
	out, err := w.Send(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	if want := w.Routes[r.Operation].Status; out.Status != want {
		return Answer{}, fmt.Errorf("%s answers %d, not %d: %s", r.Operation, out.Status, want, out.Body)
	}
	a := Answer{Cost: out.Cost}
	var envelope struct{ Data json.RawMessage }
	if err := json.Unmarshal([]byte(out.Body), &envelope); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	a.Data = envelope.Data
	return a, nil
}

// Send makes one call as the gateway does: it calls the authorizer, and then the function with the authorizer's
// result.
func (w *World) Send(ctx context.Context, r Request) (Response, error) {
	w.Clock = w.Clock.Add(w.settings.Tick)
	var cost Cost
	e, err := w.compose(r)
	if err != nil {
		return Response{}, err
	}
	if e.Headers["Authorization"] == "" {
		return own("UNAUTHORIZED", e), nil
	}
	// The deadline applies to the function only: the authorizer has its own.
	admitted, used, err := w.authorize(context.WithoutCancel(ctx), e)
	if err != nil {
		return Response{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	if admitted.PolicyDocument.Statement[0].Effect == "Deny" {
		return own("ACCESS_DENIED", e), nil
	}
	cost.Authorizer, e.RequestContext.Authorizer = used, admitted.Context
	w.recorder.cost = Reading{}
	out, whole, err := w.serve(ctx, r.Operation, e)
	if err != nil {
		return Response{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	cost.Audit = w.recorder.cost
	cost.Function = whole.Minus(cost.Audit)
	return Response{out.StatusCode, out.Body, cost}, nil
}

// own returns a response that the gateway itself makes.
func own(kind string, e events.APIGatewayProxyRequest) Response {
	i := slices.IndexFunc(gatewayresponse.All, func(a gatewayresponse.Response) bool { return a.Type == kind })
	a := gatewayresponse.All[i]
	return Response{Status: a.Status(), Body: a.Body(e.RequestContext.RequestID, "https://"+e.Headers["Host"])}
}

// compose returns the event that the gateway makes of a request.
func (w *World) compose(r Request) (events.APIGatewayProxyRequest, error) {
	route := w.Routes[r.Operation]
	if w.functions[route.Function].Handler == nil {
		return events.APIGatewayProxyRequest{}, fmt.Errorf("no function serves the operation %q: add it to "+
			"serve.All", r.Operation)
	}
	e := events.APIGatewayProxyRequest{
		Resource: route.Path, HTTPMethod: route.Method, Path: route.Path, PathParameters: map[string]string{},
		MultiValueQueryStringParameters: map[string][]string{},
		Headers: map[string]string{
			"Accept": "application/json", "Authorization": "Bearer " + w.key, "Host": "api.example.com",
			"User-Agent": w.settings.Agent, "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https",
		},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: rand.Text(), ResourcePath: route.Path, HTTPMethod: route.Method, Stage: "v1", APIID: "bench",
			RequestTimeEpoch: w.Now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: "192.0.2.1", UserAgent: w.settings.Agent},
		},
	}
	switch {
	case r.Key != "":
		e.Headers["Authorization"] = "Bearer " + r.Key
	case route.Scope == auth.PersonScope:
		e.Headers["Authorization"] = "Bearer " + w.issuer.Access(owner)
		e.Headers[auth.ModeHeader] = "test"
	case r.Live:
		e.Headers["Authorization"] = "Bearer " + w.live
	}
	ids := []string{r.ID, r.Part}
	for i, m := range parameter.FindAllStringSubmatch(route.Path, -1) {
		e.Path = strings.Replace(e.Path, m[0], ids[i], 1)
		e.PathParameters[m[1]] = ids[i]
	}
	if route.Method != http.MethodGet {
		// The key follows the advice of the reference: the record of the answer is part of the cost.
		e.Headers["Idempotency-Key"] = rand.Text()
	}
	if r.Operation == "applyDraft" {
		e.Headers["If-Match"] = `"1"` // the operation requires it
	}
	if r.Body != nil {
		b, err := json.Marshal(w.inProfile(r))
		if err != nil {
			return events.APIGatewayProxyRequest{}, err
		}
		e.Headers["Content-Type"], e.Body = "application/json", string(b)
	}
	if r.Raw != "" {
		e.Headers["Content-Type"], e.Body = "application/json", r.Raw
	}
	for name, value := range r.Header {
		e.Headers[name] = value
		if value == "" {
			delete(e.Headers, name)
		}
	}
	for name, value := range r.Query {
		e.MultiValueQueryStringParameters[name] = []string{value}
	}
	if r.Path != "" {
		u, err := url.Parse(r.Path)
		if err != nil {
			return events.APIGatewayProxyRequest{}, err
		}
		e.HTTPMethod, e.Path, e.MultiValueQueryStringParameters = r.Method, u.Path, u.Query()
	}
	return e, nil
}

// founding are the operations that make something whose profile the body may name.
var founding = []string{"createFactory", "createMedia", "createWebhook", "connectSocialAccount", "createApplication",
	"createTemplate", "createVideo", "createImage", "createMusic", "createVoice", "createAvatar", "connectIntegration"}

// inProfile returns the body of a call with the profile of the world, if the world has one and makes the call itself.
func (w *World) inProfile(r Request) any {
	b, ok := r.Body.(Object)
	if !ok || w.Profile == "" || r.Key != "" || !slices.Contains(founding, r.Operation) {
		return r.Body
	}
	b = maps.Clone(b)
	b["profile_id"] = w.Profile
	return b
}

// serve passes an event to the function of its operation.
func (w *World) serve(ctx context.Context, operation string,
	e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, Reading, error) {
	var out events.APIGatewayProxyResponse
	used, err := w.invoke(ctx, w.functions[w.Routes[operation].Function], e, &out)
	return out, used, err
}

// authorize calls the authorizer for a call.
func (w *World) authorize(ctx context.Context,
	e events.APIGatewayProxyRequest) (events.APIGatewayCustomAuthorizerResponse, Reading, error) {
	var out events.APIGatewayCustomAuthorizerResponse
	used, err := w.invoke(ctx, w.authorizer, events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-central-1:000000000000:bench/v1/" + e.HTTPMethod + e.Path,
		Resource: e.Resource, Path: e.Path, HTTPMethod: e.HTTPMethod, Headers: e.Headers,
		PathParameters: e.PathParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: e.Path, Stage: "v1", RequestID: e.RequestContext.RequestID, APIID: "bench",
			ResourcePath: e.Resource, HTTPMethod: e.HTTPMethod,
			Identity: events.APIGatewayCustomAuthorizerRequestTypeRequestIdentity{
				SourceIP: e.RequestContext.Identity.SourceIP},
		},
	}, &out)
	return out, used, err
}

// invoke calls a function as the Lambda runtime does, with JSON in and out, and returns the usage. A call of a table
// for which the function has no permission is an error.
func (w *World) invoke(ctx context.Context, f function, event, out any) (Reading, error) {
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
	w.running = f.Function
	result, err := f.Invoke(ctx, payload)
	w.running = topology.Function{}
	if err = errors.Join(err, w.refusal()); err != nil {
		return Reading{}, err
	}
	after, err := w.Meter.Read()
	if err != nil {
		return Reading{}, err
	}
	return after.Minus(before), json.Unmarshal(result, out)
}

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
