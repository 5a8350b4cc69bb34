package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// measured is what an operation costs.
type measured struct {
	route httpapi.Route
	cost  metered.Cost
}

// operations measures every registered operation: the units of one call, and the
// median of the time of as many as asked. The round trips are the most of any.
func operations(ctx context.Context, w *metered.World, calls int) ([]measured, error) {
	var all []measured
	for _, route := range api.Routes() {
		m := measured{route: route}
		var times [3][]time.Duration
		// The first call is weighed, and not timed: it also sets the operation up.
		for n := range calls + 1 {
			c, err := w.Try(ctx, route.OperationID, n == 0)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				m.cost = c
			}
			for i, p := range parts(&c) {
				at := parts(&m.cost)[i]
				at.Trips = max(at.Trips, p.Trips)
				if n > 0 {
					times[i] = append(times[i], p.CPU)
				}
			}
		}
		for i, p := range parts(&m.cost) {
			p.CPU = median(times[i])
		}
		all = append(all, m)
	}
	return all, nil
}

// parts returns those of a call in their order.
func parts(c *metered.Cost) [3]*metered.Reading {
	return [3]*metered.Reading{&c.Authorizer, &c.Function, &c.Audit}
}

// firstOfMinute returns what the authorizer costs where a key calls for the first
// time in a minute.
func firstOfMinute(ctx context.Context, w *metered.World) (metered.Reading, error) {
	w.Clock = w.Clock.Add(time.Minute)
	c, err := w.Try(ctx, "getMe", true)
	return c.Authorizer, err
}

// The bounds of round trips.
const (
	authorizerTrips = 1
	readTrips       = 1
	writeTrips      = 2
	auditTrips      = 1
)

// beside are the round trips that operations take on top. startTraining reads the content
// that it learns from, which fits into one page of a query here. listProposals reads the
// factory at the same time as the list, and getServiceLevels the probes at the same time as
// the counts, so that they take as long as one. updatePromotion reads the products of the
// promotion, which it keeps the ids of. connectSocialAccount connects a channel here that is
// connected already, which is found by its id at the platform.
//
// sendMessage commits twice, and its answer here reads the factory. A draft is read before
// what it is for, which is not known earlier.
var beside = map[string]int{
	"sendMessage": 3, "updateDraft": 1, "applyDraft": 1, "startTraining": 1, "listProposals": 1,
	"updatePromotion": 1, "connectSocialAccount": 1, "getServiceLevels": 1,
}

// broken returns in one line each which bounds an operation does not keep.
func (m measured) broken() (faults []string) {
	most := writeTrips
	if m.route.Method == http.MethodGet {
		most = readTrips
	}
	most += beside[m.route.OperationID]
	bounds := []struct {
		what        string
		trips       int
		least, most int
	}{
		{"the authorizer", m.cost.Authorizer.Trips, authorizerTrips, authorizerTrips},
		{"the function", m.cost.Function.Trips, 0, most},
		{"the audit entry", m.cost.Audit.Trips, auditTrips, auditTrips},
	}
	for _, b := range bounds {
		if b.trips < b.least || b.trips > b.most {
			faults = append(faults, fmt.Sprintf("%s: %s takes %d round trips, the bound is %d", m.route.OperationID, b.what, b.trips, b.most))
		}
	}
	return faults
}

// median returns the middle of some durations, zero of none.
func median(times []time.Duration) time.Duration { return percentile(times, 50) }

// percentile returns the duration that p of a hundred do not exceed.
func percentile(times []time.Duration, p int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
