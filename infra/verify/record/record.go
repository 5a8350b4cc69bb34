package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// record makes the calls of all operations, several at once: some wait for the
// repeats of the store.
func record(ctx context.Context) (api.Examples, error) {
	const atOnce = 16
	var (
		all    = map[string]recorded{}
		failed error
		mu     sync.Mutex
		group  sync.WaitGroup
		slots  = make(chan struct{}, atOnce)
	)
	for _, route := range api.Routes() {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r, err := recordOperation(ctx, route)
			mu.Lock()
			defer mu.Unlock()
			all[route.OperationID] = r
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", route.OperationID, err))
			}
		})
	}
	group.Wait()
	return shared(all), failed
}

// recorded are the calls of one operation.
type recorded struct {
	request, response json.RawMessage
	errors            refusedBy
}

// refusedBy are answers by their codes.
type refusedBy map[errs.Code]json.RawMessage

func recordOperation(ctx context.Context, route httpapi.Route) (r recorded, err error) {
	s, err := open(ctx, route)
	if err != nil {
		return r, err
	}
	request, err := s.w.Prepare(ctx, route.OperationID)
	if err != nil {
		return r, err
	}
	if isList(route) {
		request.Query = map[string]string{"limit": "1"}
	}
	answer, err := s.w.Send(ctx, request)
	if err != nil {
		return r, err
	}
	if answer.Status != route.Status {
		return r, fmt.Errorf("answered with %d: %s", answer.Status, answer.Body)
	}
	tidy := newTidier()
	if request.Body != nil {
		sent, err := json.Marshal(request.Body)
		if err != nil {
			return r, err
		}
		r.request = tidy.json(string(sent))
	}
	r.response, r.errors = tidy.json(answer.Body), refusedBy{}
	var all error
	for _, code := range route.Errors {
		if r.errors[code], err = s.refusal(ctx, code); err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", code, err))
		}
	}
	return r, all
}

func isList(route httpapi.Route) bool { return strings.HasPrefix(route.OperationID, "list") }

// refusal makes a call that is refused with a code, and returns the answer.
func (s *scene) refusal(ctx context.Context, code errs.Code) (json.RawMessage, error) {
	spoil := refusals[s.route.OperationID][code]
	switch {
	case spoil != nil:
		// What it does to the account must not change other examples.
		var err error
		if s, err = open(ctx, s.route); err != nil {
			return nil, err
		}
	case (s.route.Function == "catalog" || s.route.OperationID == "listPlatforms") && tableless[code] != nil:
		spoil = tableless[code]
	default:
		spoil = general[code]
	}
	if spoil == nil {
		return nil, errors.New("no call is known that is refused so: add one to refusals, or do not declare the code")
	}
	request, err := s.w.Prepare(ctx, s.route.OperationID)
	if err != nil {
		return nil, err
	}
	defer s.mend()
	if err := spoil(ctx, s, &request); err != nil {
		return nil, err
	}
	if code == errs.Timeout {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, brief)
		defer cancel()
	}
	answer, err := s.w.Send(ctx, request)
	if err != nil {
		return nil, err
	}
	var envelope httpapi.ErrorResponse
	if err := json.Unmarshal([]byte(answer.Body), &envelope); err != nil {
		return nil, err
	}
	if envelope.Err.Code != code {
		return nil, fmt.Errorf("answered with %d: %s", answer.Status, answer.Body)
	}
	return newTidier().json(answer.Body), nil
}
