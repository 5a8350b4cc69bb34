package httpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
)

// gatewayEvent is an event of API Gateway for a call of the fixture's key.
func (f *fixture) gatewayEvent(method, path string) events.APIGatewayProxyRequest {
	f.t.Helper()
	authorizer, err := f.caller.Encode()
	if err != nil {
		f.t.Fatal(err)
	}
	return events.APIGatewayProxyRequest{
		Resource: path, Path: path, HTTPMethod: method,
		// The local gateway hands headers over in lower case.
		Headers: map[string]string{"host": "api.example.com", "content-type": "application/json"},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: "gw-1", Stage: "v1", RequestTimeEpoch: noon.Add(-25 * time.Millisecond).UnixMilli(),
			Authorizer: authorizer,
			Identity:   events.APIGatewayRequestIdentity{SourceIP: "203.0.113.9", UserAgent: "curl/8"},
		},
	}
}

func TestACallOfTheGateway(t *testing.T) {
	f := newFixture(t)
	handle := httpapi.Lambda(f.router)
	e := f.gatewayEvent("POST", "/v1/things")
	made := fmt.Sprint(e.RequestContext.RequestTimeEpoch, "-gw-1")
	if at, ok := httpapi.RequestTime(made); !ok || at.UnixMilli() != e.RequestContext.RequestTimeEpoch {
		t.Errorf("%s has the time %v, %v", made, at, ok)
	}
	e.Body = `{"name":"ümläut"}`
	e.Headers["idempotency-key"] = "order-17"
	first, err := handle(t.Context(), e)
	if err != nil || first.StatusCode != http.StatusCreated {
		t.Fatalf("%+v, %v", first, err)
	}
	header := func(r events.APIGatewayProxyResponse, name string) string {
		return http.Header(r.MultiValueHeaders).Get(name)
	}
	if header(first, "X-Request-Id") != made || header(first, "ETag") != `"1"` || header(first, "RateLimit") == "" ||
		header(first, "Content-Type") != "application/json" {
		t.Errorf("headers %v", first.MultiValueHeaders)
	}
	var body struct {
		Data      thing
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(first.Body), &body); err != nil || body.Data.Name != "ümläut" ||
		body.RequestID != made {
		t.Errorf("%s, %v", first.Body, err)
	}
	call := f.log.calls[0]
	if call.RequestID != made || call.IP != "203.0.113.9" || call.UserAgent != "curl/8" ||
		call.Latency != 25*time.Millisecond || call.OperationID != "createThing" || call.Principal.KeyID() != "key_1" {
		t.Errorf("recorded %+v", call)
	}
	// The same with an encoded body is the same call.
	e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(e.Body)), true
	again, err := handle(t.Context(), e)
	if err != nil || again.Body != first.Body || header(again, "Idempotent-Replayed") != "true" {
		t.Errorf("%+v, %v", again, err)
	}
	list := f.gatewayEvent("GET", "/v1/things")
	list.QueryStringParameters = map[string]string{"limit": "101"}
	list.MultiValueQueryStringParameters = map[string][]string{"limit": {"101"}}
	if out, err := handle(t.Context(), list); err != nil || out.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestWithoutTheGatewayThereIsOnly401(t *testing.T) {
	f := newFixture(t)
	out, err := httpapi.Lambda(f.router)(t.Context(), events.APIGatewayProxyRequest{Path: "/v1/things",
		HTTPMethod: "GET"})
	if err != nil || out.StatusCode != http.StatusUnauthorized {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestAnErrorNamesItsPage(t *testing.T) {
	f := newFixture(t)
	e := f.gatewayEvent("GET", "/v1/nothing")
	e.RequestContext.Stage = "prod"
	for host, want := range map[string]string{
		"a1b2c3.execute-api.eu-central-1.amazonaws.com": "https://a1b2c3.execute-api.eu-central-1.amazonaws.com/prod/api-docs/errors/unknown_path",
		"api.acme.example": "https://api.acme.example/api-docs/errors/unknown_path",
	} {
		e.Headers["host"] = host
		out, err := httpapi.Lambda(f.router)(t.Context(), e)
		if err != nil || !strings.Contains(out.Body, `"doc_url":"`+want+`"`) {
			t.Errorf("%s: %v, %s; want %s", host, err, out.Body, want)
		}
	}
}

// SAM gives all calls the same id, and the same time in seconds.
func TestACallThroughSAMHasAnIDOfItsOwn(t *testing.T) {
	t.Setenv("AWS_SAM_LOCAL", "true")
	f := newFixture(t)
	for _, requestID := range []string{"lambda-1", "lambda-2"} {
		e := f.gatewayEvent("GET", "/v1/things")
		e.RequestContext.RequestTimeEpoch = noon.Unix()
		out, err := httpapi.Lambda(f.router)(lambdacontext.NewContext(t.Context(),
			&lambdacontext.LambdaContext{AwsRequestID: requestID}), e)
		if err != nil || !strings.HasSuffix(http.Header(out.MultiValueHeaders).Get("X-Request-Id"), "-"+requestID) {
			t.Errorf("%+v, %v", out, err)
		}
		if call := f.log.calls[len(f.log.calls)-1]; !strings.HasSuffix(call.RequestID, "-"+requestID) ||
			call.Latency > time.Minute || call.IP != "203.0.113.9" {
			t.Errorf("recorded %+v", call)
		}
	}
}

func TestACallEndsBeforeTheFunctionDoes(t *testing.T) {
	end := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	var got time.Time
	h := httpapi.Lambda(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		got, _ = req.Context().Deadline()
		_, _ = io.WriteString(w, "{}")
	}))
	if _, err := h(ctx, events.APIGatewayProxyRequest{Path: "/", HTTPMethod: "GET"}); err != nil {
		t.Fatal(err)
	}
	if left := end.Sub(got); left <= 0 || left > 5*time.Second {
		t.Errorf("%v are left for the answer", left)
	}
}

// The id of a request does not tell a revoked key from an unknown one, for which the gateway answers. The audit log has
// the whole id.
func TestARefusedKeyHasTheIDOfTheGateway(t *testing.T) {
	f := newFixture(t)
	p := &auth.Principal{Owner: tenant.Of("acc_1", tenant.Live), Actor: auth.Key("key_1"),
		Denial: &auth.Denial{Code: errs.InvalidAPIKey, Message: auth.MessageInvalidKey}}
	values, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const whole, want = "1763812345678-6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21", "6f9a4e7e-2f0b-4d3c-9b1e-0a5f1c7d8e21"
	req := httptest.NewRequest(http.MethodGet, "/v1/me", nil)
	w := httptest.NewRecorder()
	f.router.ServeHTTP(w, req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{RequestID: whole,
		Authorizer: values})))
	var body struct {
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != http.StatusUnauthorized ||
		body.RequestID != want || w.Header().Get("X-Request-Id") != want {
		t.Errorf("%d, %v: %s", w.Code, w.Header(), w.Body)
	}
	if calls := f.log.calls; len(calls) != 1 || calls[0].RequestID != whole {
		t.Errorf("%+v", calls)
	}
}
