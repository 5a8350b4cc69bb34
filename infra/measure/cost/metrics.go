package main

import (
	"github.com/content-automation/api/infra/measure/standing"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/service/worker/canary"
	"github.com/content-automation/api/pkg/task"
)

// metricPrice is what a custom metric costs for a month in which it has a value every hour.
const metricPrice = 0.30

// custom are the custom metrics of functions by name: how many of them, by dimension, there
// are of a customer that does nothing, and of one that works in the ways of the profiles. The
// other ones appear with faults alone, for the hours in which there are some.
var custom = map[string]struct{ idle, busy int }{
	canary.Failed: {1, 1},
	canary.Took:   {1, 1},
	// By kind: images, posts, videos, and the tasks that start and end work.
	task.TaskMilliseconds:            {0, 5},
	deliver.Succeeded:                {0, 1},
	deliver.Failed:                   {0, 1},
	authorizer.AuthenticationRefused: {0, 1},
	authorizer.PermissionRefused:     {0, 1},
	ledger.LostSpend:                 {0, 1},

	chain.AlteredMetric:       {},
	httpapi.ServerErrors:      {},
	"InterruptedCompositions": {},
	"LostSubmissions":         {},
	"DisownedGenerations":     {},
}

// customMetrics is what the custom metrics of a profile cost for a month.
func (p profile) customMetrics() (dollars float64) {
	for _, m := range custom {
		n := m.idle
		if p.reads > 0 {
			n = m.busy
		}
		dollars += float64(n) * metricPrice
	}
	return dollars
}

// rents adds up what is paid for by the hour of a dedicated customer: in its own region, and
// in that of its replica.
func rents() (own, replica [2]float64) {
	own[0], own[1] = standing.Sum(standing.Dedicated)
	replica[0], replica[1] = standing.Sum(standing.Waiting)
	return own, replica
}
