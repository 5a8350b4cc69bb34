package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/api"
	"github.com/content-automation/api/pkg/httpapi"
)

// measured is what an operation costs.
type measured struct {
	route httpapi.Route
	cost  cost
}

// operations measures every registered operation: the units of one call, and the
// median of the time of as many as told. The round trips are the most of any.
func (w *world) operations(ctx context.Context, calls int) ([]measured, error) {
	var all []measured
	examples := w.examples()
	for _, route := range api.Routes() {
		e, known := examples[route.OperationID]
		if !known {
			return nil, fmt.Errorf("%s has no example: add one to examples.go", route.OperationID)
		}
		m := measured{route: route}
		var times [3][]time.Duration
		// The first call is weighed, and not timed: it also sets the operation up.
		for n := range calls + 1 {
			c, err := w.example(ctx, route.OperationID, e, n == 0)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				m.cost = c
			}
			for i, p := range c.parts() {
				at := m.cost.parts()[i]
				at.trips = max(at.trips, p.trips)
				if n > 0 {
					times[i] = append(times[i], p.cpu)
				}
			}
		}
		for i, p := range m.cost.parts() {
			p.cpu = median(times[i])
		}
		all = append(all, m)
	}
	return all, nil
}

// parts gives those of a call in their order.
func (c *cost) parts() [3]*reading { return [3]*reading{&c.authorizer, &c.function, &c.audit} }

// example makes one call, and takes away what it made.
func (w *world) example(ctx context.Context, operation string, e example, weigh bool) (cost, error) {
	r := request{operation: operation, body: e.body, live: e.live}
	if e.id != nil {
		var err error
		if r.id, err = e.id(ctx); err != nil {
			return cost{}, err
		}
	}
	if e.part != nil {
		r.part = *e.part
	}
	w.meter.weigh = weigh
	a, err := w.call(ctx, r)
	w.meter.weigh = false
	if err != nil || e.undo == "" {
		return a.cost, err
	}
	return a.cost, w.undo(ctx, e, a.data)
}

// undo takes away what an example has made.
func (w *world) undo(ctx context.Context, e example, data json.RawMessage) error {
	all := []json.RawMessage{data}
	if len(data) > 0 && data[0] == '[' {
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
	}
	for _, one := range all {
		made, err := answer{data: one}.id()
		if err != nil {
			return err
		}
		if _, err := w.call(ctx, request{operation: e.undo, id: made}); err != nil {
			return err
		}
	}
	return nil
}

// firstOfMinute gives what the authorizer costs where a key calls for the first
// time in a minute.
func (w *world) firstOfMinute(ctx context.Context) (reading, error) {
	w.clock = w.clock.Add(time.Minute)
	c, err := w.example(ctx, "getMe", w.examples()["getMe"], true)
	return c.authorizer, err
}

// The bounds of round trips.
const (
	authorizerTrips = 1
	readTrips       = 1
	writeTrips      = 2
	auditTrips      = 1
)

// broken tells in one line each which bounds an operation does not keep.
func (m measured) broken() (faults []string) {
	most := writeTrips
	if m.route.Method == http.MethodGet {
		most = readTrips
	}
	bounds := []struct {
		what        string
		trips       int
		least, most int
	}{
		{"the authorizer", m.cost.authorizer.trips, authorizerTrips, authorizerTrips},
		{"the function", m.cost.function.trips, 0, most},
		{"the audit entry", m.cost.audit.trips, auditTrips, auditTrips},
	}
	for _, b := range bounds {
		if b.trips < b.least || b.trips > b.most {
			faults = append(faults, fmt.Sprintf("%s: %s takes %d round trips, the bound is %d", m.route.OperationID, b.what, b.trips, b.most))
		}
	}
	return faults
}

// median gives the middle of some durations, zero of none.
func median(times []time.Duration) time.Duration { return percentile(times, 50) }

// percentile gives the duration that p of a hundred do not exceed.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
