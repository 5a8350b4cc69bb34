package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// record calls all operations concurrently.
func record(ctx context.Context) (map[string]api.Example, error) {
	const atOnce = 16
	var (
		all    = map[string]api.Example{}
		failed error
		mu     sync.Mutex
		group  sync.WaitGroup
		slots  = make(chan struct{}, atOnce)
	)
	for _, route := range api.Routes() {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			e, err := recordOperation(ctx, route)
			mu.Lock()
			defer mu.Unlock()
			all[route.OperationID] = e
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", route.OperationID, err))
			}
		})
	}
	group.Wait()
	return all, failed
}

// clock is the time of the first call.
var clock = time.Date(2026, 5, 1, 9, 0, 30, 0, time.UTC)

// recordOperation calls an operation in a service of its own, so that no example depends on another.
func recordOperation(ctx context.Context, route httpapi.Route) (e api.Example, err error) {
	w, err := metered.NewWith(ctx, metered.Settings{
		Account: "Acme Media", Agent: "acme-crm/2.1", Listed: 2, Clock: clock, Tick: time.Millisecond,
		Secret: seal.FixedSecret([]byte("the secret of the examples")),
	})
	if err != nil {
		return e, err
	}
	request, err := w.Prepare(ctx, route.OperationID)
	if err != nil {
		return e, err
	}
	if strings.HasPrefix(route.OperationID, "list") {
		if request.Query = maps.Clone(request.Query); request.Query == nil {
			request.Query = map[string]string{}
		}
		request.Query["limit"] = "1"
	}
	answer, err := w.Send(ctx, request)
	if err != nil {
		return e, err
	}
	if answer.Status != route.Status {
		return e, fmt.Errorf("answered with %d: %s", answer.Status, answer.Body)
	}
	tidy := newTidier()
	if request.Body != nil {
		sent, err := json.Marshal(request.Body)
		if err != nil {
			return e, err
		}
		e.Request = tidy.json(string(sent))
	}
	e.Response = tidy.json(answer.Body)
	return e, nil
}
