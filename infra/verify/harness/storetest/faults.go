package storetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// Faults is an HTTP client between the SDK and the engine. It counts the round trips and injects faults. It is below
// the SDK's retries, so that a test includes them. Pass its Attach to Open. The zero value injects nothing.
type Faults struct {
	// Begun, if it is set, is called when a round trip begins.
	Begun func(Call)
	// After, if it is set, is called after each round trip. Its error replaces the answer, which is lost.
	After func(Call) error
	// Bodies makes all calls pass through the SDK, so that they have a body.
	Bodies bool

	next aws.HTTPClient

	mu    sync.Mutex
	calls []Call
	plans []*plan
}

// Call is one round trip.
type Call struct {
	Operation string
	// Body is what the SDK sends. It is nil for a call that has not passed through the SDK.
	Body []byte
	// Status is that of the answer. It is zero before there is one.
	Status int
}

// plan is a fault for the next calls of an operation.
type plan struct {
	operation string
	left      int
	act       func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error)
}

// Attach adds the faults to a configuration, and makes the SDK retry as often as in a function, but without its pauses.
func (f *Faults) Attach(cfg *aws.Config) {
	f.next = cfg.HTTPClient
	if f.next == nil {
		f.next = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = client(f.do)
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = Attempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
}

// Attempts is the number of times that the SDK tries a call, as in a function.
const Attempts = 4

type client func(*http.Request) (*http.Response, error)

func (c client) Do(req *http.Request) (*http.Response, error) { return c(req) }

func (f *Faults) do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	call := Call{Operation: operation, Body: body}
	if f.Begun != nil {
		f.Begun(call)
	}
	send := func() (*http.Response, error) {
		resp, err := f.next.Do(req)
		if err == nil && f.After != nil {
			answered := call
			answered.Status = resp.StatusCode
			if err = f.After(answered); err != nil {
				_ = resp.Body.Close()
			}
		}
		return resp, err
	}
	if p := f.count(call); p != nil {
		return p.act(req, send)
	}
	return send()
}

// count notes a call and takes the next plan for it.
func (f *Faults) count(c Call) *plan {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
	for _, p := range f.plans {
		if p.operation == c.Operation && p.left > 0 {
			p.left--
			return p
		}
	}
	return nil
}

// pass notes a call that is made without the SDK, unless there are faults.
func (f *Faults) pass(operation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Begun != nil || f.After != nil || f.Bodies {
		return false
	}
	for _, p := range f.plans {
		if p.left > 0 {
			return false
		}
	}
	f.calls = append(f.calls, Call{Operation: operation})
	return true
}

// Calls returns the round trips since the last Reset.
func (f *Faults) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Call(nil), f.calls...)
}

// Operations returns the operations of the round trips since the last Reset.
func (f *Faults) Operations() string {
	var names []string
	for _, c := range f.Calls() {
		names = append(names, c.Operation)
	}
	return strings.Join(names, " ")
}

// Reset forgets the calls and the plans.
func (f *Faults) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.plans = nil, nil
}

func (f *Faults) plan(operation string, times int,
	act func(*http.Request, func() (*http.Response, error)) (*http.Response, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = append(f.plans, &plan{operation, times, act})
}

// Reject answers the next calls of an operation with an error of the given code. They do not reach the engine.
func (f *Faults) Reject(operation, code string, times int) {
	f.plan(operation, times, func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return badRequest(req, map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + code,
			"message": "injected"}), nil
	})
}

// Break answers the next calls of an operation with only an HTTP status, like a failing service. They do not reach the
// engine.
func (f *Faults) Break(operation string, status, times int) {
	f.plan(operation, times, func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return answer(req, status, struct{}{}), nil
	})
}

// Disconnect makes the next calls of an operation find no connection.
func (f *Faults) Disconnect(operation string, times int) {
	f.plan(operation, times, func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	})
}

// Cancel cancels the next transactions for the given reasons, one for each of their writes.
func (f *Faults) Cancel(times int, reasons ...string) {
	f.plan("TransactWriteItems", times,
		func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			return canceled(req, reasons), nil
		})
}

