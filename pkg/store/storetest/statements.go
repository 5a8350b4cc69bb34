package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// RejectStatements makes the next calls that execute statements refuse some of them with the given code, like DynamoDB
// when it lacks capacity for an item. The others are executed. The statements are counted from 0. A call with fewer
// statements refuses fewer.
func (f *Faults) RejectStatements(times int, code string, which ...int) {
	const operation = "BatchExecuteStatement"
	f.plan(operation, times, func(req *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		var asked struct{ Statements []json.RawMessage }
		if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
			return nil, err
		}
		var left []json.RawMessage
		for i, s := range asked.Statements {
			if !slices.Contains(which, i) {
				left = append(left, s)
			}
		}
		var got struct{ Responses []json.RawMessage }
		if len(left) > 0 {
			if err := f.forward(req, map[string]any{"Statements": left}, &got); err != nil {
				return nil, err
			}
		}
		all := make([]any, len(asked.Statements))
		for i := range all {
			if slices.Contains(which, i) {
				all[i] = map[string]any{"Error": map[string]any{"Code": code, "Message": "injected"}}
				continue
			}
			all[i], got.Responses = got.Responses[0], got.Responses[1:]
		}
		return answer(req, http.StatusOK, map[string]any{"Responses": all}), nil
	})
}

// forward sends another body in place of the request's own. The engine checks no signatures.
func (f *Faults) forward(req *http.Request, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	other := req.Clone(req.Context())
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	resp, err := f.next.Do(other)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("storetest: the engine answered %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
