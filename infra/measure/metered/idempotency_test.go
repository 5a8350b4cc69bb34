package metered

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// TestEveryChangeIsIdempotent checks all operations except GET, with the measured examples: each must leave its
// repeats to the one middleware.
func TestEveryChangeIsIdempotent(t *testing.T) {
	faults := &storetest.Faults{}
	attach := true // to the state table, which is created first
	w := filled(t, func(cfg *aws.Config) {
		if attach {
			faults.Attach(cfg)
		}
		attach = false
	})
	changes := 0
	for _, route := range api.Routes() {
		if route.Method == http.MethodGet {
			continue
		}
		changes++
		t.Run(route.OperationID, func(t *testing.T) {
			e := w.Examples()[route.OperationID]
			r, err := w.Prepare(t.Context(), route.OperationID)
			if err != nil {
				t.Fatal(err)
			}
			rep := newRepeater(t, w, faults, route, r)
			rep.refusals()
			made := rep.replays()
			if e.Undo != "" {
				var envelope struct{ Data json.RawMessage }
				if err := json.Unmarshal([]byte(made), &envelope); err != nil {
					t.Fatal(err)
				}
				if err := w.undo(t.Context(), e, r.ID, envelope.Data); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if changes < 10 {
		t.Errorf("only %d operations change something", changes)
	}
}

// repeater makes one call repeatedly, with the same Idempotency-Key.
type repeater struct {
	t      *testing.T
	w      *World
	faults *storetest.Faults
	route  httpapi.Route
	event  events.APIGatewayProxyRequest
}

func newRepeater(t *testing.T, w *World, faults *storetest.Faults, route httpapi.Route, r Request) *repeater {
	e, err := w.compose(r)
	if err != nil {
		t.Fatal(err)
	}
	admitted, _, err := w.authorize(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	e.RequestContext.Authorizer = admitted.Context
	faults.Reset()
	t.Cleanup(faults.Reset)
	return &repeater{t: t, w: w, faults: faults, route: route, event: e}
}

// send makes the call with a changed event.
func (r *repeater) send(ctx context.Context, requestID string,
	change func(*events.APIGatewayProxyRequest)) events.APIGatewayProxyResponse {
	r.t.Helper()
	e := r.event
	e.RequestContext.RequestID = requestID
	if change != nil {
		change(&e)
	}
	out, _, err := r.w.serve(ctx, r.route.OperationID, e)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// refused checks that a call is refused and has no effect.
func (r *repeater) refused(what string, status int, code errs.Code, change func(*events.APIGatewayProxyRequest)) {
	r.t.Helper()
	r.faults.After = func(c storetest.Call) error {
		if c.Status == http.StatusOK && writes(c.Operation) {
			r.t.Errorf("%s: %s has changed the table: %s", what, c.Operation, c.Body)
		}
		return nil
	}
	out := r.send(r.t.Context(), what, change)
	r.faults.After = nil
	if out.StatusCode != status || !strings.Contains(out.Body, `"code":"`+string(code)+`"`) {
		r.t.Errorf("%s: %d %s, want %d %s", what, out.StatusCode, out.Body, status, code)
	}
}

// writes reports whether an operation of DynamoDB may change the table. No call reads in a transaction.
func writes(operation string) bool {
	switch operation {
	case "GetItem", "BatchGetItem", "Query", "Scan", "DescribeTable":
		return false
	}
	return true
}

// refusals checks the refusals that do not use the key up, which the later calls show.
func (r *repeater) refusals() {
	r.t.Helper()
	r.refused("too many calls", http.StatusTooManyRequests, errs.RateLimited, func(e *events.APIGatewayProxyRequest) {
		p, err := auth.Decode(e.RequestContext.Authorizer)
		if err != nil {
			r.t.Fatal(err)
		}
		p.Denial = &auth.Denial{Code: errs.RateLimited, Message: "Wait."}
		if e.RequestContext.Authorizer, err = p.Encode(); err != nil {
			r.t.Fatal(err)
		}
	})
	r.faults.Reject("TransactWriteItems", "ValidationException", 1)
	r.faults.Reject("PutItem", "ValidationException", 1)
	r.refused("a failure before the effect", http.StatusInternalServerError, errs.Internal, nil)
	r.faults.Reset()
	if r.event.Body == "" {
		return // no member could be invalid
	}
	r.refused("an unknown member", http.StatusUnprocessableEntity, errs.ValidationFailed,
		func(e *events.APIGatewayProxyRequest) {
			e.Body = strings.Replace(`{"no_such_member":1,`+e.Body[1:], ",}", "}", 1)
		})
}

// replays lets the function die after its commit, repeats the call and returns the answer. For an operation with
// outside calls, the commit is the one that ends its claim.
func (r *repeater) replays() string {
	r.t.Helper()
	ctx, die := context.WithCancel(r.t.Context())
	defer die()
	commits := 0
	r.faults.After = func(c storetest.Call) error {
		if (c.Operation == "TransactWriteItems" || c.Operation == "PutItem") &&
			strings.Contains(string(c.Body), `"answer#`) && !strings.Contains(string(c.Body), `\"claim\":{`) {
			commits++
			die()
			return errors.New("nobody is there any more")
		}
		return nil
	}
	out := r.send(ctx, "first", nil)
	r.faults.After = nil
	if commits != 1 || out.StatusCode < http.StatusInternalServerError {
		r.t.Errorf("after %d commits of records the dying function answers %d %s", commits, out.StatusCode, out.Body)
	}
	var answers, tags [2]string
	for i, requestID := range []string{"second", "third"} {
		out := r.send(r.t.Context(), requestID, func(e *events.APIGatewayProxyRequest) {
			if e.Body != "" && requestID == "third" {
				e.Body = strings.Replace(e.Body, "{", "{ ", 1) + "\n" // the same JSON (RFC 8785)
			}
		})
		if out.StatusCode != r.route.Status || header(out, "Idempotent-Replayed") != "true" ||
			!strings.Contains(out.Body, `-first"`) {
			r.t.Errorf("the %s call: %d %v %s", requestID, out.StatusCode, out.MultiValueHeaders, out.Body)
		}
		answers[i] = out.Body
		tags[i] = header(out, "ETag")
	}
	if answers[0] != answers[1] || tags[0] != tags[1] {
		r.t.Errorf("the answers differ:\n%s\n%s", answers[0], answers[1])
	}
	r.anotherBody()
	return answers[0]
}

// anotherBody checks that the key is refused with another body, if the operation has a body that can be changed
// without being invalid.
func (r *repeater) anotherBody() {
	r.t.Helper()
	body := map[string]any{}
	if r.event.Body != "" {
		if err := json.Unmarshal([]byte(r.event.Body), &body); err != nil {
			r.t.Fatal(err)
		}
		op := r.route.OperationID
		if body["metadata"] == nil && (!strings.HasPrefix(op, "create") || op == "createContentItems" ||
			op == "createEstimate") {
			return
		}
		if body["metadata"] = map[string]string{"another": "body"}; op == "createPlanTopic" { // it has no metadata
			delete(body, "metadata")
			body["topic"] = "Another body"
		}
	}
	r.refused("another body", http.StatusUnprocessableEntity, errs.IdempotencyKeyReused,
		func(e *events.APIGatewayProxyRequest) {
			if e.Body == "" {
				e.Body = " "
				return
			}
			changed, _ := json.Marshal(body)
			e.Body = string(changed)
		})
}

func header(out events.APIGatewayProxyResponse, name string) string {
	return http.Header(out.MultiValueHeaders).Get(name)
}