// Fail cancels the next transactions because the condition of one of their writes fails: the first one that requests
// its item in that case. The answer shows the given item, in the attributes of DynamoDB.
func (f *Faults) Fail(times int, item json.RawMessage) {
	f.plan("TransactWriteItems", times,
		func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
			var sent struct {
				TransactItems []map[string]struct{ ReturnValuesOnConditionCheckFailure string }
			}
			if err := json.NewDecoder(req.Body).Decode(&sent); err != nil {
				return nil, err
			}
			all, failed := make([]map[string]any, len(sent.TransactItems)), false
			for i, write := range sent.TransactItems {
				all[i] = map[string]any{"Code": "None"}
				for _, w := range write {
					if !failed && w.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
						all[i], failed = map[string]any{"Code": "ConditionalCheckFailed", "Message": "injected",
							"Item": item}, true
					}
				}
			}
			if !failed {
				return nil, errors.New("storetest: no write of the transaction asked to be shown its item")
			}
			return badRequest(req, map[string]any{
				"__type":  "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
				"Message": "Transaction cancelled", "CancellationReasons": all,
			}), nil
		})
}

func canceled(req *http.Request, reasons []string) *http.Response {
	all := make([]map[string]any, len(reasons))
	for i, r := range reasons {
		all[i] = map[string]any{"Code": r, "Message": "injected"}
	}
	return badRequest(req, map[string]any{
		"__type":  "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"Message": fmt.Sprintf("Transaction cancelled: %v", reasons), "CancellationReasons": all,
	})
}

// Postpone answers the next reads of many items as if none of them was processed.
func (f *Faults) Postpone(times int) {
	f.plan("BatchGetItem", times, func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		var asked struct{ RequestItems json.RawMessage }
		if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
			return nil, err
		}
		return answer(req, http.StatusOK,
			map[string]any{"Responses": struct{}{}, "UnprocessedKeys": asked.RequestItems}), nil
	})
}

func badRequest(req *http.Request, body any) *http.Response {
	return answer(req, http.StatusBadRequest, body)
}

func answer(req *http.Request, status int, body any) *http.Response {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(bytes.NewReader(b)), ContentLength: int64(len(b)),
	}
}

// Lose executes the next calls of an operation but loses their answers, like a connection that breaks at the wrong
// time.
func (f *Faults) Lose(operation string, times int) {
	f.plan(operation, times, func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		resp, err := send()
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	})
}

// Hang makes the next calls of an operation wait until their context ends. They do not reach the engine.
func (f *Faults) Hang(operation string, times int) {
	f.plan(operation, times, func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
}

// Before calls do just before the next call of an operation is sent, to simulate another caller at that moment.
func (f *Faults) Before(operation string, do func()) {
	f.plan(operation, 1, func(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		do()
		return send()
	})
}

// Contend makes transactions conflict if they meet on an item, as in DynamoDB: a transaction that arrives while another
// one is running is canceled. The engine executes them one after another, and cancels none for that.
func (f *Faults) Contend() {
	var mu sync.Mutex
	held := map[string]bool{}
	f.plan("TransactWriteItems", math.MaxInt,
		func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
			keys, err := keysOf(req)
			if err != nil {
				return nil, err
			}
			mu.Lock()
			var reasons []string
			met := false
			for _, k := range keys {
				reason := "None"
				if held[k] {
					reason, met = "TransactionConflict", true
				}
				reasons = append(reasons, reason)
			}
			if !met {
				for _, k := range keys {
					held[k] = true
				}
			}
			mu.Unlock()
			if met {
				return canceled(req, reasons), nil
			}
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				for _, k := range keys {
					delete(held, k)
				}
			}()
			return send()
		})
}

// keysOf returns the keys of a transaction's items, and leaves the request unchanged.
func keysOf(req *http.Request) ([]string, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	type attributes map[string]map[string]any
	var sent struct {
		TransactItems []map[string]struct{ Item, Key attributes }
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, err
	}
	var keys []string
	for _, item := range sent.TransactItems {
		for _, write := range item { // each entry has one kind of write
			at := write.Key
			if at == nil {
				at = write.Item
			}
			b, err := json.Marshal([]any{at["pk"], at["sk"]})
			if err != nil {
				return nil, err
			}
			keys = append(keys, string(b))
		}
	}
	return keys, nil
}
